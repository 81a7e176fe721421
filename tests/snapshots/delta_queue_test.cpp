// SPDX-License-Identifier: MIT

// Deltas on their way to a publisher's thread, and how many of them may wait.

#include <handlepool/detail/followers/delta_queue.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace handlepool::test {
namespace {

detail::published_delta delta_of(std::uint64_t frame, std::size_t bytes) {
    return {.before = frame - 1, .frame = frame, .bytes = std::vector<std::byte>(bytes)};
}

TEST(delta_queue, takes_deltas_as_long_as_not_too_many_bytes_wait) {
    detail::delta_queue queue;
    EXPECT_TRUE(queue.try_push(delta_of(1, 60), 100));
    EXPECT_FALSE(queue.try_push(delta_of(2, 41), 100));
    EXPECT_EQ(queue.bytes(), 60U);
    EXPECT_TRUE(queue.try_push(delta_of(2, 40), 100));
    EXPECT_FALSE(queue.try_push(delta_of(3, 1), 100));
    EXPECT_TRUE(queue.try_push(delta_of(3, 0), 100));
    queue.pop();
    EXPECT_EQ(queue.bytes(), 40U);
    EXPECT_EQ(queue.front()->frame, 2U);
    EXPECT_TRUE(queue.try_push(delta_of(4, 60), 100));
    EXPECT_TRUE(queue.try_push(delta_of(5, 1), std::numeric_limits<std::size_t>::max()));
    EXPECT_FALSE(queue.try_push(delta_of(6, 1), 100)); // of which more wait already
}

TEST(delta_queue, takes_the_first_delta_however_large) {
    detail::delta_queue queue;
    EXPECT_TRUE(queue.try_push(delta_of(1, 1'000), 0));
    EXPECT_FALSE(queue.try_push(delta_of(2, 1), 0));
    queue.pop();
    EXPECT_EQ(queue.front(), nullptr);
    EXPECT_TRUE(queue.try_push(delta_of(2, 1), 0));
}

} // namespace
} // namespace handlepool::test
