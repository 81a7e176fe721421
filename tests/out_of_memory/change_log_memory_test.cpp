// SPDX-License-Identifier: MIT

// A log of changes whose allocations fail: it is not attached, or loses a frame and knows the next one.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

class change_log_memory : public testing::TestWithParam<shortage> {};

TEST_P(change_log_memory, a_log_that_can_not_be_made_leaves_the_pool_as_it_was) {
    pool<int> numbers({.name = "numbers", .capacity = 100});
    numbers.emplace(1);
    std::size_t failures = 0;
    for (std::size_t allocation = 0;; ++allocation) {
        std::unique_ptr<change_log<pool<int>>> log;
        memory_shortage short_of(GetParam(), allocation);
        if (!short_of.hits([&] { log = std::make_unique<change_log<pool<int>>>(numbers); })) {
            break;
        }
        ++failures;
        numbers.compact();
        EXPECT_TRUE(numbers.idle());
    }
    EXPECT_GT(failures, 3U);
}

template <class Pool>
void lose_frames(shortage kind) {
    std::size_t lost = 0;
    for (std::size_t allocation = 0;; ++allocation) {
        Pool numbers({.name = "numbers", .capacity = 400, .reuse_delay = 0});
        using handle_type = typename Pool::handle_type;
        std::vector<handle_type> handles;
        numbers.emplace_n(100, std::back_inserter(handles), 1);
        numbers.compact();
        change_log<Pool> log(numbers, {.frames = 4, .check_marks = false}); // which allocates too
        for (std::size_t i = 0; i != 30; ++i) {
            numbers.erase(std::exchange(handles[3 * i], numbers.emplace(2)));
            handles[3 * i + 1] = numbers.revoke(handles[3 * i + 1]);
            log.mark(handles[3 * i + 2]);
        }
        const std::uint64_t seen = log.frame();
        memory_shortage short_of(kind, allocation);
        short_of.begin();
        numbers.compact();
        short_of.end();
        EXPECT_EQ(log.frame(), 1U);
        if (short_of.came()) {
            ++lost;
            EXPECT_FALSE(log.changes_since(seen));
            EXPECT_FALSE(log.upload_ranges(seen));
            EXPECT_EQ(log.oldest(), 1U);
        } else {
            EXPECT_EQ(log.changes_since(seen)->front().destroyed.size(), 30U);
            EXPECT_EQ(log.changes_since(seen)->front().renamed.size(), 30U);
        }
        // Who begins anew finds what there is, and the next frame is right.
        std::vector<handle_type> known;
        log.for_each_known([&](handle_type handle, std::size_t position) {
            EXPECT_EQ(log.position_of(handle), position);
            known.push_back(handle);
        });
        EXPECT_EQ(known.size(), 100U);
        numbers.erase(handles[1]);
        handles[4] = numbers.revoke(handles[4]);
        numbers.compact();
        const auto records = log.changes_since(1);
        ASSERT_TRUE(records);
        EXPECT_EQ(records->front().destroyed.size(), 1U);
        EXPECT_EQ(records->front().destroyed[0].handle, handles[1]);
        EXPECT_EQ(records->front().renamed.size(), 1U);
        EXPECT_EQ(records->front().born.size(), 0U);
        EXPECT_EQ(records->front().edited.size(), 0U);
        EXPECT_EQ(records->front().never_seen, 0U);
        EXPECT_EQ(records->front().size, 99U);
        if (!short_of.came()) {
            break;
        }
    }
    EXPECT_GT(lost, 2U); // a list for each of what comes
}

TEST_P(change_log_memory, a_frame_is_lost_and_the_next_is_right) {
    lose_frames<pool<int>>(GetParam());
    lose_frames<stable_pool<int>>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(memory, change_log_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
