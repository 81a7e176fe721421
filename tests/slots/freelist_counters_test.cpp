// SPDX-License-Identifier: MIT
#include <handlepool/detail/slots/freelist_counters.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace handlepool::test {

using namespace detail;

namespace {

constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max();

using indices = std::vector<std::uint32_t>;

/// Counters, and a list that makes up what was freed: the first is 1000.
struct counted_list {
    explicit counted_list(freelist_options options) : counters(options) {}

    indices claim(std::size_t wanted, std::size_t in_use_limit, std::size_t tries = no_end) {
        indices out(wanted);
        const auto look = [&](std::uint64_t head, std::size_t most) {
            for (std::size_t i = 0; i != most; ++i) {
                out[i] = static_cast<std::uint32_t>(1000 + head + i);
            }
            return most;
        };
        out.resize(counters.claim(out.data(), wanted, in_use_limit, tries, look,
                                  [&](std::size_t count) { won += count; }));
        return out;
    }

    freelist_counters<default_policy> counters;
    std::size_t won = 0;
};

TEST(freelist_counters_test, fresh_ones_go_out_until_none_is_left) {
    counted_list list({.index_limit = 5, .waiting_limit = 5, .reuse_delay = 0});
    EXPECT_EQ(list.claim(3, 100), (indices{0, 1, 2}));
    EXPECT_EQ(list.counters.fresh(), 3U);
    EXPECT_EQ(list.counters.in_use(), 3U);
    EXPECT_EQ(list.claim(3, 100), (indices{3, 4}));
    EXPECT_EQ(list.claim(3, 100), indices{});
    EXPECT_EQ(list.won, 0U) << "of freed ones";
}

TEST(freelist_counters_test, freed_ones_go_out_first_beyond_the_reuse_delay) {
    counted_list list({.index_limit = 10, .waiting_limit = 10, .reuse_delay = 2});
    list.claim(6, 100);
    list.counters.publish(2);
    EXPECT_EQ(list.counters.waiting(), 2U);
    EXPECT_EQ(list.claim(1, 100), indices{6}) << "two must wait";
    list.counters.publish(5);
    EXPECT_EQ(list.claim(10, 100), (indices{1000, 1001, 1002}));
    EXPECT_EQ(list.won, 3U);
    EXPECT_EQ(list.counters.claimed(), 3U);
    EXPECT_EQ(list.counters.smallest_reuse_distance(), 2U);
    EXPECT_EQ(list.claim(10, 100), (indices{7, 8, 9}));
    EXPECT_EQ(list.claim(10, 100), indices{}) << "two wait for ever";
}

TEST(freelist_counters_test, no_more_are_in_use_than_the_limit) {
    counted_list list({.index_limit = 10, .waiting_limit = 10, .reuse_delay = 0});
    EXPECT_EQ(list.claim(10, 4).size(), 4U);
    EXPECT_EQ(list.claim(1, 4), indices{});
    list.counters.publish(3);
    EXPECT_EQ(list.counters.in_use(), 1U);
    EXPECT_EQ(list.claim(10, 3).size(), 2U);
    EXPECT_EQ(list.claim(10, 3), indices{});
    EXPECT_EQ(list.claim(10, 0), indices{});
}

TEST(freelist_counters_test, without_a_try_nothing_goes_out) {
    counted_list list({.index_limit = 10, .waiting_limit = 10, .reuse_delay = 0});
    EXPECT_EQ(list.claim(1, 10, 0), indices{});
    EXPECT_EQ(list.counters.fresh(), 0U);
}

TEST(freelist_counters_test, start_anywhere) {
    counted_list list({.index_limit = 10, .waiting_limit = 10, .reuse_delay = 0});
    constexpr std::uint64_t late = std::uint64_t{1} << 40;
    list.counters.set(7, late);
    EXPECT_EQ(list.counters.in_use(), 7U);
    EXPECT_EQ(list.counters.waiting(), 0U);
    list.counters.publish(late + 2);
    EXPECT_EQ(list.claim(5, 10).size(), 2U);
    EXPECT_EQ(list.counters.claimed(), late + 2);
    EXPECT_EQ(list.claim(5, 100), (indices{7, 8, 9}));
}

TEST(reuse_distance_test, keeps_the_smallest) {
    reuse_distance<default_policy> distance;
    EXPECT_EQ(distance.get(), no_end);
    for (const std::size_t next : {7U, 9U, 3U, 3U, 5U}) {
        distance.observe(next);
    }
    EXPECT_EQ(distance.get(), 3U);
}

} // namespace
} // namespace handlepool::test
