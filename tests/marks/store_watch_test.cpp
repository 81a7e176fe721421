// SPDX-License-Identifier: MIT

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/marks/store_watch.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/policy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(store_watch, notes_only_while_it_is_on) {
    detail::store_watch<default_policy> watch;
    watch.note_revoked(detail::slot_index{3});
    watch.note_moved(detail::dense_position{4});
    watch.note_reset();
    EXPECT_EQ(watch.memory(), memory_use());
    watch.turn_on("test", 100, 100);
    const auto told = [&watch] {
        std::vector<std::size_t> numbers;
        watch.end_frame([&](const detail::frame_notes<default_policy>& notes) {
            notes.revoked.for_each([&](std::size_t slot) { numbers.push_back(slot); });
            notes.moved.for_each([&](std::size_t position) { numbers.push_back(1'000 + position); });
            if (notes.reset) {
                numbers.push_back(2'000);
            }
        });
        return numbers;
    };
    EXPECT_THAT(told(), IsEmpty());
    watch.note_revoked(detail::slot_index{3});
    watch.note_moved(detail::dense_position{4});
    watch.note_moved(detail::dense_position{99});
    watch.note_reset();
    EXPECT_THAT(told(), ElementsAre(3, 1'004, 1'099, 2'000));
    EXPECT_THAT(told(), IsEmpty());
    watch.turn_off();
    watch.note_revoked(detail::slot_index{3});
    watch.turn_on("test", 100, 100);
    EXPECT_THAT(told(), IsEmpty());
}

TEST(store_watch, what_was_noted_before_it_was_turned_off_is_not_told_of) {
    detail::store_watch<default_policy> watch;
    watch.turn_on("watch", 100, 100);
    watch.note_reset();
    watch.note_moved(detail::dense_position{1});
    watch.note_revoked(detail::slot_index{2});
    watch.turn_off();
    watch.turn_on("watch", 100, 100);
    watch.end_frame([](const detail::frame_notes<default_policy>& notes) {
        EXPECT_FALSE(notes.reset);
        EXPECT_TRUE(notes.moved.empty());
        EXPECT_TRUE(notes.revoked.empty());
    });
}

TEST(store_watch, knows_slots_and_positions_of_what_ends_in_a_frame) {
    detail::store_watch<default_policy> watch;
    watch.note_ended(detail::slot_index{1});
    watch.note_ended(detail::slot_index{2}, 3);
    watch.note_positions(6);
    watch.turn_on("watch", 100, 50);
    const auto ends_frame_with = [&watch](const std::vector<std::size_t>& ended,
                                          const std::vector<std::size_t>& vacated, std::size_t ended_count,
                                          std::size_t fewest_positions) {
        watch.end_frame([&](const detail::frame_notes<default_policy>& notes) {
            std::vector<std::size_t> slots;
            notes.ended.for_each([&slots](std::size_t slot) { slots.push_back(slot); });
            EXPECT_EQ(slots, ended);
            std::vector<std::size_t> positions;
            notes.vacated.for_each([&positions](std::size_t position) { positions.push_back(position); });
            EXPECT_EQ(positions, vacated);
            EXPECT_EQ(notes.ended_count, ended_count);
            EXPECT_EQ(notes.fewest_positions, fewest_positions);
        });
    };
    ends_frame_with({}, {}, 0, 50);
    watch.note_ended(detail::slot_index{99}, 49);
    watch.note_ended(detail::slot_index{7});
    watch.note_ended(detail::slot_index{99}, 2);
    EXPECT_TRUE(watch.has_ended(detail::slot_index{99}));
    EXPECT_FALSE(watch.has_ended(detail::slot_index{98}));
    watch.note_positions(20);
    watch.note_positions(30);
    ends_frame_with({7, 99}, {2, 49}, 3, 20);
    EXPECT_FALSE(watch.has_ended(detail::slot_index{99}));
    ends_frame_with({}, {}, 0, 50);
    watch.note_ended(detail::slot_index{1}, 1);
    watch.note_positions(0);
    watch.turn_off();
    watch.turn_on("watch", 100, 50);
    ends_frame_with({}, {}, 0, 50);
}

} // namespace
} // namespace handlepool::test
