// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/recorder/life_event.hpp>
#include <handlepool/detail/recorder/waiting_ends.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// For each slot, who began and ended its last lives, when and from where; made for no lives, it records
/// nothing and costs nothing.
///
/// A life has 32 bytes, in a ring of the slot's by its generation:
///
///     | who began it | generation, event, frame | who ended it | generation, event, frame |
///
/// A slot's owner writes the beginning before it publishes the object, and the thread that has killed it
/// writes the end before anybody may destroy it: one thread at a time. An end whose removal is queued waits
/// with that, and compaction writes it: see waiting_ends. A revoke begins the life of its new handle, which
/// tells of the end of the old one, too. It comes later than what it gives out, and so a slow one may be
/// overtaken by all lives of the ring; then a beginning is lost.
///
/// Anyone may read at any time: see life_record.
template <class Policy>
class life_recorder {
public:
    /// Keeps the last `lives` of each slot, a power of two, and `stack` callers of each call. The removal
    /// queues have so many positions.
    life_recorder(const allocation_label& what_for, std::size_t slot_limit, std::size_t expected,
                  std::size_t removals, std::size_t lives, std::uint32_t stack)
        : lives_mask_(static_cast<std::uint32_t>(lives - 1)), stack_(stack) {
        if (lives != 0) {
            has_recorders.store(true, std::memory_order::relaxed);
            lives_bits_ = static_cast<unsigned>(std::countr_zero(lives));
            lives_.emplace(what_for, slot_limit * lives, expected * lives);
            waiting_.emplace(what_for.part(" of removals").rarely(), removals);
        }
    }

    bool is_on() const noexcept { return lives_.has_value(); }
    /// So many lives of each slot are kept; 0 if nothing is recorded.
    std::uint32_t lives_kept() const noexcept { return lives_mask_ + 1; }

    /// The function that calls this, if it is of interest.
    HANDLEPOOL_ALWAYS_INLINE caller from_here() const noexcept {
        return is_on() ? this_caller(stack_) : caller::unknown;
    }

    /// The same for a known site.
    caller from_site(std::uint64_t site) const noexcept {
        return is_on() ? caller_at(site) : caller::unknown;
    }

    /// The life of an object in this slot begins, and nothing is known of its end. By the slot's owner.
    void began(slot_index slot, std::uint32_t generation, life_event event, caller who) noexcept {
        if (is_on()) {
            life& one = at(slot, generation);
            one.end.stamp.store(0, std::memory_order::relaxed);
            write(one.beginning, generation, event, who);
        }
    }
    /// A revoke has given the object this generation.
    void renamed(slot_index slot, std::uint32_t generation, caller who) noexcept {
        if (is_on()) {
            write(at(slot, generation).beginning, generation, life_event::renamed, who);
        }
    }
    /// Called by the thread that has ended it.
    void ended(slot_index slot, std::uint32_t generation, life_event event, caller who) noexcept {
        if (is_on()) {
            write(at(slot, generation).end, generation, event, who);
        }
    }
    /// Called by the thread that has ended it and puts its removal at this position of a queue, before that
    /// can be seen.
    void ended_in_queue(std::size_t position, slot_index slot, std::uint32_t generation, life_event event,
                        caller who) noexcept {
        if (is_on()) {
            waiting_->put(position, slot, record_of(generation, event, who));
        }
    }
    /// Compaction: the removals at these positions are its own by now. Writes the ends that wait there.
    void take_over(std::size_t first, std::size_t count) noexcept {
        if (is_on()) {
            write_waiting(first, count);
        }
    }
    /// Whether the end of a life is written, does not wait, and was not taken back; if it is, all of it is
    /// ordered before what follows. True when nothing is recorded.
    bool has_end(slot_index slot, std::uint32_t generation) const noexcept {
        if (!is_on()) {
            return true;
        }
        const auto found = written_end(slot, generation);
        return found && !found->is_undone;
    }

    /// A restore: the slot is at this generation again, and what came later is undone. Only while nobody else
    /// uses the pool.
    void take_back(slot_index slot, std::uint32_t generation) noexcept {
        for (std::uint32_t lane = 0; is_on() && lane <= lives_mask_; ++lane) {
            life& one = (*lives_)[(std::size_t{raw(slot)} << lives_bits_) + lane];
            take_back(one.beginning, generation + 1);
            take_back(one.end, generation);
        }
    }

    /// Asks for the memory of a slot's records, which will be written: of the first two lives, if no
    /// generation says which. A hint.
    void prefetch(slot_index slot, std::uint32_t generation = 0) const noexcept {
        if (is_on()) {
            detail::prefetch(lives_->data(), index_of(slot, generation));
        }
    }

    /// A reset: only generations above this one live from now on. Only while nobody else uses the pool.
    void forgot_all(std::uint32_t generation, caller who) noexcept {
        if (is_on()) {
            write(last_reset_, generation, life_event::forgotten, who);
        }
    }
    /// Who did so, if this is the last such generation.
    std::optional<life_record> last_reset(std::uint32_t generation) const noexcept {
        return read(last_reset_, generation);
    }

    /// What is known of the life with this generation. Only while it records.
    std::optional<life_record> beginning(slot_index slot, std::uint32_t generation) const noexcept {
        return read(at(slot, generation).beginning, generation);
    }
    /// Only of a life that is the slot's last one and has ended may the end wait: then this is linear in the
    /// removals that have ever waited at one time, else constant.
    std::optional<life_record> end(slot_index slot, std::uint32_t generation, bool may_wait) const noexcept {
        const auto written = written_end(slot, generation);
        if ((written && !written->is_undone) || !may_wait) {
            return written;
        }
        const auto waiting = waiting_->find(slot, generation);
        return waiting ? waiting : written_end(slot, generation); // perhaps it was taken over meanwhile
    }

    /// A frame has ended.
    void next_frame() noexcept {
        if (is_on()) {
            frame_.store(frame() + 1, std::memory_order::relaxed); // one thread, while the gate is closed
        }
    }
    /// The last generation from `first` to before `end` with which a life of this slot has begun, as far as
    /// it is known, and was not undone; 0 if there is none. Linear in the lives that are kept.
    std::uint32_t last_beginning(slot_index slot, std::uint32_t first, std::uint32_t end) const noexcept {
        std::uint32_t last = 0;
        for (std::uint32_t lane = 0; is_on() && lane <= lives_mask_; ++lane) {
            const life_record found =
                load((*lives_)[(std::size_t{raw(slot)} << lives_bits_) + lane].beginning);
            // Halves of two records are none of a generation that could be here.
            if (found.generation >= first && found.generation < end && found.generation > last &&
                !found.is_undone && (found.generation >> 1 & lives_mask_) == lane) {
                last = found.generation;
            }
        }
        return last;
    }

    /// A later life of the slot has taken the place of the one with this generation.
    bool is_overwritten(slot_index slot, std::uint32_t generation) const noexcept {
        return load(at(slot, generation).beginning).generation > generation;
    }

    /// Frames that have ended, modulo 2^27.
    std::uint32_t frame() const noexcept { return frame_.load(std::memory_order::relaxed); }
    std::uint32_t frames_since(const life_record& record) const noexcept {
        return record.frames_until(frame());
    }

    /// Forgets all lives. Only while nobody else uses the pool.
    void reset() noexcept {
        if (is_on()) {
            lives_->discard();
            waiting_->reset();
        }
    }

    /// For programs that read this one's memory.
    void describe(described_pool& pool) const noexcept {
        if (is_on()) {
            pool.lives = {.first = lives_->data(), .stride = sizeof(life), .count = lives_->size()};
            pool.lives_bits = lives_bits_;
            pool.lives_frame = &frame_;
            pool.last_reset = &last_reset_;
            waiting_->describe(pool);
        }
    }

    memory_use memory() const noexcept { return is_on() ? memory_of(*lives_, *waiting_) : memory_use(); }

private:
    using word = typename Policy::template atomic<std::uint64_t>;
    struct entry {
        word who;
        word stamp;
    };
    struct life {
        entry beginning;
        entry end;
    };
    using array = typename Policy::template array<life>;

    life& at(slot_index slot, std::uint32_t generation) noexcept {
        return (*lives_)[index_of(slot, generation)];
    }
    const life& at(slot_index slot, std::uint32_t generation) const noexcept {
        return (*lives_)[index_of(slot, generation)];
    }
    // Generations of objects are odd.
    std::size_t index_of(slot_index slot, std::uint32_t generation) const noexcept {
        return std::size_t{raw(slot)} << lives_bits_ | (generation >> 1 & lives_mask_);
    }

    life_record record_of(std::uint32_t generation, life_event event, caller who) const noexcept {
        return {.generation = generation, .event = event, .frame = frame(), .who = who};
    }

    void write(entry& to, std::uint32_t generation, life_event event, caller who) noexcept {
        write(to, record_of(generation, event, who));
    }
    static void write(entry& to, const life_record& record) noexcept {
        to.who.store(static_cast<std::uint64_t>(record.who), std::memory_order::relaxed);
        // (57) release: pairs with (58), for the word before it
        to.stamp.store(record.stamp(), std::memory_order::release);
    }

    // How many removals ahead of the one that is taken over its slot's records are asked for.
    static constexpr std::size_t lives_ahead = 16;

    HANDLEPOOL_NOINLINE void write_waiting(std::size_t first, std::size_t count) noexcept {
        for (std::size_t i = 0; i != count + lives_ahead; ++i) {
            if (i < count) {
                waiting_->visit(first + i, [this](slot_index slot, std::uint32_t generation) {
                    prefetch(slot, generation);
                });
            }
            if (i >= lives_ahead) {
                waiting_->take(first + i - lives_ahead, [this](slot_index slot, const life_record& end) {
                    write(at(slot, end.generation).end, end);
                });
            }
        }
    }

    std::optional<life_record> written_end(slot_index slot, std::uint32_t generation) const noexcept {
        return read(at(slot, generation).end, generation);
    }
    /// If it is of this generation.
    static std::optional<life_record> read(const entry& from, std::uint32_t generation) noexcept {
        const life_record found = load(from);
        return found.generation == generation ? std::optional(found) : std::nullopt;
    }
    /// What both words say; of some other generation while they are being written.
    static life_record load(const entry& from) noexcept {
        // (58) acquire: pairs with (57), so that the thread that frees the slot afterwards, and then its next
        // owner, write these words later than the one that has ended the object
        const std::uint64_t stamp = from.stamp.load(std::memory_order::acquire);
        return life_record::of(from.who.load(std::memory_order::relaxed), stamp);
    }
    /// If it is one of these generations.
    static void take_back(entry& one, std::uint32_t first_generation) noexcept {
        const std::uint64_t who = one.who.load(std::memory_order::relaxed);
        life_record found = life_record::of(who, one.stamp.load(std::memory_order::relaxed));
        if (found.generation >= first_generation && found.event != life_event::none) {
            found.is_undone = true;
            one.stamp.store(found.stamp(), std::memory_order::relaxed);
        }
    }

    std::optional<array> lives_;
    std::optional<waiting_ends<Policy>> waiting_; // where there are lives
    unsigned lives_bits_ = 0;
    std::uint32_t lives_mask_;
    std::uint32_t stack_;
    typename Policy::template atomic<std::uint32_t> frame_{0};
    entry last_reset_{};
};

} // namespace handlepool::detail
