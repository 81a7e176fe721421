// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/frame_list.hpp>
#include <handlepool/detail/memory/high_water_mark.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

namespace handlepool::test {
namespace {

using memory_set = detail::high_water_mark<default_policy>;
using cold_range = memory_set::range;

constexpr std::size_t spare_elements = 10;

cold_range end_frame(memory_set& memory, std::size_t used) {
    memory.touch(used);
    return memory.end_frame(used);
}

TEST(high_water_mark_test, what_one_frame_needs_goes_at_once) {
    memory_set memory(spare_elements);
    EXPECT_EQ(end_frame(memory, 1000), (cold_range{spare_elements, 1000}));
    EXPECT_EQ(memory.touched(), spare_elements);
}

TEST(high_water_mark_test, what_two_frames_need_stays) {
    memory_set memory(spare_elements);
    end_frame(memory, 1000);
    for (int i = 0; i != 20; ++i) {
        const cold_range cold = end_frame(memory, i % 4 == 0 ? 1000 : 3);
        EXPECT_EQ(cold.first, cold.last) << i;
    }
    EXPECT_EQ(memory.touched(), 1000U);
}

TEST(high_water_mark_test, frames_that_differ_little_give_nothing_back) {
    memory_set memory(spare_elements);
    end_frame(memory, 900);
    end_frame(memory, 900);
    for (std::size_t i = 0; i != 100; ++i) {
        const cold_range cold = end_frame(memory, 900 + 7 * i % 200);
        EXPECT_EQ(cold.first, cold.last) << i;
    }
}

TEST(high_water_mark_test, what_no_frame_needs_any_more_goes_in_small_steps) {
    memory_set memory(spare_elements);
    end_frame(memory, 1000);
    end_frame(memory, 1000);
    std::size_t frames = 0;
    for (; memory.touched() != spare_elements; ++frames) {
        ASSERT_LT(frames, 1000U);
        const cold_range cold = end_frame(memory, 0);
        EXPECT_LE(cold.last - cold.first, spare_elements);
    }
    EXPECT_GE(frames, 990 / spare_elements);
}

TEST(high_water_mark_test, what_is_discarded_is_touched_no_more) {
    memory_set memory(spare_elements);
    memory.touch(1000);
    memory.discarded();
    EXPECT_EQ(memory.touched(), 0U);
    const cold_range cold = memory.end_frame(1000);
    EXPECT_EQ(cold.first, cold.last);
}

TEST(high_water_mark_test, random_frames_never_lose_what_two_of_the_last_eight_used) {
    random_source random;
    memory_set memory(spare_elements);
    std::deque<std::size_t> last;
    std::size_t touched = 0;
    for (int i = 0; i != 10'000; ++i) {
        const std::size_t used = random.below(random.one_in(10) ? 10'000 : 100);
        last.push_back(used);
        if (last.size() > 8) {
            last.pop_front();
        }
        touched = std::max(touched, used);
        const cold_range cold = end_frame(memory, used);
        ASSERT_EQ(cold.last, touched);
        ASSERT_LE(cold.first, cold.last);
        ASSERT_LE(cold.last - cold.first, std::max(used, spare_elements));
        touched = cold.first;
        ASSERT_EQ(memory.touched(), touched);

        std::deque<std::size_t> sorted = last;
        std::ranges::sort(sorted, std::greater());
        if (cold.first != cold.last) {
            ASSERT_EQ(cold.first % spare_elements, 0U);
            ASSERT_GE(cold.first, sorted.size() < 2 ? spare_elements : sorted[1]);
        }
    }
}

TEST(frame_list_test, keeps_what_it_is_filled_with_until_the_frame_ends) {
    detail::frame_list<default_policy, std::uint64_t> list("list", 1'000'000);
    for (int frame = 0; frame != 3; ++frame) {
        for (std::size_t i = 0; i != 1'000'000; ++i) {
            list[i] = i;
        }
        list.filled(1'000'000);
        list.filled(1);
        for (std::size_t i = 0; i < 1'000'000; i += 1000) {
            ASSERT_EQ(list[i], i);
        }
        const std::size_t before = list.memory().resident;
        EXPECT_GE(before, 8'000'000U);
        list.end_frame();
        if (frame == 0) {
            EXPECT_LE(list.memory().resident, 100'000U) << "of one frame";
        } else {
            EXPECT_EQ(list.memory().resident, before) << "of two frames";
        }
    }
    list.discard();
    EXPECT_EQ(list.memory().resident, 0U);
}

} // namespace
} // namespace handlepool::test
