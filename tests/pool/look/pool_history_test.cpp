// SPDX-License-Identifier: MIT

// Histories of racing threads, checked exactly: invariant 3.

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace handlepool::test {
namespace {

using time_point = std::int64_t;
constexpr time_point infinity = std::numeric_limits<time_point>::max();

time_point now() {
    return std::chrono::steady_clock::now().time_since_epoch().count(); // one clock for all threads
}

struct interval {
    time_point begin;
    time_point end;
};

// What happened to one handle.
struct history {
    interval emplaced{0, 0};
    std::vector<interval> successes; // finds
    std::vector<interval> failures;  // finds and erases
    std::vector<interval> wins;      // erases
};

// Is there an order of the operations, each at a moment between its begin and its end, that a single thread
// could have seen? Linear in the number of events: the erase must fit behind all that succeeded and before
// all that failed.
bool is_linearizable(const history& of) {
    if (of.wins.size() > 1) {
        return false;
    }
    time_point latest_success = 0;
    for (const interval& success : of.successes) {
        if (success.end < of.emplaced.begin) {
            return false;
        }
        latest_success = std::max(latest_success, success.begin);
    }
    time_point earliest_failure = infinity;
    for (const interval& failure : of.failures) {
        if (failure.begin > of.emplaced.end) { // one that began before may have come before the object
            earliest_failure = std::min(earliest_failure, failure.end);
        }
    }
    if (of.wins.empty()) {
        return earliest_failure == infinity;
    }
    return std::max(of.wins[0].begin, latest_success) <= std::min(of.wins[0].end, earliest_failure);
}

TEST(pool_history, checker_knows_right_from_wrong) {
    const history right{{1, 2}, {{3, 4}, {5, 8}}, {{6, 9}, {10, 11}}, {{6, 7}}};
    EXPECT_TRUE(is_linearizable(right));
    history two_wins = right;
    two_wins.wins.push_back({6, 7});
    EXPECT_FALSE(is_linearizable(two_wins));
    history found_after_erase = right;
    found_after_erase.successes.push_back({8, 9});
    EXPECT_FALSE(is_linearizable(found_after_erase));
    history lost_before_erase = right;
    lost_before_erase.failures.push_back({3, 5});
    EXPECT_FALSE(is_linearizable(lost_before_erase));
    history found_before_emplace = right;
    found_before_emplace.emplaced = {5, 6};
    EXPECT_FALSE(is_linearizable(found_before_emplace));
    history lost_without_erase = right;
    lost_without_erase.wins.clear();
    EXPECT_FALSE(is_linearizable(lost_without_erase));
}

template <class Policy>
void expect_linearizable_histories(bool compacting) {
    constexpr std::size_t thread_count = 3;
    constexpr std::size_t object_count = 3000;
    pool<std::uint64_t, with_policy<Policy>> pool({.name = "observed", .capacity = object_count});
    using handle_type = typename decltype(pool)::handle_type;

    std::vector<std::atomic<std::uint64_t>> handles(object_count);
    std::vector<interval> emplaced(object_count);
    std::vector<std::vector<history>> seen(thread_count, std::vector<history>(object_count));
    in_threads(thread_count, [&](std::size_t thread) {
        for (std::size_t i = 0; i < object_count; ++i) {
            if (i % thread_count == thread) {
                const time_point begin = now();
                const handle_type handle = pool.emplace(i);
                emplaced[i] = {begin, now()};
                handles[i].store(handle.value(), std::memory_order::release);
            }
            if (compacting && thread == 0 && i % 16 == 0) {
                pool.compact();
            }
            const std::size_t object = i - std::min(i, (i * 7 + thread) % 11); // all meet on the same few
            const auto handle = handle_type::from_value(handles[object].load(std::memory_order::acquire));
            if (!handle) {
                continue;
            }
            history& mine = seen[thread][object];
            const time_point begin = now();
            const bool found = pool.contains(handle);
            const time_point between = now();
            const bool won = (i + thread) % 3 == 0 && pool.erase(handle);
            const time_point end = now();
            (found ? mine.successes : mine.failures).push_back({begin, between});
            if (won) {
                mine.wins.push_back({between, end});
            } else if ((i + thread) % 3 == 0) {
                mine.failures.push_back({between, end});
            }
        }
    });

    std::size_t events = 0;
    for (std::size_t object = 0; object < object_count; ++object) {
        history whole{.emplaced = emplaced[object], .successes = {}, .failures = {}, .wins = {}};
        for (const auto& thread : seen) {
            const history& part = thread[object];
            whole.successes.insert(whole.successes.end(), part.successes.begin(), part.successes.end());
            whole.failures.insert(whole.failures.end(), part.failures.begin(), part.failures.end());
            whole.wins.insert(whole.wins.end(), part.wins.begin(), part.wins.end());
        }
        events += whole.successes.size() + whole.failures.size() + whole.wins.size();
        ASSERT_TRUE(is_linearizable(whole)) << "object " << object;
    }
    EXPECT_GT(events, object_count);
}

TEST(pool_history, is_linearizable) {
    expect_linearizable_histories<default_policy>(false);
    expect_linearizable_histories<support::tiny_policy<1>>(false);
}

TEST(pool_history, is_linearizable_while_compactions_run) {
    expect_linearizable_histories<default_policy>(true);
    expect_linearizable_histories<support::tiny_policy<2>>(true);
}

} // namespace
} // namespace handlepool::test
