// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/dense_promoter.hpp>
#include <handlepool/detail/compaction/extractions.hpp>
#include <handlepool/detail/compaction/promotion_log.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/memory_of.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/stats.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// The per-frame task: takes the queued removals and the newborns, and makes the dense store dense again.
/// Its cost is proportional to both together, never to the pool's size, except with the option
/// `keep_order` and for what was erased without a record.
///
/// Everything here is done by one thread at a time, which the gate sees to, or by its executor's threads;
/// meanwhile other threads may emplace, erase and ask for liveness. Each step is a loop over independent
/// items; the steps between, which turn their outcomes into lists, are passes over small arrays. The order of
/// the objects follows from the records alone, not from the executor.
template <class T, class Config>
class compactor {
public:
    using parts_type = pool_state<T, Config>;
    using policy = typename Config::policy;
    using value_type = typename Config::layout::value_type;
    using extractions_type = extractions<policy, value_type, typename parts_type::pointer>;

    /// The name of the pool must outlive it.
    compactor(const allocation_label& what_for, parts_type& parts, std::string_view pool = {})
        : parts_(parts),
          history_(what_for.part(" history"), parts.geometry.remember_frames ? parts.geometry.slot_limit : 0,
                   parts.geometry.remember_frames ? parts.geometry.capacity : 0),
          reaper_(what_for, parts, history_),
          births_(pool),
          promoter_(what_for, parts, history_, births_) {}

    /// Adds what is called for each object that is removed, or for each that is taken into the dense store.
    /// Only while the gate is closed.
    template <class Hook>
    scoped_hook add_destroy_hook(Hook hook, hook_order order) {
        return reaper_.hooks().add(std::move(hook), order);
    }
    template <class Hook>
    scoped_hook add_birth_hook(Hook hook) {
        return births_.add_hook(std::move(hook), parts_.geometry.object_limit);
    }
    bool has_destroy_hooks() noexcept { return !reaper_.hooks().empty(); }

    /// What other threads take out of the pool.
    extractions_type& extractions_of_threads() noexcept { return extractions_; }
    const extractions_type& extractions_of_threads() const noexcept { return extractions_; }

    /// Any thread, wait-free: tells compaction to look itself for objects that were erased without a record.
    void demand_sweep() noexcept {
        // (28) release: pairs with (29), for the erase before it. A read-modify-write, so that all demands
        // between the beginnings of two sweeps form one release sequence: a plain store would hide those
        // before it.
        sweep_demands_.fetch_add(1, std::memory_order::release);
    }

    /// Only while the gate is closed. A budget is for recorded removals and newborns together, and as much
    /// for a sweep; not for extractions.
    template <executor Executor>
    compaction_stats run(Executor& executor, std::size_t budget = unlimited) noexcept {
        return run(executor, budget, [](auto&&) {});
    }

    /// The same; `hand_out(end)` may end more objects, killed before, by `end(handle, deliver)`, which calls
    /// `deliver(object)`.
    template <executor Executor, class HandOut>
    compaction_stats run(Executor& executor, std::size_t budget, HandOut hand_out) noexcept {
        const std::uint64_t start = policy::now();
        const std::uint64_t frame = runs();
        compaction_stats stats;
        // Before the queues are drained, so that a demand that comes later is kept.
        const bool sweep = begin_sweep(budget);

        reaper_.hooks().prune();
        births_.hooks().prune();
        begin(executor, compaction_phase::collect_removals);
        const parts_of_budget most = divide(budget);
        reaper_.look(most.removals);
        if (in_one_pass<Executor>(most.removals.most(), [this] { return waiting_records(); }) ||
            has_destroy_hooks()) {
            begin(executor, compaction_phase::destroy);
            count(reaper_.reap(frame), stats);
        } else {
            reaper_.collect();
            begin(executor, compaction_phase::destroy);
            count(reaper_.reap_collected(executor, frame), stats);
        }
        const auto end = [&](value_type handle, auto deliver) {
            count(reaper_.hand_over(handle, frame, deliver), stats);
        };
        const auto deliver = [&](auto& extraction) {
            end(extraction.handle(), [&](auto object) { extraction.deliver(object); });
        };
        extractions_.collect(deliver);
        hand_out(end);
        if (sweep) {
            begin(executor, compaction_phase::sweep);
            const bool alone =
                has_destroy_hooks() || in_one_pass<Executor>(budget, [this] { return waiting_removals(); });
            const std::size_t piece = alone ? greatest<std::size_t>(policy::compaction_grain, 1) : unlimited;
            stats.swept = sweep_slots(piece, budget, [&] {
                // After the search: see extractions.
                extractions_.collect(deliver);
                if (reaper_.leave_out(
                        [this](value_type handle) { return extractions_.may_be_taking(handle); })) {
                    demand_sweep(); // it may turn out to have been erased
                }
                const reaped done =
                    alone ? reaper_.reap_found(frame) : reaper_.reap_collected(executor, frame);
                count(done, stats);
                return done.removed;
            });
        }
        const bool keep_order = parts_.geometry.keep_order;
        if (keep_order) {
            // First, so that newborns come after the last survivor.
            begin(executor, compaction_phase::fill_holes);
            stats.moved = promoter_.close_holes_in_order(reaper_);
        }
        begin(executor, compaction_phase::collect_newborns);
        const std::size_t newborns = promoter_.most_newborns(most.newborns.most(), reaper_);
        if (in_one_pass<Executor>(newborns, [this] { return waiting_newborns(); })) {
            begin(executor, compaction_phase::place_newborns);
            stats.born = promoter_.take_newborns(reaper_, most.newborns.part(newborns), frame);
        } else {
            stats.born = promoter_.collect_newborns(executor, reaper_, most.newborns.part(newborns), frame);
            begin(executor, compaction_phase::place_newborns);
            promoter_.place_newborns(executor, reaper_);
        }
        add(left_nursery_, stats.born);
        if (!keep_order) {
            begin(executor, compaction_phase::fill_holes);
            stats.moved = promoter_.fill_holes(executor, reaper_);
        }
        if (!births_.hooks().empty()) {
            begin(executor, compaction_phase::report_births);
            births_.report(parts_);
        }
        begin(executor, compaction_phase::give_back);
        give_back_memory();

        add(destroyed_, stats.removed);
        add(runs_, 1);
        stats.size = parts_.promoted();
        stats.waiting_removals = waiting_removals();
        stats.waiting_newborns = waiting_newborns();
        stats.duration = std::chrono::nanoseconds(policy::now() - start);
        return stats;
    }

    /// Erased objects that were not destroyed yet, and objects in the nursery, erased ones among them. Any
    /// thread, a moment's view.
    std::size_t waiting_removals() const noexcept {
        const std::uint64_t destroyed = this->destroyed();
        // Signed: an object may be destroyed before its thread has counted it.
        return static_cast<std::size_t>(
            greatest<std::int64_t>(0, static_cast<std::int64_t>(parts_.erased() - destroyed)));
    }
    std::size_t waiting_newborns() const noexcept {
        const std::uint64_t left = left_nursery(); // before those created, which are no fewer
        return static_cast<std::size_t>(parts_.shards.sum([](const shard<policy>& one) {
            return one.created.load(std::memory_order::relaxed);
        }) - left);
    }

    /// Has nothing happened since the last run that another one would act on? Any thread, wait-free; exact
    /// for what happened before the call.
    bool idle() const noexcept {
        // Relaxed: nothing is read after the counters, and whoever is ordered before the call is seen by it.
        if (sweep_demands_.load(std::memory_order::relaxed) != 0 ||
            sweeping_.load(std::memory_order::relaxed) || !extractions_.empty()) {
            return false;
        }
        std::uint64_t created = 0;
        for (std::size_t i = 0, last = parts_.shards.count(); i < last; ++i) {
            const shard<policy>& one = parts_.shards[i];
            if (!one.removals.empty() || one.newborns.vacated.load(std::memory_order::relaxed) !=
                                             one.newborns.vacated_seen.load(std::memory_order::relaxed)) {
                return false;
            }
            created += one.created.load(std::memory_order::relaxed);
        }
        return created == left_nursery();
    }

    /// Counts a frame that needs no run.
    void skip() noexcept { add(runs_, 1); }

    const slot_history<policy>& history() const noexcept { return history_; }

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

    /// Forgets what was to be done, and what is remembered of slots. Only while nobody else uses the pool.
    void reset() noexcept {
        sweep_demands_.store(0, std::memory_order::relaxed);
        sweeping_.store(false, std::memory_order::relaxed);
        history_.reset();
    }

    /// Gives the memory of the frame lists back to the system.
    void shrink() noexcept {
        reaper_.shrink();
        births_.shrink();
        promoter_.shrink();
    }

    memory_use memory() const noexcept { return memory_of(history_, reaper_, births_, promoter_); }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    template <executor Executor>
    static void begin(Executor& executor, compaction_phase phase) {
        if constexpr (phase_listener<Executor>) {
            executor.begin_phase(phase);
        }
    }

    /// Is it one thread's work anyway, `waiting()` of which `most` are done?
    template <executor Executor, class Waiting>
    static bool in_one_pass(std::size_t most, Waiting waiting) noexcept {
        if constexpr (std::is_same_v<Executor, inline_executor>) {
            return true;
        } else {
            return most <= policy::compaction_grain || waiting() <= policy::compaction_grain;
        }
    }

    std::size_t waiting_records() const noexcept {
        return static_cast<std::size_t>(
            parts_.shards.sum([](const shard<policy>& one) { return one.removals.waiting(); }));
    }

    struct parts_of_budget {
        fair_budget removals;
        fair_budget newborns;
    };

    /// Each kind gets half of a budget, and what the other one leaves. The odd one goes to each in turn.
    parts_of_budget divide(std::size_t budget) const noexcept {
        if (budget == unlimited) {
            return {};
        }
        const std::size_t half = budget / 2 + (budget % 2 & runs() % 2);
        const std::size_t removals =
            least(waiting_records(), greatest(half, budget - least(budget, waiting_newborns())));
        return {{removals, runs()}, {budget - removals, runs()}};
    }

    /// Is there a sweep to be done, or to go on with? With a budget a demand waits for the end of the one
    /// before: it might never come to the last slots.
    bool begin_sweep(std::size_t budget) noexcept {
        bool sweeping = sweeping_.load(std::memory_order::relaxed);
        // (29) acquire: pairs with (28)
        if ((!sweeping || budget == unlimited) &&
            sweep_demands_.exchange(0, std::memory_order::acquire) != 0) {
            sweep_next_ = 0;
            sweep_end_ = parts_.slots_in_service();
            sweeping = true;
            sweeping_.store(true, std::memory_order::relaxed);
            add(sweeps_, 1);
        }
        return sweeping;
    }
    /// Goes on with a sweep, until it has found `most` objects or looked at some more slots: has it look at
    /// `piece` slots at a time, and calls `destroy()`, which returns how many of those found it has
    /// destroyed.
    template <class Destroy>
    std::size_t sweep_slots(std::size_t piece, std::size_t most, Destroy destroy) {
        std::size_t next = sweep_next_;
        const std::size_t left = sweep_end_ - next;
        const std::size_t looks = greatest(most, fewest_objects);
        const std::size_t end = next + (looks < left / slots_an_object ? looks * slots_an_object : left);
        std::size_t destroyed = 0;
        while (next != end && destroyed < most) {
            const std::size_t last = next + least(piece, end - next);
            next = reaper_.find_unrecorded(next, last, most - destroyed);
            destroyed += destroy();
        }
        sweep_next_ = next;
        sweeping_.store(next != sweep_end_, std::memory_order::relaxed);
        return destroyed;
    }

    void count(const reaped& done, compaction_stats& stats) noexcept {
        stats.removed += done.removed;
        stats.retired += done.retired;
        add(left_nursery_, done.newborn);
    }

    /// Last of all, what others may now use again.
    void give_back_memory() {
        if (parts_.objects.size() == 0) {
            parts_.order.forget();
        }
        parts_.newborns.recycle([this](nursery_position first) {
            parts_.objects.poison_objects(parts_.objects.location_of(first), parts_.newborns.chunk_size());
        });
        parts_.newborns.trim(parts_.objects);
        parts_.removals.recycle();
        reaper_.end_frame();
        births_.end_frame();
        promoter_.end_frame();
        parts_.allocator.publish();
    }

    parts_type& parts_;
    slot_history<policy> history_;
    reaper<T, Config> reaper_;
    promotion_log<T, Config> births_;
    typename placement_parts<Config>::template promoter<T> promoter_;
    extractions_type extractions_;

    // Looking at a slot takes so much less time than burying an object; and a sweep looks at as many slots as
    // for so many objects, however small the budget.
    static constexpr std::size_t slots_an_object = 8;
    static constexpr std::size_t fewest_objects = 1024;

    // The slots that the sweep that goes on has still to look at.
    plain<std::size_t> sweep_next_{0};
    plain<std::size_t> sweep_end_{0};
    typename policy::template atomic<bool> sweeping_{false};

    alignas(cache_line) typename policy::template atomic<std::uint64_t> sweep_demands_{0};
    alignas(cache_line) typename policy::template atomic<std::uint64_t> left_nursery_{0};
    typename policy::template atomic<std::uint64_t> destroyed_{0};
    typename policy::template atomic<std::uint64_t> runs_{0};
    typename policy::template atomic<std::uint64_t> sweeps_{0};
};

} // namespace handlepool::detail
