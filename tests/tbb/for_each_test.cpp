// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/tbb/for_each.hpp>

#include <gtest/gtest.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tests/support/hostile_types.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using numbers = pool<std::uint64_t>;

/// `count` objects 0, 1, 2, ... after a compaction.
void fill(numbers& pool, std::uint64_t count) {
    for (std::uint64_t i = 0; i != count; ++i) {
        pool.emplace(i);
    }
    pool.compact();
}

class for_each_test : public testing::TestWithParam<int> {
protected:
    tbb::task_arena arena{GetParam()};
    numbers pool{{.name = "numbers", .capacity = 20'000}};
};
INSTANTIATE_TEST_SUITE_P(threads, for_each_test, testing::Values(1, 2, 4));

TEST_P(for_each_test, visits_each_object_once) {
    for (const std::uint64_t count : {0U, 1U, 7U, 8U, 9U, 10'000U}) {
        pool.reset();
        fill(pool, count);
        std::vector<std::atomic<int>> visits(count);
        arena.execute([&] { for_each(pool, [&](std::uint64_t& object) { ++visits[object]; }); });
        EXPECT_TRUE(std::ranges::all_of(visits, [](const auto& each) { return each == 1; })) << count;
    }
}

// Views are divided by their iterators.
TEST_P(for_each_test, views_are_visited_in_parallel_loops_of_oneTBB) {
    fill(pool, 10'000);
    std::vector<std::atomic<int>> visits(10'000);
    const auto handles = pool.handles();
    using iterator = decltype(handles.begin());
    arena.execute([&] {
        tbb::parallel_for(tbb::blocked_range<iterator>(handles.begin(), handles.end()),
                          [&](const auto& part) {
                              for (auto each = part.begin(); each != part.end(); ++each) {
                                  ++visits[pool.at(*each)];
                              }
                          });
        tbb::parallel_for(std::size_t{0}, pool.entries().size(),
                          [entries = pool.entries()](std::size_t i) { entries[i].object += 10'000; });
    });
    EXPECT_TRUE(std::ranges::all_of(visits, [](const auto& each) { return each == 1; }));
    EXPECT_TRUE(std::ranges::all_of(pool.items(), [](std::uint64_t object) { return object >= 10'000; }));
}

TEST_P(for_each_test, objects_may_be_changed) {
    fill(pool, 10'000);
    arena.execute([&] { for_each(pool, [](std::uint64_t& object) { object *= 2; }); });
    std::uint64_t sum = 0;
    for (const std::uint64_t object : pool) {
        sum += object;
    }
    EXPECT_EQ(sum, 9999ULL * 10'000);
}

TEST_P(for_each_test, works_again_and_again_with_a_placement) {
    fill(pool, 10'000);
    tbb::affinity_partitioner placement;
    arena.execute([&] {
        for (int round = 0; round != 10; ++round) {
            for_each(pool, [](std::uint64_t& object) { ++object; }, placement);
            for_each_with_handle(
                pool, [](handle<std::uint64_t>, std::uint64_t& object) { ++object; }, placement);
        }
    });
    EXPECT_EQ(*std::ranges::min_element(pool.items()), 20U);
    EXPECT_EQ(*std::ranges::max_element(pool.items()), 9999U + 20);
}

TEST_P(for_each_test, handles_are_those_of_their_objects) {
    fill(pool, 10'000);
    std::atomic<int> wrong = 0;
    std::atomic<int> visited = 0;
    arena.execute([&] {
        for_each_with_handle(pool, [&](handle<std::uint64_t> handle, std::uint64_t& object) {
            wrong += pool.find(handle) == &object ? 0 : 1;
            ++visited;
        });
    });
    EXPECT_EQ(visited, 10'000);
    EXPECT_EQ(wrong, 0);
}

TEST_P(for_each_test, const_pools_are_read) {
    fill(pool, 1000);
    const numbers& view = pool;
    std::atomic<std::uint64_t> sum = 0;
    arena.execute([&] {
        for_each(view, [&](auto& object) {
            static_assert(std::is_same_v<decltype(object), const std::uint64_t&>);
            sum += object;
        });
        for_each_with_handle(view, [&](handle<std::uint64_t> handle, const std::uint64_t& object) {
            sum += view.at(handle) - object;
        });
    });
    EXPECT_EQ(sum, 499'500U);
    EXPECT_EQ(reduce(
                  view, std::uint64_t{0},
                  [](std::uint64_t all, const std::uint64_t& one) { return all + one; }, std::plus()),
              499'500U);
}

TEST_P(for_each_test, bodies_may_erase_and_create) {
    fill(pool, 5000);
    arena.execute([&] {
        for_each_with_handle(pool, [&](handle<std::uint64_t> handle, std::uint64_t& object) {
            if (object % 2 == 0) {
                EXPECT_TRUE(pool.erase(handle));
            } else {
                pool.emplace(object + 100'000);
            }
        });
    });
    EXPECT_EQ(pool.items().size(), 5000U) << "until the next compaction";
    std::atomic<int> stale = 0;
    for_each_with_handle(
        pool, [&](handle<std::uint64_t> handle, std::uint64_t&) { stale += pool.contains(handle) ? 0 : 1; });
    EXPECT_EQ(stale, 2500);
    pool.compact();
    EXPECT_EQ(pool.items().size(), 5000U);
    EXPECT_EQ(std::ranges::count_if(pool.items(), [](std::uint64_t each) { return each > 100'000; }), 2500);
}

TEST_P(for_each_test, an_exception_of_a_body_comes_out) {
    fill(pool, 10'000);
    tbb::affinity_partitioner placement;
    const auto fails = [](std::uint64_t object) {
        if (object == 7777) {
            throw std::runtime_error("the body fails");
        }
    };
    arena.execute([&] {
        EXPECT_THROW(for_each(pool, [&](std::uint64_t& object) { fails(object); }), std::runtime_error);
        EXPECT_THROW(
            for_each(pool, [&](std::uint64_t& object) { fails(object); }, placement), std::runtime_error);
        EXPECT_THROW(
            for_each_with_handle(pool, [&](handle<std::uint64_t>, std::uint64_t& object) { fails(object); }),
            std::runtime_error);
        const auto add = [&](std::uint64_t sum, std::uint64_t object) {
            fails(object);
            return sum;
        };
        EXPECT_THROW(reduce(pool, std::uint64_t{0}, add, std::plus()), std::runtime_error);
    });
    EXPECT_EQ(pool.compact().size, 10'000U);
}

// ---- Cache lines

template <class T>
class line_range_test : public testing::Test {};
using sizes =
    testing::Types<sized<1>, std::uint64_t, sized<24>, sized<64>, sized<100>, sized<128>, over_aligned<64>>;
TYPED_TEST_SUITE(line_range_test, sizes);

TYPED_TEST(line_range_test, groups_of_objects_fill_cache_lines) {
    constexpr std::size_t group = detail::objects_in_whole_lines<TypeParam>();
    static_assert(group * sizeof(TypeParam) % cache_line == 0);
    for (std::size_t fewer = 1; fewer != group; ++fewer) {
        ASSERT_NE(fewer * sizeof(TypeParam) % cache_line, 0U) << "a smaller group would do";
    }
}

TYPED_TEST(line_range_test, parts_cover_all_objects_once) {
    constexpr std::size_t group = detail::objects_in_whole_lines<TypeParam>();
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, group, group + 1, 10 * group - 1}) {
        const detail::line_range<TypeParam> range(count);
        std::size_t next = 0;
        for (std::size_t i = range.groups.begin(); i != range.groups.end(); ++i) {
            const tbb::blocked_range<std::size_t> part(i, i + 1);
            EXPECT_EQ(range.first(part), next);
            next = range.last(part);
        }
        EXPECT_EQ(next, count);
    }
}

TYPED_TEST(line_range_test, each_part_begins_at_a_line_of_its_own) {
    constexpr std::size_t count = 3000;
    pool<TypeParam> pool({.name = "lines", .capacity = count});
    for (std::uint64_t i = 0; i != count; ++i) {
        pool.emplace(static_cast<TypeParam>(i));
    }
    pool.compact();
    const detail::line_range<TypeParam> range(count);
    ASSERT_GT(range.groups.size(), 1U);
    for (std::size_t i = range.groups.begin(); i != range.groups.end(); ++i) {
        const auto* const first = pool.items().data() + range.first({i, i + 1});
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(first) % cache_line, 0U) << "part " << i;
    }
}

// ---- Sums

TEST(reduce_test, of_an_empty_pool_is_the_identity) {
    numbers pool({.name = "numbers", .capacity = 10});
    EXPECT_EQ(reduce(
                  pool, std::uint64_t{42}, [](std::uint64_t sum, std::uint64_t each) { return sum + each; },
                  std::plus()),
              42U);
}

TEST(reduce_test, sums_up_all_objects) {
    numbers pool({.name = "numbers", .capacity = 100'000});
    fill(pool, 100'000);
    const auto add = [](std::uint64_t sum, std::uint64_t each) { return sum + each; };
    EXPECT_EQ(reduce(pool, std::uint64_t{0}, add, std::plus()), 99'999ULL * 100'000 / 2);
    const auto greatest = [](std::uint64_t one, std::uint64_t other) { return std::max(one, other); };
    EXPECT_EQ(reduce(pool, std::uint64_t{0}, greatest, greatest), 99'999U);
}

TEST(reduce_test, is_the_same_in_each_run_also_for_floating_point_numbers) {
    pool<double> pool({.name = "doubles", .capacity = 100'000});
    for (int i = 1; i <= 100'000; ++i) {
        pool.emplace((i % 2 == 0 ? 1e10 : -1.0) / i); // any other order rounds in another way
    }
    pool.compact();
    const auto add = [](double sum, double each) { return sum + each; };
    const auto sum_in = [&](int threads) {
        return tbb::task_arena(threads).execute([&] { return reduce(pool, 0.0, add, std::plus()); });
    };
    const double expected = sum_in(1);
    double backwards = 0;
    for (std::size_t i = pool.items().size(); i-- != 0;) {
        backwards += pool.items()[i];
    }
    EXPECT_NE(backwards, expected) << "the numbers prove nothing";
    for (int run = 0; run != 20; ++run) {
        for (const int threads : {1, 2, 4}) {
            ASSERT_EQ(sum_in(threads), expected) << threads << " threads";
        }
    }
}

} // namespace
} // namespace handlepool::test
