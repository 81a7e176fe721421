// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/marks/store_watch.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>

namespace handlepool::detail {
namespace {

TEST(store_watch_test, what_was_noted_before_it_was_turned_off_is_not_told_of) {
    store_watch<default_policy> watch;
    watch.turn_on("watch", 100, 100);
    watch.note_reset();
    watch.note_moved(dense_position{1});
    watch.note_revoked(slot_index{2});
    watch.turn_off();
    watch.turn_on("watch", 100, 100);
    watch.end_frame([](const frame_notes<default_policy>& notes) {
        EXPECT_FALSE(notes.reset);
        EXPECT_TRUE(notes.moved.empty());
        EXPECT_TRUE(notes.revoked.empty());
    });
}

} // namespace
} // namespace handlepool::detail
