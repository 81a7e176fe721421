// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

namespace handlepool::test {
namespace {

using namespace detail;
using history_type = slot_history<default_policy>;

TEST(slot_history_test, tells_how_many_frames_ago_the_last_object_of_a_slot_was_born_and_died) {
    history_type history("history", 10, 10);
    EXPECT_TRUE(history.remembers());
    history.born(slot_index{3}, 7, 100);
    EXPECT_EQ(history.frames_since_birth(slot_index{3}, 7, 100), 0U);
    EXPECT_EQ(history.frames_since_birth(slot_index{3}, 7, 105), 5U);
    EXPECT_EQ(history.frames_since_death(slot_index{3}, 7, 105), std::nullopt) << "it lives";
    history.died(slot_index{3}, 7, 110);
    EXPECT_EQ(history.frames_since_birth(slot_index{3}, 7, 111), 11U);
    EXPECT_EQ(history.frames_since_death(slot_index{3}, 7, 111), 1U);
}

TEST(slot_history_test, knows_nothing_of_other_slots_and_other_objects) {
    history_type history("history", 10, 10);
    history.born(slot_index{3}, 7, 100);
    history.died(slot_index{3}, 7, 110);
    for (const std::uint32_t tag : {5U, 6U, 8U, 9U, 0x8000'0007U}) {
        EXPECT_EQ(history.frames_since_birth(slot_index{3}, tag, 120), std::nullopt) << tag;
        EXPECT_EQ(history.frames_since_death(slot_index{3}, tag, 120), std::nullopt) << tag;
    }
    EXPECT_EQ(history.frames_since_birth(slot_index{2}, 7, 120), std::nullopt);
    EXPECT_EQ(history.frames_since_death(slot_index{4}, 7, 120), std::nullopt);
}

TEST(slot_history_test, the_slots_next_object_takes_the_place_of_the_last_one) {
    history_type history("history", 10, 10);
    history.born(slot_index{3}, 7, 100);
    history.died(slot_index{3}, 7, 110);
    history.born(slot_index{3}, 9, 115);
    EXPECT_EQ(history.frames_since_birth(slot_index{3}, 7, 120), std::nullopt);
    EXPECT_EQ(history.frames_since_death(slot_index{3}, 7, 120), 10U) << "until the next one dies too";
    EXPECT_EQ(history.frames_since_birth(slot_index{3}, 9, 120), 5U);
    EXPECT_EQ(history.frames_since_death(slot_index{3}, 9, 120), std::nullopt);
    history.died(slot_index{3}, 9, 120);
    EXPECT_EQ(history.frames_since_death(slot_index{3}, 7, 120), std::nullopt);
}

TEST(slot_history_test, all_bits_of_a_tag_count) {
    history_type history("history", 1, 1);
    for (unsigned bit = 0; bit != 32; ++bit) {
        const std::uint32_t tag = 0x5555'5555U ^ (1U << bit);
        history.born(slot_index{0}, tag, 1);
        EXPECT_EQ(history.frames_since_birth(slot_index{0}, tag, 2), 1U);
        history.died(slot_index{0}, tag, 1);
        EXPECT_EQ(history.frames_since_birth(slot_index{0}, 0x5555'5555U, 2), std::nullopt) << "bit " << bit;
        EXPECT_EQ(history.frames_since_death(slot_index{0}, 0x5555'5555U, 2), std::nullopt) << "bit " << bit;
    }
}

TEST(slot_history_test, an_object_that_was_revoked_keeps_its_age) {
    history_type history("history", 1, 1);
    history.born(slot_index{0}, 7, 100);
    EXPECT_EQ(history.frames_since_birth(slot_index{0}, 11, 105), 5U);
    EXPECT_EQ(history.frames_since_birth(slot_index{0}, 5, 105), std::nullopt) << "that was another";
    history.died(slot_index{0}, 11, 110);
    EXPECT_EQ(history.frames_since_birth(slot_index{0}, 11, 112), 12U);
    EXPECT_EQ(history.frames_since_death(slot_index{0}, 11, 112), 2U);
    EXPECT_EQ(history.frames_since_death(slot_index{0}, 7, 112), std::nullopt);
    EXPECT_EQ(history.frames_since_birth(slot_index{0}, 13, 112), std::nullopt) << "the slot's next object";
}

TEST(slot_history_test, frames_count_over_the_end_of_their_32_bits) {
    history_type history("history", 1, 1);
    for (const std::uint64_t frame : {0xffff'fffeULL, 0xffff'ffffULL, 0x1'0000'0000ULL, ~0ULL - 20}) {
        history.born(slot_index{0}, 7, frame);
        history.died(slot_index{0}, 7, frame + 3);
        EXPECT_EQ(history.frames_since_birth(slot_index{0}, 7, frame + 5), 5U);
        EXPECT_EQ(history.frames_since_death(slot_index{0}, 7, frame + 5), 2U);
    }
}

TEST(slot_history_test, what_is_taken_back_is_forgotten_from_a_tag_on) {
    const auto taken_back_to = [](std::uint32_t tag) {
        history_type history("history", 10, 10);
        history.born(slot_index{3}, 7, 100);
        history.died(slot_index{3}, 7, 110);
        history.take_back(slot_index{3}, tag);
        return std::pair(history.frames_since_birth(slot_index{3}, 7, 120),
                         history.frames_since_death(slot_index{3}, 7, 120));
    };
    using stamps = std::pair<std::optional<std::uint32_t>, std::optional<std::uint32_t>>;
    EXPECT_EQ(taken_back_to(8), stamps(20, 10)) << "it is dead still";
    EXPECT_EQ(taken_back_to(7), stamps(std::nullopt, std::nullopt)) << "it lives again";
    EXPECT_EQ(taken_back_to(0), stamps(std::nullopt, std::nullopt));

    history_type overwritten("history", 10, 10);
    overwritten.born(slot_index{3}, 5, 80);
    overwritten.died(slot_index{3}, 5, 90);
    overwritten.died(slot_index{3}, 7, 91); // before a compaction had taken it
    overwritten.take_back(slot_index{3}, 6);
    EXPECT_EQ(overwritten.frames_since_birth(slot_index{3}, 7, 120), std::nullopt) << "that was another";

    history_type none("history", 0, 0);
    none.take_back(slot_index{3}, 7);
    EXPECT_FALSE(none.remembers());
}

TEST(slot_history_test, discard_forgets_all) {
    history_type history("history", 10, 10);
    history.born(slot_index{3}, 7, 100);
    history.died(slot_index{3}, 7, 110);
    history.reset();
    EXPECT_EQ(history.frames_since_birth(slot_index{3}, 7, 120), std::nullopt);
    EXPECT_EQ(history.frames_since_death(slot_index{3}, 7, 120), std::nullopt);
    EXPECT_TRUE(history.remembers());
}

TEST(slot_history_test, without_slots_it_remembers_nothing_and_costs_nothing) {
    history_type history("history", 0, 0);
    EXPECT_FALSE(history.remembers());
    history.born(slot_index{3}, 7, 100); // any slot will do
    history.died(slot_index{3}, 7, 100);
    history.reset();
    EXPECT_EQ(history.memory().reserved, 0U);
    EXPECT_EQ(history.memory().resident, 0U);
}

TEST(slot_history_test, costs_sixteen_bytes_a_slot_that_was_used) {
    history_type history("history", 1'000'000, 0);
    EXPECT_GE(history.memory().reserved, 16'000'000U);
    EXPECT_LT(history.memory().reserved, 17'000'000U);
    EXPECT_EQ(history.memory().resident, 0U);
    history.born(slot_index{500'000}, 7, 1);
    EXPECT_GT(history.memory().resident, 0U);
    EXPECT_LT(history.memory().resident, 1'000'000U);
}

TEST(slot_history_test, readers_see_whole_stamps_while_it_is_written) {
    history_type history("history", 1, 1);
    // Tag and frame go together: a torn one would show another number of frames.
    std::atomic<bool> done = false;
    std::uint64_t wrong = 0;
    std::jthread reader([&] {
        while (!done.load()) {
            for (const std::uint32_t tag : {1U, 3U}) {
                wrong += history.frames_since_death(slot_index{0}, tag, 10).value_or(10 - tag) != 10 - tag
                             ? 1U
                             : 0U;
            }
            // Under the higher tag, the birth of either may be found: an object may have been revoked.
            wrong += history.frames_since_birth(slot_index{0}, 1, 10).value_or(9) != 9 ? 1U : 0U;
        }
    });
    for (int i = 0; i != 100'000; ++i) {
        const std::uint32_t tag = i % 2 == 0 ? 1 : 3;
        history.born(slot_index{0}, tag, tag);
        history.died(slot_index{0}, tag, tag);
    }
    done = true;
    reader.join();
    EXPECT_EQ(wrong, 0U);
}

} // namespace
} // namespace handlepool::test
