// SPDX-License-Identifier: MIT

// The program of the guide that needs a server of Redis.

#include "redis_server.hpp"

#include <gtest/gtest.h>
#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>

#include <string>

namespace handlepool::test {
namespace {

TEST(redis_guide_program, goes_on_in_another_server) {
    const redis_server server;
    const auto run =
        support::run_program({support::paths::redis_guide_program, std::to_string(server.address().port)});
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.output, "oak, frame 3: 4 trees, 4\n"
                          "ash, frame 6: 7 trees, 7\n"
                          "the same handle: 1\n");
    EXPECT_EQ(run.errors, "");
}

} // namespace
} // namespace handlepool::test
