#pragma once

#include <handlepool/detail/dense_store.hpp>
#include <handlepool/detail/lane.hpp>
#include <handlepool/detail/nursery.hpp>
#include <handlepool/detail/pool_geometry.hpp>
#include <handlepool/detail/removal_queue.hpp>
#include <handlepool/detail/slot_history.hpp>
#include <handlepool/detail/slot_supply.hpp>
#include <handlepool/detail/slot_table.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/stats.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The per-frame task: takes the queued removals and the newborns, and makes the dense store dense again.
/// Its cost is proportional to both together, never to the pool's size.
///
/// Everything here is done by one thread at a time, which the gate sees to, or by its executor's threads;
/// meanwhile other threads may emplace, erase and ask for liveness. Each step is a loop over independent
/// items; the steps between, which turn their outcomes into lists, are passes over small arrays. The order of
/// the objects follows from the records alone, not from the executor.
template <class T, class Layout, class Policy, template <class> class Freelist>
class compactor {
public:
    using slots_type = slot_table<Layout, Policy>;
    using nursery_type = nursery<Layout, Policy, Freelist>;
    using removals_type = removal_queue<typename Layout::value_type, Policy, Freelist>;
    using supply_type = slot_supply<Layout, Policy, Freelist>;
    using value_type = typename Layout::value_type;

    compactor(std::string_view what_for, const pool_geometry& geometry, slots_type& slots,
              supply_type& supply, nursery_type& newborns, removals_type& removals,
              dense_store<T, Policy>& dense, lane_table<Policy>& lanes)
        : slots_(slots),
          supply_(supply),
          nursery_(newborns),
          removals_(removals),
          dense_(dense),
          lanes_(lanes),
          // More than there are objects: records that come late, behind a sweep, are among them.
          removed_(std::string(what_for) + " removals", geometry.removal_chunks * Policy::removal_chunk, 0),
          holes_(std::string(what_for) + " holes", geometry.object_limit, 0),
          sources_(std::string(what_for) + " newborns", geometry.object_limit, 0),
          parts_(std::string(what_for) + " parts of the nursery", geometry.nursery_chunks, 0),
          history_(std::string(what_for) + " history", geometry.remember_frames ? geometry.slot_limit : 0,
                   geometry.remember_frames ? geometry.capacity : 0) {}

    /// What is called for each object that is removed, just before it is destroyed.
    using erase_hook = std::function<void(value_type handle, T* object)>;

    /// Only while no compaction runs.
    void add_hook(erase_hook hook) { hooks_.push_back(std::move(hook)); }
    bool has_hooks() const noexcept { return !hooks_.empty(); }

    /// Any thread, wait-free: tells the next compaction to look for dead objects itself.
    void demand_sweep() noexcept {
        // (28) release: pairs with (29), for the erase before it. A read-modify-write, so that the many who
        // raise the flag between two compactions stand in one release sequence: a plain store would hide
        // those before it.
        sweep_demands_.fetch_add(1, std::memory_order::release);
    }

    /// Only while the gate is closed.
    template <executor Executor>
    compaction_stats run(Executor& executor) noexcept;

    /// Has nothing happened since the last run that another one would act on? Any thread, wait-free; exact
    /// for what happened before the call.
    bool idle() const noexcept;

    /// Counts a frame that needs no run.
    void skip() noexcept { add(runs_, 1); }

    const slot_history<Policy>& history() const noexcept { return history_; }
    /// Forgets what was to be done, and what is remembered of slots. Only while nobody else uses the pool.
    void forget() noexcept {
        sweep_demands_.store(0, std::memory_order::relaxed);
        history_.discard();
    }

    /// Objects that left the nursery, destroyed there or moved.
    std::uint64_t left_nursery() const noexcept { return left_nursery_.load(std::memory_order::relaxed); }
    std::uint64_t destroyed() const noexcept { return destroyed_.load(std::memory_order::relaxed); }
    std::uint64_t runs() const noexcept { return runs_.load(std::memory_order::relaxed); }
    std::uint64_t sweeps() const noexcept { return sweeps_.load(std::memory_order::relaxed); }

    /// Counts objects that were destroyed, or dropped with their memory, without a compaction.
    void account_for(std::size_t objects, std::size_t in_nursery) noexcept {
        add(destroyed_, objects);
        add(left_nursery_, in_nursery);
    }

    /// Gives the memory of the working lists back to the system.
    void shrink() noexcept {
        removed_.discard();
        holes_.discard();
        sources_.discard();
        parts_.discard();
    }

    std::size_t bytes_reserved() const noexcept {
        return removed_.bytes_reserved() + holes_.bytes_reserved() + sources_.bytes_reserved() +
               parts_.bytes_reserved() + history_.bytes_reserved();
    }
    std::size_t bytes_resident() const noexcept {
        return removed_.bytes_resident() + holes_.bytes_resident() + sources_.bytes_resident() +
               parts_.bytes_resident() + history_.bytes_resident();
    }

private:
    using tag_type = typename Layout::tag_type;
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    // A removal: first the slot and its object's tag; after bury(), the slot to free and the hole that was
    // made.
    struct removal {
        plain<std::uint32_t> slot;
        plain<std::uint32_t> tag_or_hole;
    };
    static constexpr std::uint32_t retired_slot = no_slot - 1;
    static constexpr std::uint32_t no_hole = 0xffff'ffff;

    static_assert(std::is_same_v<tag_type, std::uint32_t>);

    // Positions of a lane's nursery, and how many of them, from the first on, can be drained.
    struct part {
        plain<std::size_t> lane;
        plain<std::uint32_t> first;
        plain<std::uint32_t> last;
        plain<std::uint32_t> ready;
    };

    static constexpr std::size_t grain = Policy::compaction_grain;
    // How far ahead of an item its memory is asked for: first the slot, then what the slot leads to.
    static constexpr std::size_t slot_ahead = 24;
    static constexpr std::size_t object_ahead = 16;

    void note(value_type removed) noexcept {
        removed_[removal_count_++] = {static_cast<std::uint32_t>(Layout::index_of(removed)),
                                      Layout::tag_of(removed)};
    }
    void collect_removals();
    template <executor Executor>
    void bury_all(Executor& executor);
    void bury(removal& record) noexcept;
    void sweep();
    void sort_out();
    template <executor Executor>
    void collect_newborns(Executor& executor);
    template <executor Executor>
    void place_newborns(Executor& executor);
    template <executor Executor>
    void fill_holes(Executor& executor);
    void settle(std::uint32_t from, std::uint32_t to, std::uint32_t slot) noexcept;
    template <executor Executor>
    static void begin(Executor& executor, compaction_phase phase) {
        if constexpr (phase_listener<Executor>) {
            executor.begin_phase(phase);
        }
    }
    void give_back_memory();

    slots_type& slots_;
    supply_type& supply_;
    nursery_type& nursery_;
    removals_type& removals_;
    dense_store<T, Policy>& dense_;
    lane_table<Policy>& lanes_;

    alignas(cache_line) typename Policy::template atomic<std::uint64_t> sweep_demands_{0};

    // The working lists of a run; the arrays keep their memory for the next.
    typename Policy::template array<removal> removed_;
    typename Policy::template array<plain<std::uint32_t>> holes_;   // positions of the dense store
    typename Policy::template array<plain<std::uint32_t>> sources_; // locations of objects that will move
    typename Policy::template array<part> parts_;
    slot_history<Policy> history_;
    std::vector<erase_hook> hooks_;
    plain<std::size_t> removal_count_{0};
    plain<std::size_t> hole_count_{0};
    plain<std::size_t> newborn_count_{0};
    compaction_stats stats_;

    typename Policy::template atomic<std::uint64_t> left_nursery_{0};
    typename Policy::template atomic<std::uint64_t> destroyed_{0};
    typename Policy::template atomic<std::uint64_t> runs_{0};
    typename Policy::template atomic<std::uint64_t> sweeps_{0};
};

template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
compaction_stats compactor<T, Layout, Policy, Freelist>::run(Executor& executor) noexcept {
    const auto start = std::chrono::steady_clock::now();
    stats_ = {};
    // (29) acquire: pairs with (28). Before the queues are drained, so that a demand that comes later is
    // kept.
    const bool sweep_demanded = sweep_demands_.exchange(0, std::memory_order::acquire) != 0;

    begin(executor, compaction_phase::collect_removals);
    collect_removals();
    begin(executor, compaction_phase::destroy);
    if (has_hooks()) { // they are called in this thread
        inline_executor in_order;
        bury_all(in_order);
    } else {
        bury_all(executor);
    }
    if (sweep_demanded) {
        begin(executor, compaction_phase::sweep);
        sweep();
    }
    begin(executor, compaction_phase::collect_newborns);
    collect_newborns(executor);
    begin(executor, compaction_phase::place_newborns);
    place_newborns(executor);
    begin(executor, compaction_phase::fill_holes);
    fill_holes(executor);
    begin(executor, compaction_phase::give_back);
    give_back_memory();

    add(destroyed_, stats_.removed);
    add(runs_, 1);
    stats_.size = dense_.size();
    stats_.duration = std::chrono::steady_clock::now() - start;
    return stats_;
}

template <class T, class Layout, class Policy, template <class> class Freelist>
bool compactor<T, Layout, Policy, Freelist>::idle() const noexcept {
    // Relaxed: nothing is read behind the counters, and who is ordered before the call is seen by it.
    if (sweep_demands_.load(std::memory_order::relaxed) != 0) {
        return false;
    }
    std::uint64_t created = 0;
    for (std::size_t i = 0, last = lanes_.count(); i < last; ++i) {
        const lane<Policy>& one = lanes_[i];
        if (!one.removals.empty() || one.newborns.vacated.load(std::memory_order::relaxed) !=
                                         one.newborns.vacated_seen.load(std::memory_order::relaxed)) {
            return false;
        }
        created += one.created.load(std::memory_order::relaxed);
    }
    return created == left_nursery();
}

/// Takes a snapshot of all removal queues.
template <class T, class Layout, class Policy, template <class> class Freelist>
void compactor<T, Layout, Policy, Freelist>::collect_removals() {
    removal_count_ = 0;
    hole_count_ = 0;
    for (std::size_t i = 0, last = lanes_.count(); i < last; ++i) {
        removals_.drain(lanes_[i].removals, [this](value_type handle) { note(handle); });
    }
}

/// Destroys the removed objects where they are. All destructors run before the first object moves, so that
/// they can look others up.
template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
void compactor<T, Layout, Policy, Freelist>::bury_all(Executor& executor) {
    executor.for_ranges(removal_count_, grain, [this](std::size_t first, std::size_t last) noexcept {
        for (std::size_t i = first; i != last; ++i) {
            if (i + slot_ahead < last) {
                slots_.prefetch_slot(removed_[i + slot_ahead].slot);
            }
            if (i + object_ahead < last) {
                const std::uint32_t location = slots_.location(removed_[i + object_ahead].slot);
                if (location < dense_.capacity()) {
                    dense_.prefetch_owner(location);
                }
                if (dense_.type().has_destructor()) {
                    dense_.prefetch_object(location);
                }
            }
            bury(removed_[i]);
        }
    });
    sort_out();
}

template <class T, class Layout, class Policy, template <class> class Freelist>
void compactor<T, Layout, Policy, Freelist>::bury(removal& record) noexcept {
    const std::uint32_t slot = record.slot;
    const tag_type tag = record.tag_or_hole;
    const std::uint32_t location = slots_.location(slot); // carried by (8) or (4)
    record = {no_slot, no_hole};
    // A record that comes after a sweep has found its object must not bury another. Then the slot's tag has
    // moved on; or the slot is free and its location an old one, and no place in use has the record's owner.
    if (slots_.known_tag(slot) != tag + 1) {
        return;
    }
    if (location < dense_.capacity()) {
        if (location >= dense_.size() || dense_.owner(location) != slot) {
            return;
        }
        dense_.set_owner(location, no_slot);
        record.tag_or_hole = location;
    } else {
        const std::uint32_t position = location - dense_.capacity();
        if (nursery_.owner(position) != Layout::value_of(slot, tag)) {
            return;
        }
        nursery_.bury(position);
    }
    for (const erase_hook& hook : hooks_) {
        hook(Layout::value_of(slot, tag), dense_.at(location));
    }
    dense_.destroy(location);
    history_.died(slot, tag, runs());
    record.slot = Layout::generation_of(tag) == Layout::last_generation ? retired_slot : slot;
}

/// Looks for objects that were erased without a record. After all records: what is found has none, or one
/// that comes later and is then recognized by bury().
template <class T, class Layout, class Policy, template <class> class Freelist>
void compactor<T, Layout, Policy, Freelist>::sweep() {
    add(sweeps_, 1);
    removal_count_ = 0;
    for (std::uint32_t position = 0, last = dense_.size(); position != last; ++position) {
        const std::uint32_t slot = dense_.owner(position);
        if (slot != no_slot) {
            const tag_type tag = slots_.tag(slot); // (4)
            if (!Layout::is_alive(tag)) {
                removed_[removal_count_++] = {slot, tag - 1};
            }
        }
    }
    for (std::size_t i = 0, last = lanes_.count(); i < last; ++i) {
        nursery_.sweep(lanes_[i].newborns, slots_, [this](value_type handle) { note(handle); });
    }
    for (std::size_t i = 0; i != removal_count_; ++i) {
        bury(removed_[i]);
    }
    const std::size_t before = stats_.removed;
    sort_out();
    stats_.swept = stats_.removed - before;
}

/// Frees the slots of buried objects, in the order of their records, and lists the holes.
template <class T, class Layout, class Policy, template <class> class Freelist>
void compactor<T, Layout, Policy, Freelist>::sort_out() {
    std::size_t in_nursery = 0;
    std::size_t retired = 0;
    for (std::size_t i = 0; i != removal_count_; ++i) {
        const removal outcome = removed_[i];
        if (outcome.slot == no_slot) {
            continue;
        }
        ++stats_.removed;
        if (outcome.slot == retired_slot) {
            ++retired;
        } else {
            supply_.release(outcome.slot);
        }
        if (outcome.tag_or_hole == no_hole) {
            ++in_nursery;
        } else {
            holes_[hole_count_++] = outcome.tag_or_hole;
        }
    }
    if (retired != 0) {
        supply_.retire(retired);
        stats_.retired += retired;
    }
    add(left_nursery_, in_nursery);
}

/// Looks at the positions of all lanes, in parts, and then lists the newborns: of each lane those before the
/// first position that is not ready.
template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
void compactor<T, Layout, Policy, Freelist>::collect_newborns(Executor& executor) {
    std::size_t part_count = 0;
    for (std::size_t i = 0, last = lanes_.count(); i < last; ++i) {
        lane<Policy>& from = lanes_[i];
        newborn_chain<Policy>& queue = from.newborns;
        queue.vacated_seen.store(queue.vacated.load(std::memory_order::relaxed), std::memory_order::relaxed);
        nursery_.for_pending(queue, [&](std::uint32_t first, std::uint32_t behind) {
            parts_[part_count++] = {i, first, behind, 0};
        });
    }
    executor.for_ranges(part_count, grain / nursery_.chunk_size() + 1,
                        [this](std::size_t first, std::size_t last) noexcept {
                            for (std::size_t i = first; i != last; ++i) {
                                part& one = parts_[i];
                                one.ready = nursery_.count_ready(one.first, one.last, slots_);
                            }
                        });
    newborn_count_ = 0;
    for (std::size_t i = 0; i != part_count;) {
        const std::size_t lane = parts_[i].lane;
        std::size_t ready = 0;
        for (bool all = true; i != part_count && parts_[i].lane == lane; ++i) {
            if (all) {
                ready += parts_[i].ready;
                all = parts_[i].ready == parts_[i].last - parts_[i].first;
            }
        }
        nursery_.drain(lanes_[lane].newborns, ready, [this](std::uint32_t position) {
            sources_[newborn_count_++] = dense_.capacity() + position;
        });
    }
    stats_.born = newborn_count_;
    add(left_nursery_, newborn_count_);
}

/// Moves newborns into holes, and what is left of them behind the last object. One that was erased meanwhile
/// moves like the others: its removal comes with the next compaction.
template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
void compactor<T, Layout, Policy, Freelist>::place_newborns(Executor& executor) {
    const std::uint32_t size = dense_.size();
    const auto target = [this, size](std::size_t i) {
        return i < hole_count_ ? std::uint32_t{holes_[i]}
                               : static_cast<std::uint32_t>(size + (i - hole_count_));
    };
    executor.for_ranges(newborn_count_, grain, [&](std::size_t first, std::size_t last) noexcept {
        for (std::size_t i = first; i != last; ++i) {
            if (i + object_ahead < last) {
                const std::uint32_t next = sources_[i + object_ahead];
                slots_.prefetch_slot(Layout::index_of(nursery_.owner(next - dense_.capacity())));
                dense_.prefetch_object(target(i + object_ahead));
                dense_.prefetch_owner(target(i + object_ahead));
            }
            const std::uint32_t source = sources_[i];
            const value_type handle = nursery_.owner(source - dense_.capacity());
            const auto slot = static_cast<std::uint32_t>(Layout::index_of(handle));
            settle(source, target(i), slot);
            history_.born(slot, Layout::tag_of(handle), runs());
            nursery_.bury(source - dense_.capacity());
        }
    });
    if (newborn_count_ > hole_count_) {
        dense_.resize(static_cast<std::uint32_t>(size + (newborn_count_ - hole_count_)));
    }
}

/// Swap and pop: fills the holes that newborns left open with survivors from the end of the dense store, and
/// cuts it.
template <class T, class Layout, class Policy, template <class> class Freelist>
template <executor Executor>
void compactor<T, Layout, Policy, Freelist>::fill_holes(Executor& executor) {
    if (hole_count_ <= newborn_count_) {
        return;
    }
    const auto size = static_cast<std::uint32_t>(dense_.size() - (hole_count_ - newborn_count_));
    // As many holes lie before the cut as survivors behind it.
    std::size_t open = 0;
    for (std::size_t i = newborn_count_; i != hole_count_; ++i) {
        if (holes_[i] < size) {
            holes_[open++] = holes_[i];
        }
    }
    std::size_t survivors = 0;
    for (std::uint32_t position = dense_.size(); survivors != open;) {
        if (dense_.owner(--position) != no_slot) {
            sources_[survivors++] = position;
        }
    }
    executor.for_ranges(open, grain, [this](std::size_t first, std::size_t last) noexcept {
        for (std::size_t i = first; i != last; ++i) {
            if (i + object_ahead < last) {
                slots_.prefetch_slot(dense_.owner(sources_[i + object_ahead]));
                dense_.prefetch_object(holes_[i + object_ahead]);
            }
            settle(sources_[i], holes_[i], dense_.owner(sources_[i]));
        }
    });
    dense_.resize(size);
    stats_.moved = open;
}

/// Moves an object and tells its slot. The location is a plain store, whether the object is being erased or
/// not: an erase touches the tag alone.
template <class T, class Layout, class Policy, template <class> class Freelist>
void compactor<T, Layout, Policy, Freelist>::settle(std::uint32_t from, std::uint32_t to,
                                                    std::uint32_t slot) noexcept {
    dense_.relocate(from, to);
    dense_.set_owner(to, slot);
    slots_.set_location(slot, to);
}

/// Last of all, what others may now use again.
template <class T, class Layout, class Policy, template <class> class Freelist>
void compactor<T, Layout, Policy, Freelist>::give_back_memory() {
    nursery_.recycle([this](std::uint32_t first) {
        dense_.poison_objects(dense_.capacity() + first, nursery_.chunk_size());
    });
    removals_.recycle();
    supply_.publish();
}

} // namespace handlepool::detail
