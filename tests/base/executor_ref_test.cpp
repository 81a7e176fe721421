// SPDX-License-Identifier: MIT
#include <handlepool/executor_ref.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using ranges = std::vector<std::pair<std::size_t, std::size_t>>;

/// Halves each loop, and notes what it was asked for.
struct halving_executor {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) {
        asked.emplace_back(count, grain);
        body(std::size_t{0}, count / 2);
        body(count / 2, count);
    }

    ranges asked;
};

/// Notes what it is told.
struct listening_executor : inline_executor {
    void begin_compaction(std::string_view pool) { heard.push_back("begin " + std::string(pool)); }
    void begin_phase(compaction_phase phase) { heard.emplace_back(name_of(phase)); }
    void end_compaction(const compaction_stats& stats) {
        heard.push_back("end " + std::to_string(stats.size));
    }

    std::vector<std::string> heard;
};

static_assert(phase_listener<listening_executor> && !phase_listener<halving_executor>);
static_assert(std::is_trivially_copyable_v<executor_ref>);
static_assert(!std::constructible_from<executor_ref, int&>, "an int runs nothing");
static_assert(!std::constructible_from<executor_ref, inline_executor>,
              "it would refer to an executor that is gone");

TEST(executor_ref_test, loops_are_run_by_the_executor_with_count_and_grain) {
    halving_executor executor;
    const executor_ref any(executor);
    ranges called;
    any.for_ranges(10, 3, [&](std::size_t first, std::size_t last) { called.emplace_back(first, last); });
    EXPECT_EQ(executor.asked, (ranges{{10, 3}}));
    EXPECT_EQ(called, (ranges{{0, 5}, {5, 10}}));
}

TEST(executor_ref_test, bodies_may_be_moved_only_and_have_state) {
    inline_executor executor;
    const executor_ref any(executor);
    std::size_t seen = 0;
    any.for_ranges(10, 1, [seen = &seen, owned = test::move_only(3)](std::size_t first, std::size_t last) {
        *seen += (last - first) * owned.value();
    });
    EXPECT_EQ(seen, 30U);
    struct counting {
        void operator()(std::size_t first, std::size_t last) noexcept { items += last - first; }
        std::size_t items = 0;
    } body;
    any.for_ranges(7, 1, body);
    EXPECT_EQ(body.items, 7U) << "the body itself is called, not a copy";
}

TEST(executor_ref_test, a_const_executor_will_do) {
    const inline_executor executor;
    std::size_t items = 0;
    executor_ref(executor).for_ranges(7, 1, [&](std::size_t, std::size_t last) { items = last; });
    EXPECT_EQ(items, 7U);
}

TEST(executor_ref_test, copies_refer_to_the_same_executor) {
    halving_executor executor;
    executor_ref first(executor);
    executor_ref copy(first); // of one that is not const: not a reference to a reference
    executor_ref assigned = copy;
    assigned = first;
    copy.for_ranges(2, 1, [](std::size_t, std::size_t) {});
    assigned.for_ranges(4, 1, [](std::size_t, std::size_t) {});
    EXPECT_EQ(executor.asked, (ranges{{2, 1}, {4, 1}}));
}

TEST(executor_ref_test, one_that_listens_is_told_all) {
    listening_executor executor;
    const executor_ref any(executor);
    any.begin_compaction("ships");
    any.begin_phase(compaction_phase::sweep);
    any.end_compaction({.size = 7});
    EXPECT_EQ(executor.heard, (std::vector<std::string>{"begin ships", "sweep", "end 7"}));
}

TEST(executor_ref_test, one_that_does_not_listen_is_told_nothing) {
    halving_executor executor;
    const executor_ref any(executor);
    any.begin_compaction("ships");
    any.begin_phase(compaction_phase::sweep);
    any.end_compaction({.size = 7});
    EXPECT_TRUE(executor.asked.empty());
}

TEST(executor_ref_test, threads_run_a_loop_through_it) {
    thread_executor executor(3);
    const executor_ref any(executor);
    std::vector<int> visits(10'000);
    any.for_ranges(visits.size(), 16, [&](std::size_t first, std::size_t last) noexcept {
        for (; first != last; ++first) {
            ++visits[first];
        }
    });
    EXPECT_EQ(std::ranges::count(visits, 1), 10'000);
}

} // namespace
} // namespace handlepool::test
