// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/captures/allocator_capture.hpp>
#include <handlepool/detail/captures/captured_lives.hpp>
#include <handlepool/detail/captures/captured_objects.hpp>
#include <handlepool/detail/captures/captured_slots.hpp>
#include <handlepool/detail/captures/index_journal.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/memory_use.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A pool as of the latest capture, put together from the parts of this room: its slots, its objects, and
/// which slots come next. It knows what these were then, and each capture has what was there before:
///
/// ```
///   look_for_changes() ──▶ compare() ──▶ commit()              the pool is captured
///   look_for_changes() ──▶ undo() ──▶ prepare() ──▶ write()    the pool is what an earlier capture is
/// ```
///
/// A *cut* is the pool meanwhile, see pool_cut.
template <class Parts, class Handle>
class captured_pool {
    using config = typename Parts::config;
    using layout = typename config::layout;
    using tag_type = typename layout::tag_type;
    using element_type = typename Handle::element_type;
    using slots_type = captured_slots<config>;
    using objects_type =
        std::conditional_t<object_type<element_type>::may_copy, captured_objects<element_type, Parts>,
                           captured_lives<element_type, Parts>>;

public:
    /// Whether captures have copies of the objects; else the objects themselves are kept.
    static constexpr bool copies = object_type<element_type>::may_copy;

    /// How a capture differs from the one before, and what is not worth a difference.
    class capture {
    public:
        std::size_t bytes() const noexcept {
            return slot_changes_.capacity() * sizeof(slot_changes_[0]) + objects_.bytes() +
                   order_.capacity() * sizeof(order_[0]) + allocator_.bytes();
        }

    private:
        friend captured_pool;

        std::vector<typename slots_type::change> slot_changes_;
        typename objects_type::capture objects_;
        allocator_capture<config> allocator_;
        std::size_t reserved_ = 0;
        std::uint64_t turn_ = 0;
        std::vector<std::uint32_t> order_; // numbers of a sort that has begun
        std::uint32_t ordered_ = 0;
        std::uint32_t next_position_ = 0;
    };

    /// Of no capture yet. Throws reservation_failed and std::bad_alloc.
    captured_pool(const allocation_label& what_for, const pool_geometry& geometry,
                  const object_type<element_type>& type, bool undone_stay_stale)
        : slots_(what_for, geometry.slot_limit, undone_stay_stale), objects_(what_for, geometry, type) {}

    /// From here on keeps objects that end, where they can't be copied. False when somebody else does so.
    /// While the gate is closed.
    bool follow(Parts& parts) noexcept
        requires(!copies)
    {
        return objects_.follow(parts);
    }

    /// The captures are of a pool that has this tag since it was made or reset; after forget().
    void begin(tag_type fresh_tag) noexcept { fresh_tag_ = fresh_tag; }
    tag_type fresh_tag() const noexcept { return fresh_tag_; }

    // ---- What may differ from the latest capture

    void look_at_none() noexcept {
        slots_.look_at_none();
        objects_.look_at_none();
    }
    /// Looks at all slots and positions that can have changed since a capture, by what the log tells of the
    /// frames after `seen`, in addition to those that are looked at already. These are all, if there is no
    /// such capture or frame, or if the log does not keep so many. Throws what the log throws.
    template <class Log>
    void look_for_changes(const Parts& parts, const Log& log, const capture* since,
                          std::optional<std::uint64_t> seen) {
        const bool is_known =
            since != nullptr && seen && log.for_each_upload_range(*seen, 0, [this](auto written) {
                objects_.look_at(written.first, written.last);
            });
        if (!is_known) {
            objects_.look_at_all(parts);
            slots_.look_at_all(greatest(parts.allocator.list().fresh(), fresh_));
            return;
        }
        objects_.look_for_changes(parts);
        since->allocator_.for_each_gone(parts.allocator, journal_,
                                        [this](slot_index slot) { slots_.look_at(slot); });
        slots_.look_at_reserved();
        const auto records = log.changes_since(*seen);
        for (const auto& record : *records) {
            for (const auto& each : record.renamed) {
                slots_.look_at(slot_of(each.after));
            }
            for (const auto& each : record.moved) {
                slots_.look_at(slot_of(each.handle));
            }
            for (const auto& each : record.destroyed) { // and has another one since then, or is used up
                slots_.look_at(slot_of(each.handle));
            }
        }
    }
    /// Other slots wait than the journal says: the next capture lists all that do.
    void leave_journal() noexcept { follows_journal_ = false; }

    // ---- Capturing

    /// Finds what differs from the latest capture, if there is one, and writes it to another one. Throws
    /// std::bad_alloc, and what copying throws; then discard() gives up what it has written.
    template <class Cut>
    void compare(const Cut& cut, const capture* latest, capture& next) {
        const Parts& parts = cut.parts();
        next.slot_changes_.clear();
        next.reserved_ = cut.reserved();
        next.turn_ = cut.turn();
        const scratch_array<std::uint32_t>& order = parts.order.numbers();
        next.order_.clear();
        for (std::size_t i = 0; i != order.size(); ++i) {
            next.order_.push_back(order[i]);
        }
        next.ordered_ = parts.order.size();
        next.next_position_ = parts.order.next_position();
        slots_.compare(parts.table, fresh_tag_, next.slot_changes_);
        objects_.compare(parts, next.objects_);
        const auto* const before = latest == nullptr ? nullptr : &latest->allocator_;
        journal_.truncate(before == nullptr ? journal_.end() : before->journal_end());
        next.allocator_.take(parts.allocator, parts.shards, follows_journal_ ? before : nullptr, journal_);
        fresh_ = greatest(fresh_, next.allocator_.fresh());
    }
    /// What compare() has written is the latest capture; it keeps how the one before was.
    void commit(capture& next) noexcept {
        objects_.commit(next.objects_);
        slots_.commit(next.slot_changes_);
        follows_journal_ = true;
    }

    // ---- Giving up

    /// Instead of commit(); or after it, when nobody undoes the changes any more.
    void discard(capture& unwanted) noexcept { objects_.discard(unwanted.objects_); }
    /// The changes of this capture, which is the oldest now and has `after` later ones, are never undone any
    /// more.
    void confirm(capture& oldest, std::size_t after) noexcept {
        objects_.confirm(oldest.objects_, after);
        slots_.confirm(oldest.slot_changes_, fresh_tag_);
        oldest.slot_changes_.clear();
        journal_.forget_before(oldest.allocator_.journal_begin());
    }
    /// There is no capture any more.
    void forget() noexcept { objects_.forget(); }
    /// The capture before is the latest one. What that changes is looked at.
    void undo(capture& latest, const capture& before) noexcept {
        slots_.undo(latest.slot_changes_);
        objects_.undo(latest.objects_, before.objects_);
    }
    /// Destroys the objects that can't come back any more, and those that write() has replaced, when the pool
    /// is whole: destructors may use it.
    void destroy_former() noexcept { objects_.destroy_former(); }

    // ---- What can be restored

    bool is_confirmed(Handle handle) const noexcept {
        return slots_.is_confirmed(handle.value(), fresh_tag_);
    }
    /// Returns the handle of an object that lives in an earlier capture, with `before` captures after it, and
    /// is not there to come back; null if all are there.
    Handle find_lost(std::size_t before) const noexcept
        requires(!copies)
    {
        return Handle::from_value(objects_.find_lost(before));
    }
    /// Returns a slot of which a handle can't stay stale, for lack of a generation, when it becomes what it
    /// was at the latest capture, or before one; if there is such a slot. Of those that are looked at.
    std::optional<slot_index> find_used_up(const Parts& parts) const noexcept {
        return slots_.find_used_up(parts.table, fresh_tag_);
    }
    std::optional<slot_index> find_used_up(const Parts& parts, const capture& after) const noexcept {
        return slots_.find_used_up(parts.table, fresh_tag_, after.slot_changes_);
    }

    // ---- Restoring

    /// Calls `visit(handle)` for each living object that the latest capture doesn't have, of the slots that
    /// are looked at.
    template <class Visit>
    void for_each_undone_object(const Parts& parts, Visit visit) const {
        slots_.for_each_looked_at([&](slot_index slot) {
            const auto now = parts.table.words_of(slot);
            if (layout::is_alive(now.tag) && !is_captured(slot, now)) {
                visit(parts.table.handle_of(slot, now.tag));
            }
        });
    }
    /// Notes which slots are reserved again. Throws std::bad_alloc.
    void find_reserved() { slots_.find_reserved(fresh_tag_); }
    /// The handles that were given out since the latest capture, and of the objects that come back. Throw
    /// std::bad_alloc.
    std::vector<Handle> undone_handles(const Parts& parts) const {
        std::vector<Handle> undone;
        slots_.for_each_looked_at([&](slot_index slot) {
            slots_.for_each_undone(parts.table, slot, fresh_tag_,
                                   [&undone](auto handle) { undone.push_back(Handle::from_value(handle)); });
        });
        return undone;
    }
    std::vector<Handle> revived_handles(const Parts& parts) const {
        std::vector<Handle> revived;
        slots_.for_each_looked_at([&](slot_index slot) {
            const tag_type tag = slots_.captured(slot).tag;
            if (layout::is_alive(tag) && tag != parts.table.words_of(slot).tag) {
                revived.push_back(Handle::from_value(parts.table.handle_of(slot, tag)));
            }
        });
        return revived;
    }
    /// Copies what write() will need, where that may fail. Throws std::bad_alloc, and what copying throws.
    void prepare(Parts& parts, const capture& latest) {
        objects_.prepare(parts);
        order_ = scratch_array<std::uint32_t>(latest.order_.size());
        std::copy(latest.order_.begin(), latest.order_.end(), order_.data());
    }
    /// The pool becomes what the latest capture is, in which so many objects live that don't now.
    template <class Cut>
    void write(Cut& cut, const capture& latest, std::size_t revived) noexcept {
        Parts& parts = cut.parts();
        cut.count_objects(revived, parts.promoted() + revived - latest.objects_.objects());
        const std::size_t reserved = cut.reserved();
        cut.count_reserved(latest.reserved_ - least(latest.reserved_, reserved),
                           reserved - least(latest.reserved_, reserved));

        objects_.write(parts, latest.objects_, [&parts](std::size_t position) {
            parts.watch.note_rewritten(dense_position{static_cast<std::uint32_t>(position)});
        });
        slots_.for_each_looked_at([&](slot_index slot) {
            slots_.restore(parts.table, slot, fresh_tag_);
            cut.take_back_lives(slot, slots_.captured(slot).tag);
        });
        latest.allocator_.restore(parts.allocator, parts.shards, journal_);
        cut.set_turn(latest.turn_);
        cut.count_rewrite();
        parts.order.replace(std::exchange(order_, scratch_array<std::uint32_t>(0)), latest.ordered_);
        parts.order.set_next_position(latest.next_position_);
        follows_journal_ = true;
    }

    /// Without the captures.
    memory_use memory() const noexcept {
        const std::size_t bytes = journal_.bytes();
        return memory_of(objects_, slots_) + memory_use{.reserved = bytes, .resident = bytes};
    }

private:
    static slot_index slot_of(Handle handle) noexcept {
        return slot_index{static_cast<std::uint32_t>(handle.index())};
    }
    /// Whether a living object of a slot is one of the latest capture. Another course of events may have
    /// given its handle to another object; in a stable pool, that would stand at another place.
    bool is_captured(slot_index slot, const typename slots_type::words_type& now) const noexcept {
        const auto& then = slots_.captured(slot);
        return now.tag == then.tag && (!Parts::placement::stable || now.where == then.where);
    }

    slots_type slots_;
    objects_type objects_;
    index_journal journal_;
    scratch_array<std::uint32_t> order_{0}; // by prepare()
    std::size_t fresh_ = 0;                 // the most slots that a capture has seen in service
    tag_type fresh_tag_{};                  // of the pool; another one when it was reset
    bool follows_journal_ = true;           // the slots that wait, those of the latest capture
};

} // namespace handlepool::detail
