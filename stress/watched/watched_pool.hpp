// SPDX-License-Identifier: MIT
#pragma once

#include "client.hpp"
#include "neighbours.hpp"
#include "oracle/history.hpp"
#include "placements.hpp"
#include "results/report.hpp"
#include "run/test_run.hpp"
#include "tracked_object.hpp"

#include <handlepool/fmt.hpp>
#include <handlepool/service.hpp>

#include <support/steps/tiny_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::stress {

// A pool of a service whose every answer is checked: by its callers, where they know it, by the histories
// of its handles, and by what must add up whenever no thread is at work. Object is a tracked_object, or
// derived from it. Its neighbours in the service are dense.
template <class Placement = dense_placement, class Policy = default_policy, class Object = tracked_object,
          class Layout = default_layout>
class watched_pool final : public watched {
public:
    using service_type = basic_service<Layout>;
    using pool_type = pool_with<Placement, Object, Layout, Policy>;
    using handle_type = typename pool_type::handle_type;
    using client_type = client<pool_type>;

    // `threads` may use it at a time, besides the main thread; 0: as many as the team has.
    watched_pool(test_run& run, const pool_options& options, std::size_t threads = 0);
    // A pool that was not finished, because of an exception, adds what was found all the same.
    ~watched_pool() override;

    watched_pool(const watched_pool&) = delete;
    watched_pool& operator=(const watched_pool&) = delete;

    pool_type& get() noexcept { return *pool_; }

    // What a thread of the team uses the pool by; a thread that it waits for may use it too.
    client_type& by(std::size_t thread) noexcept { return *clients_[thread]; }
    // The same for the main thread.
    client_type& by_main() noexcept { return *clients_.back(); }

    // Between the threads' parts: compacts, and checks the whole pool.
    void end_frame() {
        compact(by_main());
        check_quiescent();
    }

    // Frames, each `work(thread)` on all threads at once, until this part of the run is over; then finishes.
    template <class Work>
    void run_frames(double part, const Work& work) {
        while (run_.more(part)) {
            run_.together(work);
            end_frame();
        }
        finish();
    }

    // Compacts the whole service, as the only thread that does.
    service_compaction compact(client_type& mine) {
        const service_compaction stats = mine.compact(run_.executor());
        run_.add_compaction(stats.duration);
        return stats;
    }

    // After a compaction, while no thread is at work: what must add up, and the objects against the slots,
    // both ways. Linear in the living objects.
    void check_quiescent();

    // After the last frame: checks all that is left to be checked, destroys the pool, and adds what was found
    // to the report of the run.
    void finish();

    // What the histories have shown so far.
    const history& histories() const noexcept { return history_; }

    // ---- For the run

    std::uint64_t pending_events() const override {
        std::uint64_t sum = 0;
        for (const recorder* const each : recorders_) {
            sum += each->pending();
        }
        return sum;
    }
    std::uint64_t operations() const override {
        std::uint64_t sum = 0;
        for (const recorder* const each : recorders_) {
            sum += each->counts.operations;
        }
        return sum;
    }
    std::uint64_t alive() const override { return pool_ != nullptr ? pool_->size() : 0; }
    void check_histories(std::size_t thread) override { history_.check(thread, recorders_); }

private:
    findings total() const {
        findings all;
        for (const recorder* const each : recorders_) {
            all += each->counts;
        }
        return all;
    }

    // The objects that the last compaction left, by numbers: in a dense store their positions.
    std::size_t list_objects();
    const Object& object_at(std::size_t position) const;
    handle_type handle_at(std::size_t position) const;

    void check_positions(std::size_t first, std::size_t last, findings& mine);
    void check_balance();
    void check_neighbours();
    void abandon() noexcept;
    void add_findings();
    template <class Number>
    void require(bool holds, std::string_view what, Number found, std::string_view relation,
                 Number expected) {
        if (!holds) {
            by_main().counts().violate(
                fmt::format("pool '{}': {} is {}, {} {}", name_, what, found, relation, expected));
        }
    }
    void require_equal(std::string_view what, std::uint64_t found, std::uint64_t expected) {
        require(found == expected, what, found, "expected", expected);
    }

    test_run& run_;
    std::string name_;
    lifetime_counts objects_; // outlives the pool
    neighbours<Layout> neighbours_;
    std::unique_ptr<service_type> service_;
    pool_type* pool_ = nullptr; // null after its end
    erase_marks marks_;
    explanations<pool_type> told_;
    std::vector<std::unique_ptr<client_type>> clients_; // one a thread, and the main thread's
    std::vector<recorder*> recorders_;                  // theirs
    history history_;
    bool balanced_ = true;
    std::vector<const Object*> listed_; // of a stable pool
};

template <class Placement, class Policy, class Object, class Layout>
watched_pool<Placement, Policy, Object, Layout>::watched_pool(test_run& run, const pool_options& options,
                                                              std::size_t threads)
    : run_(run),
      name_(options.name),
      service_(std::make_unique<service_type>()),
      pool_(&service_->template add<pool_type>(options.name, options)),
      marks_("marks of erased slots", pool_->stats().slot_limit, 0),
      told_(options, marks_.size(), (threads == 0 ? run.threads() : threads) + 1),
      history_({Layout::index_bits, Layout::generation_bits}, run.threads(), run.clock_tolerance()) {
    const std::size_t last = threads == 0 ? run.threads() : threads;
    for (std::size_t i = 1; i < run.options().service.pools; ++i) {
        neighbours_.pools.push_back(&service_->template add<typename neighbours<Layout>::pool_type>(
            fmt::format("neighbour {}", i),
            {.capacity = 256 * (last + 1), .reuse_delay = 16, .max_threads = options.max_threads}));
    }
    for (std::size_t thread = 0; thread <= last; ++thread) {
        clients_.push_back(std::make_unique<client_type>(*service_, *pool_, neighbours_, objects_, marks_,
                                                         told_, thread, run.threads(), run.options().sample));
        recorders_.push_back(&clients_.back()->record_of());
    }
    run.join(*this);
}

template <class Placement, class Policy, class Object, class Layout>
watched_pool<Placement, Policy, Object, Layout>::~watched_pool() {
    if (service_) {
        add_findings();
        abandon();
    }
    run_.leave(*this);
}

template <class Placement, class Policy, class Object, class Layout>
void watched_pool<Placement, Policy, Object, Layout>::check_balance() {
    const findings all = total();
    const auto expected = static_cast<std::int64_t>(all.created) - static_cast<std::int64_t>(all.erased);
    const auto alive = static_cast<std::int64_t>(pool_->size());
    require(alive == expected, "the number of living objects", alive, "expected", expected);
    require_equal("the number of objects that a loop visits", list_objects(), pool_->size());
    require_equal("the number of destructions", objects_.deaths(), all.erased + all.undone);
    require_equal("the number of destructions of no living object", objects_.misuses(), 0);
}

template <class Placement, class Policy, class Object, class Layout>
void watched_pool<Placement, Policy, Object, Layout>::check_quiescent() {
    if (balanced_) { // what is wrong once stays wrong: once is enough
        const std::uint64_t before = by_main().counts().violations;
        check_balance();
        balanced_ = by_main().counts().violations == before;
    }

    constexpr std::size_t worth_sharing = 1 << 12; // objects
    const std::size_t size = list_objects();
    const std::size_t threads = run_.threads();
    if (size < worth_sharing) {
        check_positions(0, size, by_main().counts());
        return;
    }
    run_.team().run([&](std::size_t thread) {
        check_positions(size * thread / threads, size * (thread + 1) / threads, by(thread).counts());
    });
}

// The neighbours must hold what their users know of, and nothing after those have left.
template <class Placement, class Policy, class Object, class Layout>
void watched_pool<Placement, Policy, Object, Layout>::check_neighbours() {
    std::uint64_t created = 0;
    for (const auto& each : clients_) {
        each->at_neighbours().leave_all(each->counts());
        created += each->at_neighbours().created();
    }
    service_->compact(run_.executor());
    pool_stats sum;
    for (const auto* const each : neighbours_.pools) {
        const pool_stats stats = each->stats();
        sum.created += stats.created;
        sum.destroyed += stats.destroyed;
        sum.alive += stats.alive;
    }
    require_equal("the number created at the neighbours", sum.created, created);
    require_equal("the number destroyed at the neighbours", sum.destroyed, created);
    require_equal("the number alive at the neighbours", sum.alive, 0);
    require_equal("the number of destructions at the neighbours", neighbours_.objects.deaths(), created);
    require_equal("the number of destructions of no living object there", neighbours_.objects.misuses(), 0);
}

template <class Placement, class Policy, class Object, class Layout>
std::size_t watched_pool<Placement, Policy, Object, Layout>::list_objects() {
    if constexpr (is_stable<pool_type>) {
        listed_.clear();
        for (const Object& each : *pool_) {
            listed_.push_back(&each);
        }
        return listed_.size();
    } else if constexpr (named_by<handle_type>::is_row) {
        return pool_->template items<0>().size();
    } else {
        return pool_->items().size();
    }
}

template <class Placement, class Policy, class Object, class Layout>
const Object& watched_pool<Placement, Policy, Object, Layout>::object_at(std::size_t position) const {
    if constexpr (is_stable<pool_type>) {
        return *listed_[position];
    } else if constexpr (named_by<handle_type>::is_row) {
        return pool_->template items<0>()[position];
    } else {
        return pool_->items()[position];
    }
}

template <class Placement, class Policy, class Object, class Layout>
auto watched_pool<Placement, Policy, Object, Layout>::handle_at(std::size_t position) const -> handle_type {
    if constexpr (is_stable<pool_type>) {
        return pool_->handle_of(*listed_[position]);
    } else {
        return pool_->handle_at(position);
    }
}

template <class Placement, class Policy, class Object, class Layout>
void watched_pool<Placement, Policy, Object, Layout>::check_positions(std::size_t first, std::size_t last,
                                                                      findings& mine) {
    for (std::size_t position = first; position != last; ++position) {
        const Object& object = object_at(position);
        const handle_type handle = handle_at(position);
        const auto found = pool_->find(handle);
        if (object_in(found) != &object) {
            mine.violate(fmt::format("position {} and its handle {} disagree", position, handle));
        } else if (!is_whole(found)) {
            ++mine.content_mismatches;
            mine.violate(fmt::format("the object at position {}, handle {}, is torn", position, handle));
        } else {
            check_place<pool_type>(object, handle, mine);
        }
    }
}

template <class Placement, class Policy, class Object, class Layout>
void watched_pool<Placement, Policy, Object, Layout>::finish() {
    by_main().compact(run_.executor()); // no frame of the scenario
    check_quiescent();
    check_neighbours();
    run_.check_histories();
    const pool_stats stats = pool_->stats();
    const findings all = total();
    require_equal("the number created, by the pool's count", stats.created, all.created);
    require_equal("the number destroyed, by the pool's count", stats.destroyed, all.erased);
    require_equal("the number destroyed and alive together", stats.destroyed + stats.alive, stats.created);
    require_equal("the number of newborns after a compaction", stats.newborn, 0);
    require_equal("the number of slots in service", stats.slots_in_service,
                  stats.alive + stats.slots_free + stats.slots_claimed + stats.slots_retired);
    require(stats.smallest_reuse_distance >= stats.reuse_delay, "the smallest reuse distance",
            stats.smallest_reuse_distance, "allowed at the least", stats.reuse_delay);
    for (const recorder* const each : recorders_) {
        // Slots that a failed emplace_n gave back are freed without a death: then deaths say too little.
        require(all.undone != 0 || each->reuse_distances.smallest() >= stats.reuse_delay,
                "the number of objects destroyed between a slot's erase and its next use",
                each->reuse_distances.smallest(), "allowed at the least", stats.reuse_delay);
    }

    if (total().passed() && history_.result().passed()) {
        pool_ = nullptr;
        service_.reset();
        require_equal("the number of destructions in the end", objects_.deaths(), all.created + all.undone);
        require_equal("the number of destructions of no living object in the end", objects_.misuses(), 0);
    } else {
        abandon();
    }
    add_findings();
    run_.result().add_pool(stats);
}

// A pool with which something is wrong may never end: its destructor erases until nothing is alive. So it
// stays, and what refers to it lies where leaks are not looked for.
template <class Placement, class Policy, class Object, class Layout>
void watched_pool<Placement, Policy, Object, Layout>::abandon() noexcept {
    static std::vector<service_type*>& abandoned = *new std::vector<service_type*>;
    abandoned.push_back(service_.release());
    pool_ = nullptr;
}

// Histories first: they tell more, and there is room for some messages only.
template <class Placement, class Policy, class Object, class Layout>
void watched_pool<Placement, Policy, Object, Layout>::add_findings() {
    report& result = run_.result();
    result.all += history_.result();
    result.all += total();
    for (const recorder* const each : recorders_) {
        for (std::size_t what = 0; what < operation_names.size(); ++what) {
            result.latencies[what] += each->latencies(static_cast<operation>(what));
        }
        result.reuse_distances += each->reuse_distances;
    }
}

// Calls `body` with the placement of the run's pools, a type.
template <class Body>
void with_placement(const test_run& run, const Body& body) {
    switch (run.options().service.placement) {
    case placement_kind::dense:
        return body(dense_placement());
    case placement_kind::stable:
        return body(stable_placement());
    case placement_kind::columns:
        return body(columns_placement());
    }
}

// What several scenarios use is compiled once, in watched_pool.cpp, watched_stable_pool.cpp and
// watched_columns.cpp.
extern template class watched_pool<dense_placement>;
extern template class watched_pool<dense_placement, support::tiny_policy<1>>;
extern template class watched_pool<dense_placement, support::tiny_policy<2>>;
extern template class client<watched_pool<dense_placement>::pool_type>;
extern template class client<watched_pool<dense_placement, support::tiny_policy<1>>::pool_type>;
extern template class client<watched_pool<dense_placement, support::tiny_policy<2>>::pool_type>;
extern template class watched_pool<stable_placement>;
extern template class watched_pool<stable_placement, support::tiny_policy<1>>;
extern template class watched_pool<stable_placement, support::tiny_policy<2>>;
extern template class client<watched_pool<stable_placement>::pool_type>;
extern template class client<watched_pool<stable_placement, support::tiny_policy<1>>::pool_type>;
extern template class client<watched_pool<stable_placement, support::tiny_policy<2>>::pool_type>;
extern template class watched_pool<columns_placement>;
extern template class watched_pool<columns_placement, support::tiny_policy<1>>;
extern template class watched_pool<columns_placement, support::tiny_policy<2>>;
extern template class client<watched_pool<columns_placement>::pool_type>;
extern template class client<watched_pool<columns_placement, support::tiny_policy<1>>::pool_type>;
extern template class client<watched_pool<columns_placement, support::tiny_policy<2>>::pool_type>;

} // namespace handlepool::stress
