// SPDX-License-Identifier: MIT
#include <handlepool/detail/slots/freelist_counters.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

using indices = std::vector<std::uint32_t>;

/// Counters, and a list that makes up what was freed: the first is 1000.
struct counted_list {
    explicit counted_list(freelist_options options) : counters(options) {}

    indices claim(std::size_t wanted, std::size_t in_use_limit) {
        const auto seen = counters.see(wanted, in_use_limit);
        EXPECT_TRUE(seen.freed_count == 0 || seen.fresh_count == 0) << "of one kind at a time";
        indices out(seen.freed_count + seen.fresh_count);
        if (seen.freed_count != 0) {
            while (!counters.try_take_freed(seen, seen.freed_count)) { // it may fail without a reason
            }
            for (std::size_t i = 0; i != out.size(); ++i) {
                out[i] = static_cast<std::uint32_t>(1000 + seen.head + i);
            }
            won += seen.freed_count;
        } else if (seen.fresh_count != 0) {
            while (!counters.try_take_fresh(seen, out.data())) {
            }
        }
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

TEST(freelist_counters_test, a_claim_that_was_overtaken_takes_nothing) {
    counted_list list({.index_limit = 10, .waiting_limit = 10, .reuse_delay = 1});
    const auto fresh = list.counters.see(3, 10);
    EXPECT_EQ(list.claim(2, 10), (indices{0, 1}));
    indices out(3, 77);
    EXPECT_FALSE(list.counters.try_take_fresh(fresh, out.data()));
    EXPECT_EQ(out, indices(3, 77));
    EXPECT_EQ(list.counters.fresh(), 2U);

    list.claim(4, 10);
    list.counters.publish(4);
    const auto freed = list.counters.see(2, 10);
    EXPECT_EQ(list.claim(1, 10), indices{1000});
    EXPECT_FALSE(list.counters.try_take_freed(freed, 2));
    EXPECT_EQ(list.counters.claimed(), 1U);
    EXPECT_EQ(list.counters.smallest_reuse_distance(), 3U);
}

TEST(freelist_counters_test, a_claim_may_take_fewer_than_it_has_seen) {
    counted_list list({.index_limit = 10, .waiting_limit = 10, .reuse_delay = 0});
    list.claim(6, 10);
    list.counters.publish(5);
    const auto seen = list.counters.see(4, 10);
    EXPECT_EQ(seen.freed_count, 4U);
    EXPECT_EQ(seen.waiting, 5U);
    while (!list.counters.try_take_freed(seen, 2)) {
    }
    EXPECT_EQ(list.counters.claimed(), 2U);
    EXPECT_EQ(list.counters.waiting(), 3U);
    EXPECT_EQ(list.counters.smallest_reuse_distance(), 3U);
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

} // namespace
} // namespace handlepool::test
