// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/hook_list.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/frame_list.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace handlepool::detail {

/// What the reaper did.
struct reaped {
    std::size_t removed = 0; // objects, of which
    std::size_t newborn = 0; // were in the nursery
    std::size_t retired = 0; // slots used up

    reaped& operator+=(const reaped& more) noexcept {
        removed += more.removed;
        newborn += more.newborn;
        retired += more.retired;
        return *this;
    }
};

/// The first half of a compaction: destroys the removed objects where they are, frees their slots, and lists
/// the holes that they leave in the dense store. All destructors run before the first object moves, so that
/// they can look others up.
///
/// It goes by runs of some 64 records, and over each run several times: what one loop asks the memory for has
/// come when the next one reads it. One thread takes the runs from the queues; for an executor, and in a
/// sweep, they are listed first.
template <class T, class Config>
class reaper {
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using tag_type = typename layout::tag_type;
    using value_type = typename layout::value_type;
    using hooks_type = hook_list<policy, value_type, typename parts_type::pointer>;
    using list_type = frame_list<policy, typename policy::template plain<value_type>>;

public:
    reaper(const allocation_label& what_for, parts_type& parts, slot_history<policy>& history)
        : parts_(parts),
          history_(history),
          // More than there are objects: records that come late, after a sweep, are among them.
          removals_(what_for.part(" removals").rarely(), most_removals(parts)),
          locations_(what_for.part(" removed objects").rarely(), most_removals(parts)),
          holes_(what_for.part(" holes").rarely(), parts.geometry.object_limit) {}

    hooks_type& hooks() noexcept { return hooks_; }

    /// Takes a snapshot of all removal queues, of no more records than the budget allows. What destructors
    /// erase waits for the next compaction, in whatever shard.
    void look(const fair_budget& budget = {}) {
        hole_count_ = 0;
        is_watched_ = parts_.watch.is_on(); // nobody begins to watch while the gate is closed
        const std::size_t shards = parts_.working_shards();
        for (std::size_t i = 0; i != shards; ++i) {
            parts_.removals.look(parts_.shards[i].removals);
        }
        budget.divide(
            shards,
            [this](std::size_t i, std::size_t most) {
                return least(parts_.removals.seen(parts_.shards[i].removals), most);
            },
            [this](std::size_t i, std::size_t most) {
                parts_.removals.limit(parts_.shards[i].removals, most);
            });
    }

    /// Destroys the objects of the records that look() has seen where they are, and frees their slots in the
    /// order of the records. This thread does it, as hooks require.
    reaped reap_queued(std::uint64_t frame) {
        reaped done;
        for_queued_runs([&](auto record, std::size_t count) {
            prefetch(record, count);
            reap_run(record, count, frame, done);
        });
        return retire(done);
    }

    /// Lists those records for reap_listed().
    void list_queued() {
        std::size_t listed = 0;
        for_queued_runs([&](auto record, std::size_t count) {
            for (std::size_t i = 0; i != count; ++i) {
                removals_[listed++] = record(i);
            }
        });
        removal_count_ = listed;
    }
    /// The list, and how many of its first elements reap_listed() takes.
    list_type& list() noexcept { return removals_; }
    void listed(std::size_t count) noexcept { removal_count_ = count; }
    /// Takes those off the list for which `left_out(handle)` is true. Returns whether there were any.
    template <class LeftOut>
    bool leave_out(LeftOut left_out) noexcept {
        const std::size_t listed = removal_count_;
        std::size_t count = 0;
        for (std::size_t i = 0; i != listed; ++i) {
            if (const value_type handle = removals_[i]; !left_out(handle)) {
                removals_[count++] = handle;
            }
        }
        removal_count_ = count;
        return count != listed;
    }

    /// Does for the listed objects, which a sweep has just looked at, what reap_queued() does.
    reaped reap_listed(std::uint64_t frame) {
        removals_.filled(removal_count_);
        reaped done;
        for_listed_runs(0, removal_count_, [&](std::size_t, auto record, std::size_t count) {
            if (parts_.ends_objects() || !hooks_.empty()) {
                prefetch_objects(record, count);
            }
            reap_run(record, count, frame, done);
        });
        return retire(done);
    }
    /// Reaps the listed objects by an executor, without hooks.
    template <executor Executor>
    reaped reap_listed(Executor& executor, std::uint64_t frame) {
        const auto end_some = [this, frame](std::size_t first, std::size_t last) noexcept {
            for_listed_runs(first, last, [&](std::size_t begin, auto record, std::size_t count) {
                prefetch(record, count);
                end_run(record, count, frame,
                        [&](std::size_t i, value_type, location where) { locations_[begin + i] = where; });
            });
        };
        executor.for_ranges(removal_count_, policy::compaction_grain, end_some);
        removals_.filled(removal_count_);
        locations_.filled(removal_count_);
        reaped done;
        for (std::size_t i = 0; i != removal_count_; ++i) {
            free_slot(removals_[i], locations_[i], done);
        }
        return retire(done);
    }

    /// Ends one removed object, without a record, by `deliver(object)`, which may move it away; frees its
    /// slot.
    template <class Deliver>
    reaped hand_over(value_type handle, std::uint64_t frame, Deliver deliver) {
        const location where = end_life(handle, frame, [&](location object) {
            deliver(parts_.objects.at(object));
            if constexpr (std::is_void_v<T>) {
                parts_.objects.poison_objects(object); // the sink has ended it
            } else {
                parts_.newborns.end_object(parts_.objects, object);
            }
            parts_.miss_object(handle);
        });
        reaped done;
        free_slot(handle, where, done);
        return retire(done);
    }

    /// Reports one object that ends in this frame by somebody else.
    void report(value_type handle, location where, std::uint64_t frame) {
        const slot_index slot = parts_.table.slot_of(handle);
        hooks_.call(handle, parts_.objects.at(where));
        history_.died(slot, layout::tag_of(handle), frame);
        parts_.note_ended(slot, where);
    }

    /// Returns where the object is that died in this slot under this tag; nowhere when it was destroyed.
    HANDLEPOOL_ALWAYS_INLINE location remains_of(slot_index slot, tag_type tag) const noexcept {
        const location where = parts_.table.location_of(slot); // carried by (8), (47) or (4)
        // The slot may be reserved; or free and its location an old one, and then no place in use has this
        // owner.
        if (!is_place(where)) {
            return location::nowhere;
        }
        if (parts_.objects.is_dense(where)) {
            const dense_position position = parts_.objects.dense_position_of(where);
            return raw(position) < parts_.objects.size() && parts_.objects.owner(position) == slot
                       ? where
                       : location::nowhere;
        }
        return parts_.newborns.holds(parts_.objects.nursery_position_of(where), slot, tag)
                   ? where
                   : location::nowhere;
    }

    void prefetch_owner(location where) const noexcept {
        if (parts_.objects.is_dense(where)) {
            parts_.objects.prefetch_owner(parts_.objects.dense_position_of(where));
        } else {
            parts_.newborns.prefetch_owner(parts_.objects.nursery_position_of(where));
        }
    }

    /// The holes in the dense store since look(), until they are closed.
    std::size_t hole_count() const noexcept { return hole_count_; }
    dense_position hole(std::size_t i) const noexcept { return holes_[i]; }

    void forget_holes() noexcept {
        holes_.filled(hole_count_);
        hole_count_ = 0;
    }

    /// Lets the memory of the lists follow their use.
    void end_frame() noexcept {
        holes_.filled(hole_count_);
        removals_.end_frame();
        locations_.end_frame();
        holes_.end_frame();
    }

    /// Gives the memory of the lists back to the system.
    void shrink() noexcept {
        removals_.discard();
        locations_.discard();
        holes_.discard();
    }

    memory_use memory() const noexcept { return memory_of(removals_, locations_, holes_); }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    static_assert(sizeof(tag_type) == sizeof(std::uint32_t), "history has 32 bits for a tag");

    // Objects of the list whose memory is asked for together.
    static constexpr std::size_t run_size = 64;

    static std::size_t most_removals(const parts_type& parts) noexcept {
        return parts.geometry.removal_chunks * parts.geometry.removal_chunk;
    }

    /// Calls `take(record, count)` for runs of the records of all shards; see removal_queue. Shards that come
    /// meanwhile have none that were seen.
    template <class Take>
    void for_queued_runs(Take take) {
        for (std::size_t i = 0, last = parts_.shards.count(); i != last; ++i) {
            parts_.removals.drain(parts_.shards[i].removals,
                                  [&](auto record, std::size_t count, std::size_t position) {
                                      parts_.lives.take_over(position, count);
                                      take(record, count);
                                  });
        }
    }
    /// Calls `take(begin, record, count)` for runs of the list, of which each begins with number `begin`.
    template <class Take>
    void for_listed_runs(std::size_t first, std::size_t last, Take take) {
        for (std::size_t begin = first; begin != last;) {
            const std::size_t count = least<std::size_t>(run_size, last - begin);
            take(begin, [this, begin](std::size_t i) { return value_type{removals_[begin + i]}; }, count);
            begin += count;
        }
    }

    /// Asks for what ending the objects of a run will read.
    template <class Record>
    void prefetch(Record record, std::size_t count) const noexcept {
        for (std::size_t i = 0; i != count; ++i) {
            parts_.table.prefetch_slot(parts_.table.slot_of(record(i)));
        }
        prefetch_objects(record, count);
    }
    template <class Record>
    void prefetch_objects(Record record, std::size_t count) const noexcept {
        for (std::size_t i = 0; i != count; ++i) {
            prefetch_object(record(i));
        }
    }

    void prefetch_object(value_type handle) const noexcept {
        hooks_.announce(handle);
        const location where = parts_.table.location_of(parts_.table.slot_of(handle));
        prefetch_owner(where);
        if (parts_.ends_objects() && is_place(where)) {
            parts_.objects.prefetch_object(where);
        }
    }

    /// Ends an object by `end(location)`. Returns where it was; nowhere when there was none to end. Inline,
    /// like what calls it in a loop: the calls took a quarter of a removal's time.
    template <class End>
    HANDLEPOOL_ALWAYS_INLINE location end_life(value_type handle, std::uint64_t frame, End end) noexcept {
        const slot_index slot = parts_.table.slot_of(handle);
        const tag_type tag = layout::tag_of(handle);
        // A record that comes after a sweep has found its object must not destroy another. Then the slot's
        // tag has moved on, or nothing remains.
        if (parts_.table.tag_relaxed(slot) != parts_.table.erased(tag)) {
            return location::nowhere;
        }
        const location where = remains_of(slot, tag);
        if (where == location::nowhere) {
            return where;
        }
        if (parts_.objects.is_dense(where)) {
            parts_.objects.set_owner(parts_.objects.dense_position_of(where), slot_index::none);
        } else {
            parts_.newborns.mark_gone(parts_.objects.nursery_position_of(where));
        }
        hooks_.call(handle, parts_.objects.at(where));
        end(where);
        history_.died(slot, tag, frame);
        return where;
    }

    /// Frees the slot of an object that was destroyed at this location, or counts it as retired, and lists
    /// the object's hole.
    HANDLEPOOL_ALWAYS_INLINE void free_slot(value_type handle, location where, reaped& done) noexcept {
        if (where == location::nowhere) {
            return;
        }
        ++done.removed;
        if (layout::generation_of(layout::tag_of(handle)) == layout::last_generation) {
            ++done.retired;
        } else {
            parts_.allocator.release(parts_.table.slot_of(handle));
        }
        if (parts_.objects.is_dense(where)) {
            holes_[hole_count_++] = parts_.objects.dense_position_of(where);
        } else if (!parts_.newborns.demote(parts_.objects.nursery_position_of(where))) {
            ++done.newborn;
        }
        if (is_watched_) [[unlikely]] {
            note_ended(handle, where);
        }
    }

    // No part of that loop, which it would slow down for pools that nobody follows.
    HANDLEPOOL_NOINLINE void note_ended(value_type handle, location where) noexcept {
        parts_.note_ended(parts_.table.slot_of(handle), where);
    }

    /// Ends the objects of a run, and calls `ended(i, handle, location)` for each; see end_life().
    template <class Record, class Ended>
    HANDLEPOOL_ALWAYS_INLINE void end_run(Record record, std::size_t count, std::uint64_t frame,
                                          Ended ended) noexcept {
        for (std::size_t i = 0; i != count; ++i) {
            const value_type handle = record(i);
            ended(i, handle, end_life(handle, frame, [this, handle](location where) {
                      parts_.end_object(handle, where);
                  }));
        }
    }
    /// Ends the objects of a run, frees their slots, and adds that to `sum`.
    template <class Record>
    void reap_run(Record record, std::size_t count, std::uint64_t frame, reaped& sum) noexcept {
        reaped done; // kept in registers, unlike `sum`
        end_run(record, count, frame, [this, &done](std::size_t, value_type handle, location where) {
            free_slot(handle, where, done);
        });
        sum += done;
    }

    /// Withdraws the slots that were used up.
    reaped retire(const reaped& done) noexcept {
        parts_.allocator.retire(done.retired);
        return done;
    }

    parts_type& parts_;
    slot_history<policy>& history_;
    hooks_type hooks_;
    list_type removals_;
    frame_list<policy, plain<location>> locations_; // of the removals' objects
    frame_list<policy, plain<dense_position>> holes_;
    plain<std::size_t> removal_count_{0};
    plain<std::size_t> hole_count_{0};
    plain<bool> is_watched_{false};
};

} // namespace handlepool::detail
