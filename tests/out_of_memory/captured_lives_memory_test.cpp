// SPDX-License-Identifier: MIT

// Objects that can't be copied, which end or are captured while memory is short: one for which there is none
// is destroyed, and a restore that would need it is refused.

#include <handlepool/pool.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct counted_life {
    explicit counted_life(int number) : value(std::make_unique<int>(number)) { ++living; }
    counted_life(counted_life&&) noexcept = default;
    counted_life& operator=(counted_life&&) = delete;
    ~counted_life() { living -= value == nullptr ? 0 : 1; }
    static inline int living = 0;
    std::unique_ptr<int> value;
};

struct lives {
    using handle_type = handle<counted_life>;

    lives() {
        for (int i = 0; i != 10; ++i) {
            handles.push_back(objects.emplace(i));
        }
        ring.capture(1);
        for (std::size_t i = 0; i != 3; ++i) {
            objects.erase(handles[i]);
        }
    }
    std::vector<int> all() const {
        std::vector<int> seen;
        for (const counted_life& each : objects.items()) {
            seen.push_back(*each.value);
        }
        return seen;
    }

    pool<counted_life> objects{{.name = "lives", .capacity = 100}};
    change_log<pool<counted_life>> log{objects, {.frames = 4}};
    capture_ring<pool<counted_life>> ring{log, {.frames = 3}};
    std::vector<handle_type> handles;
};

class captured_lives_memory : public testing::TestWithParam<shortage> {};

TEST_P(captured_lives_memory, an_object_that_can_not_be_kept_ends_and_is_missed) {
    std::size_t lost_rounds = 0;
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        lives now;
        const std::vector<int> first{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        short_of.begin();
        now.objects.compact(); // ends three of them
        short_of.end();
        EXPECT_EQ(now.objects.size(), 7U);
        const bool lost = counted_life::living != 10;
        lost_rounds += lost ? 1 : 0;
        now.ring.capture(2);
        const std::vector<int> second = now.all();
        if (lost) {
            EXPECT_THROW(now.ring.restore(1), std::logic_error);
            EXPECT_EQ(now.ring.newest(), 2U);
            EXPECT_EQ(now.all(), second);
        } else {
            now.ring.restore(1);
            EXPECT_EQ(now.all(), first);
        }
    });
    EXPECT_GT(allocations, 1U);
    EXPECT_GT(lost_rounds, 0U);
    EXPECT_EQ(counted_life::living, 0);
}

TEST_P(captured_lives_memory, captures_and_restores_that_fail_leave_them) {
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        lives now;
        now.objects.compact();
        now.objects.emplace(10);
        now.objects.compact();
        const std::vector<int> second = now.all();
        const bool failed = short_of.interrupts([&] { now.ring.capture(2); });
        EXPECT_EQ(now.all(), second);
        EXPECT_EQ(now.ring.newest(), failed ? 1U : 2U);
        EXPECT_EQ(counted_life::living, 11);
        now.ring.restore(1);
        EXPECT_EQ(now.all(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
        EXPECT_EQ(counted_life::living, 10);
    });
    EXPECT_GT(allocations, 1U);
    const std::size_t restores = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        lives now;
        now.objects.compact();
        now.objects.emplace(10);
        now.ring.capture(2);
        const bool failed = short_of.interrupts([&] { now.ring.restore(1); });
        if (failed) {
            now.ring.restore(1);
        }
        EXPECT_EQ(now.all(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
        EXPECT_EQ(counted_life::living, 10);
    });
    EXPECT_GT(restores, 1U);
}

INSTANTIATE_TEST_SUITE_P(shortages, captured_lives_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
