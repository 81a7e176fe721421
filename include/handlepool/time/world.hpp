// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool {

/// What a world captures and restores together with others. Calls come from one thread at a time.
class world_participant {
public:
    virtual ~world_participant() = default;

    /// Keeps what it is now, under a number that is larger than those before. Throws what it likes; then it
    /// has no such capture.
    virtual void capture(std::uint64_t frame) = 0;
    /// Forgets the newest capture, because that of another participant failed.
    virtual void drop_newest() noexcept = 0;
    /// Becomes what it was, and forgets the captures after it. Throws what it likes, and may be called again.
    virtual void restore(std::uint64_t frame) = 0;
    /// Forgets the captures before this one.
    virtual void confirm(std::uint64_t frame) noexcept = 0;

protected:
    world_participant() = default;
    world_participant(const world_participant&) = default;
    world_participant& operator=(const world_participant&) = default;
};

/// What a world keeps.
struct world_options {
    /// The latest captures that are kept, 1 to 65,535. Rings of its pools keep at least one more.
    std::size_t frames = 8;
};

/// Pools, what is attached to them, and the program's own state, captured and restored together.
///
/// ```
///   world ──┬── capture_ring ── change_log ── pool      first all pools,
///           ├── handle_set, handle_map, hierarchy       then the others, in the order in which they were
///           added └── random numbers, scores, ...
/// ```
///
///     handlepool::world game;
///     game.add(past_of_ships);      // a capture_ring
///     game.add(burning);            // a handle_set, attached to the ships
///     game.add(random_engine);      // anything that can be copied
///     game.capture(7);
///     ...
///     game.restore(7);
///
/// What can be copied is kept as copies, each made by an assignment to the one before, so that memory which
/// it owns is used again. Containers of handles stay attached. A class of the program's own may derive from
/// world_participant.
///
/// What is added must outlive the world, and is captured and restored by it alone. The world can be added to
/// as long as nothing is captured. One thread at a time; nobody else uses the pools meanwhile, see
/// capture_ring.
class world {
public:
    /// Without participants. Throws std::invalid_argument for a number of frames that can't be kept.
    explicit world(world_options options = {}) : frames_(options.frames) {
        if (frames_ == 0 || frames_ > most_frames) {
            detail::throw_exception(std::invalid_argument("world: frames is " + std::to_string(frames_) +
                                                          ", and must be 1 to 65535"));
        }
    }

    world(const world&) = delete;
    world& operator=(const world&) = delete;

    // ---- Participants

    /// Adds a pool, by its ring, which has no captures and keeps more than the world: one that is taken back
    /// because another participant failed must not cost the oldest one. Throws std::invalid_argument if that
    /// is not so. Like the others, throws std::logic_error when something is captured already, and
    /// std::bad_alloc; then nothing has changed.
    template <class Pool>
    void add(capture_ring<Pool>& ring) {
        if (ring.capacity() <= frames_ || ring.size() != 0) {
            detail::throw_exception(std::invalid_argument(
                "world: a ring has " + std::to_string(ring.size()) + " captures and keeps " +
                std::to_string(ring.capacity()) + "; it must have none, and keep more than the world's " +
                std::to_string(frames_)));
        }
        add_own_to(pools_, std::make_unique<pool_participant<Pool>>(ring));
    }
    /// Adds a participant of the program's own.
    void add(world_participant& participant) { add_to(others_, participant); }
    /// Adds a container of handles, or another value that can be copied.
    template <class Value>
        requires(!std::derived_from<Value, world_participant> && std::copyable<Value>)
    void add(Value& value) {
        add_own_to(others_, std::make_unique<value_participant<Value>>(value));
    }

    // ---- Frames

    /// Captures all participants under a number that is larger than those before; see
    /// capture_ring::capture(). Throws std::invalid_argument when it is not larger, and what the participants
    /// throw: then there is no such capture, and the others are as they were.
    void capture(std::uint64_t frame) {
        if (!numbers_.empty() && frame <= numbers_.back()) {
            detail::throw_exception(std::invalid_argument(
                "world: frame " + std::to_string(frame) + " can't be captured after frame " +
                std::to_string(numbers_.back()) + "; numbers ascend"));
        }
        numbers_.reserve(frames_ + 1);
        captured_participants done(*this);
        for (world_participant* const each : all_) {
            each->capture(frame);
            ++done.count;
        }
        done.all = true;
        numbers_.push_back(frame);
        if (numbers_.size() > frames_) {
            confirm(numbers_[1]);
        }
    }

    /// Takes all participants back to a frame, and forgets the captures after it. Throws std::out_of_range
    /// when it is not kept, and what capture_ring::restore() and the participants throw: then some may have
    /// been restored, and the call may be repeated.
    void restore(std::uint64_t frame) {
        const std::size_t place = place_of(frame);
        for (world_participant* const each : all_) {
            each->restore(frame);
        }
        numbers_.resize(place + 1);
    }

    /// Forgets the captures before this frame, which can't be undone any more; see capture_ring::confirm().
    /// Throws std::out_of_range when it is not kept.
    void confirm(std::uint64_t frame) {
        const std::size_t place = place_of(frame);
        for (world_participant* const each : all_) {
            each->confirm(frame);
        }
        numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(place));
    }

    /// The numbers of the captures that are kept, ascending.
    const std::vector<std::uint64_t>& frames() const noexcept { return numbers_; }

private:
    template <class Pool>
    class pool_participant final : public world_participant {
    public:
        explicit pool_participant(capture_ring<Pool>& ring) noexcept : ring_(ring) {}

        void capture(std::uint64_t frame) override { ring_.capture(frame); }
        void drop_newest() noexcept override { ring_.drop_newest(); }
        void restore(std::uint64_t frame) override { ring_.restore(frame); }
        void confirm(std::uint64_t frame) noexcept override { ring_.confirm(frame); }

    private:
        capture_ring<Pool>& ring_;
    };

    template <class Value>
    class value_participant final : public world_participant {
    public:
        explicit value_participant(Value& value) noexcept : value_(value) {}

        void capture(std::uint64_t frame) override {
            if (count_ == copies_.size()) {
                copies_.push_back({frame, value_});
            } else {
                copies_[count_].value = value_;
                copies_[count_].frame = frame;
            }
            ++count_;
        }
        void drop_newest() noexcept override { --count_; }
        void restore(std::uint64_t frame) override {
            const std::size_t place = place_of(frame);
            if constexpr (requires(const Value& copy) { value_.assign(Value(copy)); }) {
                value_.assign(Value(copies_[place].value)); // a container of handles stays attached
            } else {
                value_ = copies_[place].value;
            }
            count_ = place + 1;
        }
        void confirm(std::uint64_t frame) noexcept override {
            const std::size_t place = place_of(frame);
            std::rotate(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(place), copies_.end());
            count_ -= place;
        }

    private:
        struct copy {
            std::uint64_t frame;
            Value value;
        };
        std::size_t place_of(std::uint64_t frame) const noexcept {
            std::size_t place = 0;
            while (copies_[place].frame != frame) {
                ++place;
            }
            return place;
        }

        Value& value_;
        std::vector<copy> copies_; // the first `count_` are kept; the others lend their memory
        std::size_t count_ = 0;
    };

    /// Participants that have captured a frame, which forget it unless all have.
    struct captured_participants {
        explicit captured_participants(world& whole) noexcept : whole_(whole) {}
        ~captured_participants() {
            for (std::size_t i = 0; !all && i != count; ++i) {
                whole_.all_[i]->drop_newest();
            }
        }
        captured_participants(const captured_participants&) = delete;
        captured_participants& operator=(const captured_participants&) = delete;

        std::size_t count = 0;
        bool all = false;

    private:
        world& whole_;
    };

    using participants = std::vector<world_participant*>;

    void add_own_to(participants& list, std::unique_ptr<world_participant> participant) {
        own_.reserve(own_.size() + 1);
        add_to(list, *participant);
        own_.push_back(std::move(participant));
    }
    void add_to(participants& list, world_participant& participant) {
        if (!numbers_.empty()) {
            detail::throw_exception(std::logic_error("world: nothing can be added after a capture"));
        }
        all_.reserve(all_.size() + 1);
        list.push_back(&participant);
        all_.assign(pools_.begin(), pools_.end());
        all_.insert(all_.end(), others_.begin(), others_.end());
    }
    std::size_t place_of(std::uint64_t frame) const {
        for (std::size_t i = 0; i != numbers_.size(); ++i) {
            if (numbers_[i] == frame) {
                return i;
            }
        }
        detail::throw_exception(
            std::out_of_range("world: frame " + std::to_string(frame) + " is not kept; " +
                              (numbers_.empty() ? "none is"
                                                : "the oldest is " + std::to_string(numbers_.front()) +
                                                      ", the newest " + std::to_string(numbers_.back()))));
    }

    static constexpr std::size_t most_frames = 65'535;

    std::size_t frames_;
    std::vector<std::uint64_t> numbers_;
    std::vector<std::unique_ptr<world_participant>> own_;
    participants pools_;
    participants others_;
    participants all_; // of both, in the order in which they are captured and restored
};

} // namespace handlepool
