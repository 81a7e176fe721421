// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/marks/mark_set.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace handlepool::detail {

/// What a frame has done to a pool that neither its hooks nor a look at its store shows afterwards.
template <class Policy>
struct frame_notes {
    frame_notes(const allocation_label& pool, std::size_t slot_count, std::size_t positions)
        : revoked(pool.part(" revoked handles"), slot_count),
          moved(pool.part(" sorted positions"), positions),
          rewritten(pool.part(" rewritten positions"), positions),
          ended(pool.part(" ended slots"), slot_count),
          vacated(pool.part(" vacated positions"), positions),
          most_positions(positions) {}

    void clear() noexcept {
        revoked.clear();
        moved.clear();
        rewritten.clear();
        ended.clear();
        vacated.clear();
        ended_count = 0;
        fewest_positions = most_positions;
        reset = false;
    }

    bit_set<Policy> revoked;   // slots whose objects have other handles
    bit_set<Policy> moved;     // positions to which a sort has moved objects
    bit_set<Policy> rewritten; // positions whose objects have other contents, and perhaps are others
    bit_set<Policy> ended;     // slots of which an object has ended
    bit_set<Policy> vacated;   // positions at which one was
    std::size_t ended_count = 0;
    const std::size_t most_positions;
    std::size_t fewest_positions = most_positions; // of the store, whenever it became smaller
    bool reset = false;                            // all objects and slots were forgotten
};

/// Notes that, for those who follow the pool over time. Without any of them it is off, and costs a look at a
/// flag.
template <class Policy>
class store_watch {
public:
    bool is_on() const noexcept {
        // (54) seq_cst: a revoke whose tag (37) is not seen by (56) sees (55); and acquire, for the sets
        return on_.load(std::memory_order::seq_cst);
    }

    /// Begins to watch a pool of so many slots and positions. While the gate is closed.
    /// Throws reservation_failed.
    void turn_on(const allocation_label& pool, std::size_t slot_count, std::size_t positions) {
        if (!notes_) {
            revoked_.emplace(pool.part(" marks of revoked handles"), slot_count);
            moved_.emplace(pool.part(" marks of sorted positions"), positions);
            notes_.emplace(pool, slot_count, positions);
        }
        // (55) seq_cst: precedes (56), see (54); and release, for the sets
        on_.store(true, std::memory_order::seq_cst);
    }
    /// While the gate is closed. Forgets what was noted, so that who turns it on again is not told of it.
    void turn_off() noexcept {
        on_.store(false, std::memory_order::relaxed);
        revoked_->take_at_any_time([](std::size_t) {});
        moved_->take([](std::size_t) {});
        notes_->clear();
    }

    /// Any thread, at any time: the object of this slot has another handle now. Wait-free.
    void note_revoked(slot_index slot) noexcept {
        if (is_on()) {
            revoked_->mark_at_any_time(raw(slot));
        }
    }
    /// A sort has moved an object to this position. By the threads of the sort's executor.
    void note_moved(dense_position position) noexcept {
        if (is_on()) {
            moved_->mark(raw(position));
        }
    }

    // All others: while the gate is closed.

    /// An object has ended, which was not in the store.
    void note_ended(slot_index slot) noexcept {
        if (is_on()) {
            notes_->ended.insert(raw(slot));
            ++notes_->ended_count;
        }
    }
    /// An object has ended that was at this position.
    void note_ended(slot_index slot, std::size_t position) noexcept {
        if (is_on()) {
            note_ended(slot);
            notes_->vacated.insert(position);
        }
    }
    /// Whether an object of this slot has ended in this frame. Only while this is on.
    bool has_ended(slot_index slot) const noexcept { return notes_->ended.contains(raw(slot)); }
    /// The store has become smaller, or may have.
    void note_positions(std::size_t positions) noexcept {
        if (is_on()) {
            notes_->fewest_positions = least(notes_->fewest_positions, positions);
        }
    }
    /// A restore has written to this position.
    void note_rewritten(dense_position position) noexcept {
        if (is_on()) {
            notes_->rewritten.insert(raw(position));
        }
    }
    void note_reset() noexcept {
        if (is_on()) {
            notes_->reset = true;
        }
    }

    /// Calls `tell(notes)` of the frame that ends, while the gate is closed and this is on.
    template <class Tell>
    void end_frame(Tell tell) {
        revoked_->take_at_any_time([this](std::size_t slot) { notes_->revoked.insert(slot); });
        moved_->take([this](std::size_t position) { notes_->moved.insert(position); });
        tell(std::as_const(*notes_));
        notes_->clear();
    }

    memory_use memory() const noexcept {
        return notes_ ? memory_of(*revoked_, *moved_, notes_->revoked, notes_->moved, notes_->rewritten,
                                  notes_->ended, notes_->vacated)
                      : memory_use();
    }

private:
    typename Policy::template atomic<bool> on_{false};
    std::optional<mark_set<Policy>> revoked_;
    std::optional<mark_set<Policy>> moved_;
    std::optional<frame_notes<Policy>> notes_;
};

} // namespace handlepool::detail
