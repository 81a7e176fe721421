// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// For each slot, the frames in which its last object was taken into the dense store and was destroyed; made
/// with no slots, it remembers nothing and costs nothing. Compaction writes it, any thread may read it.
template <class Policy>
class slot_history {
public:
    slot_history(const allocation_label& what_for, std::size_t slot_limit, std::size_t expected) {
        if (slot_limit != 0) {
            lives_.emplace(what_for, slot_limit, expected);
        }
    }

    bool remembers() const noexcept { return lives_.has_value(); }

    void born(slot_index slot, std::uint32_t tag, std::uint64_t frame) noexcept {
        if (remembers()) {
            (*lives_)[raw(slot)].birth.store(stamp(tag, frame), std::memory_order::relaxed);
        }
    }
    void died(slot_index slot, std::uint32_t tag, std::uint64_t frame) noexcept {
        if (remembers()) {
            (*lives_)[raw(slot)].death.store(stamp(tag, frame), std::memory_order::relaxed);
        }
    }

    /// How many frames before the frame `now` the object that lives there under this tag was born, modulo
    /// 2^32; it may have been born under a lower tag and revoked since. Nothing when no compaction has taken
    /// it yet. Only when it remembers.
    std::optional<std::uint32_t> frames_since_birth(slot_index slot, std::uint32_t tag,
                                                    std::uint64_t now) const noexcept {
        const life& one = (*lives_)[raw(slot)];
        return frames_since_birth(one.birth.load(std::memory_order::relaxed),
                                  one.death.load(std::memory_order::relaxed), tag, now);
    }
    /// The same of what is kept of a slot.
    static std::optional<std::uint32_t> frames_since_birth(std::uint64_t birth, std::uint64_t death,
                                                           std::uint32_t tag, std::uint64_t now) noexcept {
        // One that died between the two tags was an earlier object of the slot. Never used, the slot has
        // stamps of tag 0, which is no object's.
        if (tag_of(birth) == 0 || tag_of(birth) > tag ||
            (tag_of(death) >= tag_of(birth) && tag_of(death) < tag)) {
            return std::nullopt;
        }
        return frames_since(birth, now);
    }
    /// Like frames_since_birth(), for the death of the object that died there under this tag. Nothing when
    /// that has not happened, or was another object's.
    std::optional<std::uint32_t> frames_since_death(slot_index slot, std::uint32_t tag,
                                                    std::uint64_t now) const noexcept {
        return frames_since_death((*lives_)[raw(slot)].death.load(std::memory_order::relaxed), tag, now);
    }
    static std::optional<std::uint32_t> frames_since_death(std::uint64_t death, std::uint32_t tag,
                                                           std::uint64_t now) noexcept {
        return tag_of(death) == tag ? std::optional(frames_since(death, now)) : std::nullopt;
    }

    /// A restore: the slot has this tag again, and what has lived from there on is undone, and has ended.
    /// Only while nobody else uses the pool.
    void take_back(slot_index slot, std::uint32_t tag) noexcept {
        if (remembers()) {
            life& one = (*lives_)[raw(slot)];
            if (tag_of(one.death.load(std::memory_order::relaxed)) >= tag) {
                // Of what has died, or of the object before, whose death this one has overwritten.
                one.birth.store(0, std::memory_order::relaxed);
                one.death.store(0, std::memory_order::relaxed);
            }
        }
    }

    void reset() noexcept {
        if (remembers()) {
            lives_->discard();
        }
    }

    /// For programs that read this one's memory.
    described_array described() const noexcept {
        return remembers()
                   ? described_array{.first = lives_->data(), .stride = sizeof(life), .count = lives_->size()}
                   : described_array{};
    }

    memory_use memory() const noexcept { return remembers() ? lives_->memory() : memory_use(); }

private:
    // The object's tag, and below it the frame.
    struct life {
        typename Policy::template atomic<std::uint64_t> birth;
        typename Policy::template atomic<std::uint64_t> death;
    };
    using array = typename Policy::template array<life>;

    static std::uint64_t stamp(std::uint32_t tag, std::uint64_t frame) noexcept {
        return std::uint64_t{tag} << 32 | (frame & 0xffff'ffff);
    }
    static std::uint32_t tag_of(std::uint64_t stamp) noexcept {
        return static_cast<std::uint32_t>(stamp >> 32);
    }
    static std::uint32_t frames_since(std::uint64_t stamp, std::uint64_t now) noexcept {
        return static_cast<std::uint32_t>(now - stamp);
    }

    std::optional<array> lives_;
};

} // namespace handlepool::detail
