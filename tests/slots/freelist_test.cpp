// SPDX-License-Identifier: MIT
#include <handlepool/detail/slots/freelist_counters.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/freelist_suite.hpp>
#include <tests/support/repetitions.hpp>
#include <tests/support/threads.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// What all freelists share is in tests/support/freelist_suite.hpp; the native one is put through it here,
// that of Boost in boost_freelist_test.cpp.
namespace handlepool::test {
namespace {

using namespace detail;
using native = testing::Types<fifo_freelist<default_policy>, fifo_freelist<support::tiny_policy<1>>,
                              fifo_freelist<support::tiny_policy<2>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(fifo, freelist_suite, native);

static_assert(freelist<fifo_freelist<default_policy>> && freelist<fifo_freelist<support::tiny_policy<1>>>);
static_assert(!freelist<std::vector<std::uint32_t>>);

TEST(reuse_distance_test, keeps_the_smallest) {
    reuse_distance<default_policy> distance;
    EXPECT_EQ(distance.get(), std::numeric_limits<std::size_t>::max());
    distance.observe(7);
    EXPECT_EQ(distance.get(), 7U);
    distance.observe(9);
    EXPECT_EQ(distance.get(), 7U);
    for (const std::size_t next : {3U, 3U, 5U}) {
        distance.observe(next);
        EXPECT_EQ(distance.get(), 3U);
    }
    distance.observe(0);
    EXPECT_EQ(distance.get(), 0U);
}

TEST(reuse_distance_test, keeps_the_smallest_of_all_threads) {
    for (int round = 0, rounds = support::repetitions(50); round != rounds; ++round) {
        reuse_distance<default_policy> distance;
        in_threads(4, [&distance](std::size_t thread) {
            for (std::size_t i = 1000; i != 0; --i) {
                distance.observe(i * 4 + thread);
            }
        });
        ASSERT_EQ(distance.get(), 4U);
    }
}

} // namespace
} // namespace handlepool::test
