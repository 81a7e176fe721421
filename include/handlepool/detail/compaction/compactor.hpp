// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/deferred_ends.hpp>
#include <handlepool/detail/compaction/dense_placement.hpp>
#include <handlepool/detail/compaction/extractions.hpp>
#include <handlepool/detail/compaction/phase_times.hpp>
#include <handlepool/detail/compaction/promotion_log.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/compaction/sweep.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
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
    using pointer = typename parts_type::pointer;
    using extractions_type = extractions<policy, value_type, pointer>;

    /// The name of the pool must outlive it.
    compactor(const allocation_label& what_for, parts_type& parts, std::string_view pool = {})
        : parts_(parts),
          history_(what_for.part(" history"), parts.geometry.remember_frames ? parts.geometry.slot_limit : 0,
                   parts.geometry.remember_frames ? parts.geometry.capacity : 0),
          reaper_(what_for, parts, history_),
          births_(pool, history_),
          promoter_(what_for, parts, reaper_, births_) {}

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
    /// Returns whether births, or removals, must be told to somebody; and what ends, one by one, even when
    /// all is forgotten.
    bool watches_births() noexcept { return history_.remembers() || !births_.hooks().empty(); }
    bool watches_removals() noexcept { return history_.remembers() || watches_ends(); }
    bool watches_ends() noexcept { return has_destroy_hooks() || parts_.watch.is_on(); }

    /// Tells the hooks and the history of an object that was made, or ends, without a compaction. Only while
    /// the gate is closed.
    void report_birth(value_type handle, pointer object) { births_.report(handle, object, runs()); }
    void report_removal(value_type handle, location where) { reaper_.report(handle, where, runs()); }

    /// What spawners leave to a compaction.
    deferred_ends<T, Config>& deferred() noexcept { return deferred_; }

    /// What other threads take out of the pool.
    extractions_type& extractions_of_threads() noexcept { return extractions_; }
    const extractions_type& extractions_of_threads() const noexcept { return extractions_; }

    /// For programs that read this one's memory.
    void describe(described_pool& pool) const noexcept {
        pool.objects_that_left_nursery = &left_nursery_;
        pool.objects_destroyed = &destroyed_;
        pool.frames = &runs_;
        pool.compaction_nanoseconds = &nanoseconds_;
        phase_times_.describe(pool);
        pool.history = history_.described();
    }

    /// Any thread, wait-free: tells compaction to look itself for objects that were erased without a record.
    void demand_sweep() noexcept { sweep_.demand(); }

    /// Only while the gate is closed. A budget is for recorded removals and newborns together, and as much
    /// for a sweep; not for extractions.
    template <executor Executor>
    compaction_stats run(Executor& executor, std::size_t budget = unlimited) noexcept {
        return run(executor, budget, [](auto&&) {});
    }

    /// Runs with `hand_out(end)`, which may end more objects, killed before, by `end(handle, deliver)`, which
    /// calls `deliver(object)`.
    template <executor Executor, class HandOut>
    compaction_stats run(Executor& executor, std::size_t budget, HandOut hand_out) noexcept {
        one_run<Executor> now(*this, executor, budget);
        now.look_at_queues();
        now.destroy_removed();
        now.deliver_extractions();
        now.end_others(hand_out);
        now.sweep();
        if (parts_.geometry.keep_order) {
            now.close_holes_in_order(); // first, so that newborns come after the last survivor
        }
        now.take_newborns();
        if (!parts_.geometry.keep_order) {
            now.fill_holes();
        }
        now.report_births();
        now.give_back();
        return now.done();
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
        return static_cast<std::size_t>(parts_.created() - left);
    }

    /// Returns whether nothing has happened since the last run that another one would act on. Any thread,
    /// wait-free; exact for what happened before the call.
    bool idle() const noexcept {
        // Relaxed: nothing is read after the counters, and whoever is ordered before the call is seen by it.
        if (sweep_.is_due() || !extractions_.empty() || deferred_.pending() != 0) {
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

    /// Returns whether somebody is told of each frame, so that none is left out. Any thread, wait-free.
    bool is_followed() const noexcept { return is_followed_.load(std::memory_order::relaxed); }
    /// Only while the gate is closed.
    void set_followed(bool is_followed) noexcept {
        is_followed_.store(is_followed, std::memory_order::relaxed);
    }

    /// Counts a frame that needs no run.
    void skip() noexcept {
        add(runs_, 1);
        add(turn_, 1);
        parts_.lives.next_frame();
    }

    slot_history<policy>& history() noexcept { return history_; }
    const slot_history<policy>& history() const noexcept { return history_; }

    /// Objects that left the nursery, destroyed there or moved.
    std::uint64_t left_nursery() const noexcept { return left_nursery_.load(std::memory_order::relaxed); }
    std::uint64_t destroyed() const noexcept { return destroyed_.load(std::memory_order::relaxed); }
    std::uint64_t runs() const noexcept { return runs_.load(std::memory_order::relaxed); }
    std::uint64_t sweeps() const noexcept { return sweep_.begun(); }

    /// Which shard comes first in the next run with a budget. Only while the gate is closed.
    std::uint64_t turn() const noexcept { return turn_.load(std::memory_order::relaxed); }
    void set_turn(std::uint64_t turn) noexcept { turn_.store(turn, std::memory_order::relaxed); }

    /// Counts objects that were destroyed, or dropped with their memory, without a compaction.
    void account_for(std::size_t objects, std::size_t in_nursery) noexcept {
        add(destroyed_, objects);
        add(left_nursery_, in_nursery);
    }

    /// Forgets what was to be done, and what is remembered of slots. Only while nobody else uses the pool.
    void reset() noexcept {
        sweep_.reset();
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
    /// One compaction, step by step. Its constructor decides who reaps and who promotes: this thread does all
    /// in one pass; for an executor, many removed objects or newborns are listed first.
    template <executor Executor>
    class one_run {
    public:
        one_run(compactor& all, Executor& executor, std::size_t budget) noexcept
            : all_(all), executor_(executor), budget_(budget) {
            all.deferred_.work_off();
            // Before the queues are looked at, so that a demand that comes later is kept.
            sweeps_ = all.sweep_.begin(budget);
            all.reaper_.hooks().prune();
            all.births_.hooks().prune();
            if constexpr (!always_alone) {
                const bool is_little = budget <= policy::compaction_grain;
                reaps_alone_ = is_little || all.waiting_removals() <= policy::compaction_grain ||
                               all.calls_others_at_ends(); // in this thread
                takes_alone_ = is_little || all.waiting_newborns() <= policy::compaction_grain;
            }
        }

        void look_at_queues() {
            begin(compaction_phase::collect_removals);
            divide_budget();
            all_.reaper_.look(removals_);
            if (!reaps_alone()) {
                all_.reaper_.list_queued();
            }
        }

        void destroy_removed() {
            begin(compaction_phase::destroy);
            count(reaps_alone() ? all_.reaper_.reap_queued(frame_)
                                : all_.reaper_.reap_listed(executor_, frame_));
        }

        void deliver_extractions() { all_.extractions_.collect(delivery()); }
        template <class HandOut>
        void end_others(HandOut& hand_out) {
            hand_out([this](value_type handle, auto deliver) { this->end(handle, deliver); });
        }

        void sweep() {
            if (!sweeps_) {
                return;
            }
            begin(compaction_phase::sweep);
            const std::size_t piece =
                reaps_alone() ? greatest<std::size_t>(policy::compaction_grain, 1) : unlimited;
            done_.swept = all_.sweep_.go_on(piece, budget_, delivery(), [this] {
                return count(reaps_alone() ? all_.reaper_.reap_listed(frame_)
                                           : all_.reaper_.reap_listed(executor_, frame_));
            });
        }

        void close_holes_in_order() {
            begin(compaction_phase::fill_holes);
            done_.moved = all_.promoter_.close_holes_in_order();
        }

        void take_newborns() {
            begin(compaction_phase::collect_newborns);
            const fair_budget most = newborns_.part(all_.promoter_.most_newborns(newborns_.most()));
            if (takes_alone()) {
                begin(compaction_phase::place_newborns);
                done_.born = all_.promoter_.take_newborns(most, frame_);
            } else {
                done_.born = all_.promoter_.collect_newborns(executor_, most, frame_);
                begin(compaction_phase::place_newborns);
                all_.promoter_.place_newborns(executor_);
            }
            add(all_.left_nursery_, done_.born);
        }

        void fill_holes() {
            begin(compaction_phase::fill_holes);
            done_.moved = all_.promoter_.fill_holes(executor_);
        }

        void report_births() {
            if (!all_.births_.hooks().empty()) {
                begin(compaction_phase::report_births);
                all_.births_.report(all_.parts_);
            }
        }

        /// Gives back, last of all, what others may now use again.
        void give_back() {
            begin(compaction_phase::give_back);
            parts_type& parts = all_.parts_;
            if (parts.objects.size() == 0) {
                parts.order.forget();
            }
            for (std::size_t i = 0, last = shards_before_threads(parts.geometry); i != last; ++i) {
                parts.newborns.take_groups_from(parts.shards[i].newborns);
            }
            parts.newborns.recycle([&parts](nursery_position first) {
                parts.objects.poison_objects(parts.objects.location_of(first), parts.newborns.chunk_size());
            });
            parts.newborns.trim(parts.objects);
            parts.watch.note_positions(parts_type::placement::positions(parts));
            parts.removals.recycle();
            all_.reaper_.end_frame();
            all_.births_.end_frame();
            all_.promoter_.end_frame();
            parts.allocator.publish();
        }

        compaction_stats done() {
            add(all_.destroyed_, done_.removed);
            add(all_.runs_, 1);
            add(all_.turn_, 1);
            all_.parts_.lives.next_frame();
            done_.size = all_.parts_.promoted();
            done_.waiting_removals = all_.waiting_removals();
            done_.waiting_newborns = all_.waiting_newborns();
            const std::uint64_t end = policy::now();
            phases_.end(end);
            const std::uint64_t taken = end - start_;
            done_.duration = std::chrono::nanoseconds(taken);
            add(all_.nanoseconds_, taken);
            return done_;
        }

    private:
        static constexpr bool always_alone = std::is_same_v<Executor, inline_executor>;
        bool reaps_alone() const noexcept { return always_alone || reaps_alone_; }
        bool takes_alone() const noexcept { return always_alone || takes_alone_; }

        void begin(compaction_phase phase) {
            phases_.begin(phase);
            if constexpr (phase_listener<Executor>) {
                executor_.begin_phase(phase);
            }
        }

        /// Each kind gets half of the budget, and what the other one leaves. The odd one goes to each in
        /// turn.
        void divide_budget() noexcept {
            if (budget_ == unlimited) {
                return;
            }
            const std::uint64_t turn = all_.turn();
            const std::size_t half = budget_ / 2 + (budget_ % 2 & turn % 2);
            const std::size_t removals = least(
                all_.pending_records(), greatest(half, budget_ - least(budget_, all_.waiting_newborns())));
            // Another shard comes first each time.
            removals_ = {removals, turn};
            newborns_ = {budget_ - removals, turn};
        }

        std::size_t count(const reaped& some) noexcept {
            done_.removed += some.removed;
            done_.retired += some.retired;
            add(all_.left_nursery_, some.newborn);
            return some.removed;
        }

        template <class Deliver>
        void end(value_type handle, Deliver deliver) {
            count(all_.reaper_.hand_over(handle, frame_, deliver));
        }
        auto delivery() noexcept {
            return [this](auto& extraction) {
                this->end(extraction.handle(), [&](auto object) { extraction.deliver(object); });
            };
        }

        compactor& all_;
        Executor& executor_;
        const std::size_t budget_;
        const std::uint64_t start_ = policy::now();
        const std::uint64_t frame_ = all_.runs();
        phase_stopwatch<policy> phases_{all_.phase_times_};
        fair_budget removals_;
        fair_budget newborns_;
        bool sweeps_ = false;
        bool reaps_alone_ = true;
        bool takes_alone_ = true;
        compaction_stats done_;
    };

    bool has_destroy_hooks() noexcept { return !reaper_.hooks().empty(); }
    /// Returns whether the end of an object calls what one thread alone may call: hooks, and who keeps
    /// objects; where there are spawners, destructors too, which may use the pool, in an order that is always
    /// the same.
    bool calls_others_at_ends() noexcept {
        return has_destroy_hooks() || parts_.has_keeper() ||
               (parts_.geometry.spawners != 0 && parts_.ends_objects());
    }
    std::size_t pending_records() const noexcept {
        return static_cast<std::size_t>(
            parts_.shards.sum([](const shard<policy>& one) { return one.removals.pending(); }));
    }

    parts_type& parts_;
    slot_history<policy> history_;
    reaper<T, Config> reaper_;
    promotion_log<T, Config> births_;
    typename placement_parts<Config>::template promoter<T> promoter_;
    extractions_type extractions_;
    detail::sweep<T, Config> sweep_{parts_, reaper_, extractions_};
    deferred_ends<T, Config> deferred_{parts_, extractions_, sweep_};

    alignas(cache_line) typename policy::template atomic<std::uint64_t> left_nursery_{0};
    typename policy::template atomic<std::uint64_t> destroyed_{0};
    typename policy::template atomic<std::uint64_t> runs_{0};
    // Of all runs, for readers of reports alone.
    std::atomic<std::uint64_t> nanoseconds_{0};
    phase_times phase_times_;
    typename policy::template atomic<std::uint64_t> turn_{0};   // runs, unless a capture was restored
    typename policy::template atomic<bool> is_followed_{false}; // here, because idle() comes first
};

} // namespace handlepool::detail
