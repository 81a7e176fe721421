// SPDX-License-Identifier: MIT
#include <handlepool/detail/recorder/waiting_ends.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::test {
namespace {

using namespace detail;

using ends_type = waiting_ends<default_policy>;

constexpr slot_index one_slot{5};
constexpr slot_index other_slot{6};

life_record end_of(std::uint32_t generation, std::uint64_t who) {
    return {.generation = generation, .event = life_event::erased, .frame = 9, .who = caller{who}};
}

/// What take() hands over, at most one.
template <class Policy>
std::optional<life_record> taken(waiting_ends<Policy>& ends, std::size_t position, slot_index slot) {
    std::optional<life_record> found;
    ends.take(position, [&](slot_index of, const life_record& end) {
        EXPECT_EQ(of, slot);
        EXPECT_FALSE(found);
        found = end;
    });
    return found;
}

TEST(waiting_ends, are_found_until_they_are_taken) {
    ends_type ends("ends", 10);
    EXPECT_FALSE(ends.find(one_slot, 1));
    ends.put(3, one_slot, end_of(1, 11));
    ends.put(4, other_slot, end_of(1, 12));
    ends.put(9, one_slot, end_of(0xffff'ffff, 13));
    EXPECT_EQ(ends.find(one_slot, 1)->who, caller{11});
    EXPECT_EQ(ends.find(one_slot, 1)->event, life_event::erased);
    EXPECT_EQ(ends.find(one_slot, 1)->frame, 9U);
    EXPECT_EQ(ends.find(other_slot, 1)->who, caller{12});
    EXPECT_EQ(ends.find(one_slot, 0xffff'ffff)->who, caller{13});
    EXPECT_FALSE(ends.find(one_slot, 3));
    const auto end = taken(ends, 3, one_slot);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->generation, 1U);
    EXPECT_EQ(end->event, life_event::erased);
    EXPECT_EQ(end->frame, 9U);
    EXPECT_EQ(end->who, caller{11});
    EXPECT_FALSE(ends.find(one_slot, 1));
    EXPECT_FALSE(taken(ends, 3, one_slot));
    EXPECT_FALSE(taken(ends, 0, one_slot));
    EXPECT_TRUE(ends.find(other_slot, 1));
}

TEST(waiting_ends, are_visited_without_being_taken) {
    ends_type ends("ends", 10);
    ends.put(3, one_slot, end_of(7, 11));
    int visits = 0;
    for (const std::size_t position : {2U, 3U, 3U}) {
        ends.visit(position, [&](slot_index slot, std::uint32_t generation) {
            EXPECT_EQ(slot, one_slot);
            EXPECT_EQ(generation, 7U);
            ++visits;
        });
    }
    EXPECT_EQ(visits, 2);
    EXPECT_TRUE(ends.find(one_slot, 7));
}

TEST(waiting_ends, are_found_at_any_position) {
    constexpr std::size_t positions = 100'000;
    ends_type ends("ends", positions);
    for (const std::size_t position : {0U, 4095U, 4096U, 8191U, 50'000U, 99'999U}) {
        const auto generation = static_cast<std::uint32_t>(2 * position + 1);
        ends.put(position, one_slot, end_of(generation, position));
        ASSERT_TRUE(ends.find(one_slot, generation)) << position;
        EXPECT_EQ(ends.find(one_slot, generation)->who, caller{position});
    }
}

TEST(waiting_ends, a_reset_forgets_them) {
    ends_type ends("ends", 10'000);
    ends.put(9'000, one_slot, end_of(1, 11));
    ends.reset();
    EXPECT_FALSE(ends.find(one_slot, 1));
    EXPECT_FALSE(taken(ends, 9'000, one_slot));
    ends.put(9'000, one_slot, end_of(3, 12));
    EXPECT_TRUE(ends.find(one_slot, 3));
}

// A thread that puts the next end where one was taken is stopped between any two words: both lives have one
// generation, so that only the whole tells them apart.
TEST(waiting_ends, what_is_found_is_whole) {
    struct scene {
        scene() {
            ends.put(0, one_slot, end_of(1, 11));
            EXPECT_TRUE(taken(ends, 0, one_slot));
        }
        waiting_ends<support::step_policy> ends{"ends", 1};
    };
    stop_at_every_access<scene>([](scene& now) { now.ends.put(0, other_slot, end_of(1, 12)); },
                                [](scene& now) {
                                    EXPECT_FALSE(now.ends.find(one_slot, 1));
                                    if (const auto found = now.ends.find(other_slot, 1)) {
                                        EXPECT_EQ(found->who, caller{12});
                                    }
                                },
                                [](scene& now) { EXPECT_TRUE(now.ends.find(other_slot, 1)); });
}
// And one that looks, while one end after the other comes to the same position.
TEST(waiting_ends, an_end_that_is_read_is_none_of_another_life) {
    struct scene {
        scene() { ends.put(0, one_slot, end_of(1, 11)); }
        waiting_ends<support::step_policy> ends{"ends", 1};
        std::optional<life_record> found;
    };
    stop_at_every_access<scene>([](scene& now) { now.found = now.ends.find(one_slot, 1); },
                                [](scene& now) {
                                    EXPECT_TRUE(taken(now.ends, 0, one_slot));
                                    now.ends.put(0, other_slot, end_of(1, 12));
                                },
                                [](scene& now) {
                                    if (now.found) {
                                        EXPECT_EQ(now.found->who, caller{11});
                                    }
                                });
}

// Two threads put ends beyond those before.
TEST(waiting_ends, that_come_at_the_same_time_are_both_found) {
    struct scene {
        waiting_ends<support::step_policy> ends{"ends", 20'000};
    };
    stop_at_every_access<scene>([](scene& now) { now.ends.put(4'096, one_slot, end_of(1, 11)); },
                                [](scene& now) { now.ends.put(9'000, other_slot, end_of(1, 12)); },
                                [](scene& now) {
                                    EXPECT_TRUE(now.ends.find(one_slot, 1));
                                    EXPECT_TRUE(now.ends.find(other_slot, 1));
                                });
}

TEST(waiting_ends, of_threads_are_whole) {
    ends_type ends("ends", 2);
    constexpr std::uint32_t lives = 200'000;
    std::atomic<bool> is_over{false};
    in_threads(2, [&](std::size_t thread) {
        if (thread == 0) { // erases, and compacts
            for (std::uint32_t i = 0; i != lives; ++i) {
                ends.put(i % 2, slot_index{i % 8}, end_of(1, i % 8));
                ASSERT_EQ(taken(ends, i % 2, slot_index{i % 8})->who, caller{i % 8});
            }
            is_over = true;
            return;
        }
        while (!is_over) {
            for (std::uint32_t slot = 0; slot != 8; ++slot) {
                if (const auto found = ends.find(slot_index{slot}, 1)) {
                    ASSERT_EQ(found->who, caller{slot});
                }
            }
        }
    });
}

} // namespace
} // namespace handlepool::test
