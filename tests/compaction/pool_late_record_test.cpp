// SPDX-License-Identifier: MIT

// Records of removals that come late, behind a sweep that has found their objects.

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/tabulate.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

TEST(late_record, buries_nothing_when_its_slot_was_given_back_unused) {
    using pool_type = pool<re_entrant, with_policy<support::tiny_policy<1, support::step_policy>>>;
    // Before which access the eraser is stopped: among others, between the erase and its record.
    for (std::size_t steps = 0;; ++steps) {
        SCOPED_TRACE(steps);
        pool_type pool({.name = "late",
                        .capacity = 4,
                        .reuse_delay = 0,
                        .slot_limit = 4,
                        .removal_queue_size = 1,
                        .max_threads = 64});
        int destroyed = 0;
        const auto handles =
            tabulate(3, [&](int) { return pool.emplace(re_entrant::callback{}, [&] { ++destroyed; }); });
        pool.compact();
        support::stepper eraser(steps, [&] { pool.erase(handles[0]); });
        const bool stopped = eraser.stopped();
        pool.erase(handles[1]);
        pool.erase(handles[2]); // its queue of one is full: a sweep
        pool.compact();
        // Constructors that throw give the slots back, some to the shard and some to all threads.
        const re_entrant::callback fail = [] { throw construction_failure(); };
        const re_entrant::callback nested = [&] {
            EXPECT_THROW(pool.emplace(fail), construction_failure);
            throw construction_failure();
        };
        EXPECT_THROW(pool.emplace([&] {
            EXPECT_THROW(pool.emplace(nested), construction_failure);
            throw construction_failure();
        }),
                     construction_failure);
        eraser.finish();
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), 0U);
        EXPECT_EQ(destroyed, 3);
        std::vector<pool_type::handle_type> again;
        while (const auto handle = pool.try_emplace(re_entrant::callback{})) {
            again.push_back(handle);
        }
        EXPECT_EQ(again.size(), 4U);
        expect_consistent(pool);
        if (!stopped || testing::Test::HasFailure()) {
            return;
        }
    }
}

// Arrays that notice an index past their end.
struct bounded_policy : default_policy {
    template <class T>
    class array : public virtual_array<T> {
    public:
        using virtual_array<T>::virtual_array;

        T& operator[](std::size_t position) noexcept {
            check(position);
            return virtual_array<T>::operator[](position);
        }
        const T& operator[](std::size_t position) const noexcept {
            check(position);
            return virtual_array<T>::operator[](position);
        }

    private:
        void check(std::size_t position) const noexcept { EXPECT_LT(position, this->size()); }
    };
};

// Calls back once, when a compaction has taken its snapshot of the queues and begins its sweep.
struct interrupting_executor : inline_executor {
    std::function<void()> once;

    void begin_compaction(std::string_view) {}
    void begin_phase(compaction_phase phase) {
        if (phase == compaction_phase::sweep && once) {
            std::exchange(once, nullptr)();
        }
    }
    void end_compaction(const compaction_stats&) {}
};

TEST(late_record, of_many_does_not_overflow_the_list_of_removals) {
    constexpr std::size_t capacity = 4096;
    pool<std::size_t, with_policy<bounded_policy>> pool({.name = "many",
                                                         .capacity = capacity,
                                                         .reuse_delay = 0,
                                                         .slot_limit = capacity,
                                                         .max_threads = 1 + this_thread::index()});
    using handle_type = decltype(pool)::handle_type;
    std::vector<handle_type> handles;
    pool.emplace_n(capacity, std::back_inserter(handles), std::size_t{1});
    pool.compact();
    std::jthread([&] { EXPECT_TRUE(pool.erase(handles[0])); }).join(); // has no shard: a sweep
    interrupting_executor executor;
    executor.once = [&] { EXPECT_EQ(pool.erase(handles), capacity - 1); };
    EXPECT_EQ(pool.compact(executor).removed, capacity)
        << "all found by the sweep, their records still queued";

    handles.clear();
    pool.emplace_n(capacity, std::back_inserter(handles), std::size_t{2});
    EXPECT_EQ(pool.erase(handles), capacity);
    EXPECT_EQ(pool.compact().removed, capacity);
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 0U);
}

} // namespace
} // namespace handlepool::test
