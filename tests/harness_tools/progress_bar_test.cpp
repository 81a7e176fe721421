// SPDX-License-Identifier: MIT

// The line that shows how far a run has come.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/progress_bar.hpp>

#include <cstddef>
#include <string>

namespace handlepool::support {
namespace {

using testing::EndsWith;
using testing::StartsWith;

constexpr progress_state half_done{
    .label = "scenario 3 of 13, race-erase", .part = 0.5, .rate = 12.34e6, .seconds_left = 17};

TEST(progress_line, has_all_where_there_is_room) {
    EXPECT_EQ(progress_line(half_done, 200),
              "scenario 3 of 13, race-erase [###############               ]  50 %  "
              "12.34 million operations/s  17 s left");
}

TEST(progress_line, is_shorter_than_any_terminal_is_wide) {
    for (std::size_t columns = 1; columns <= 200; ++columns) {
        for (const double part : {0.0, 0.5, 1.0, 1.5}) {
            progress_state state = half_done;
            state.part = part;
            EXPECT_LT(progress_line(state, columns).size(), columns);
            state.seconds_left = 1e7;
            state.rate = 1e12;
            EXPECT_LT(progress_line(state, columns).size(), columns);
        }
    }
    EXPECT_EQ(progress_line(half_done, 0), "");
}

TEST(progress_line, of_80_columns_has_a_bar_a_rate_and_a_time) {
    const std::string line = progress_line(half_done, 80);
    EXPECT_THAT(line, StartsWith("scenario 3 of 13, race-erase [####"));
    EXPECT_THAT(line, EndsWith("]  50 %  12.34 M/s  17 s left"));
}

TEST(progress_line, has_no_rate_where_nothing_is_counted) {
    progress_state state = half_done;
    state.rate.reset();
    EXPECT_EQ(progress_line(state, 200),
              "scenario 3 of 13, race-erase [###############               ]  50 %  17 s left");
}

TEST(progress_line, of_few_columns_leaves_out_what_matters_least) {
    EXPECT_EQ(progress_line(half_done, 50), "scenario 3 of 13, race-erase  50 %  17 s left");
    EXPECT_EQ(progress_line(half_done, 40), "scenario 3 of 13, race-erase  50 %");
    EXPECT_EQ(progress_line(half_done, 20), " 50 % scenario 3 of");
}

} // namespace
} // namespace handlepool::support
