// SPDX-License-Identifier: MIT

// What the page knows of pools and programs that end while it looks.

#include "remade_pools.hpp"

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <tests/support/deadline.hpp>
#include <tools/inspect/page/pool_watch.hpp>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <thread>

namespace handlepool::inspect_tool {
namespace {

using nlohmann::json;

// What the counters of another pool say, which was made in its place, is not told of a pool.
TEST(pool_watch, tells_of_no_pool_what_is_of_another) {
    const remade_pools remaking;
    pool_watch watch(inspected_program::in_process(getpid()));
    std::map<std::uint64_t, std::uint64_t> created; // by the pool's key
    std::uint64_t next_look = 0;
    // For longer where the machine is so busy that few were made meanwhile.
    const test::deadline late;
    for (int i = 0; i < 100 || (created.size() <= 100 && !HasFailure() && !late.has_passed()); ++i) {
        for (int j = 0; j != 10; ++j) { // telling takes longer
            watch.look();
        }
        const json state = watch.state_since(next_look);
        next_look = state["look"];
        for (const json& look : state["looks"]) {
            for (const json& row : look["numbers"]) { // the key, the living, the created
                EXPECT_LE(row[1], 500U);
                EXPECT_GE(row[2], created[row[0]]);
                created[row[0]] = row[2];
            }
        }
    }
    EXPECT_GT(created.size(), 100U);
}

TEST(pool_watch, notices_a_program_that_becomes_another_one) {
    int told[2];
    int asked[2];
    ASSERT_EQ(pipe(told), 0);
    ASSERT_EQ(pipe(asked), 0);
    const pid_t process = fork();
    char byte = 0;
    if (process == 0) {
        const pool<int> ships({.name = "ships", .capacity = 100});
        static_cast<void>(!write(told[1], &byte, 1));
        static_cast<void>(!read(asked[0], &byte, 1));
        execlp("sleep", "sleep", "60", nullptr);
        _exit(1);
    }
    ASSERT_EQ(read(told[0], &byte, 1), 1);
    pool_watch watch(inspected_program::in_process(process));
    watch.look();
    EXPECT_EQ(watch.state_since(0)["has_ended"], false);
    EXPECT_EQ(watch.state_since(0)["pools"].size(), 1U);
    ASSERT_EQ(write(asked[1], &byte, 1), 1);
    while (program_name(process) != "sleep") {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    watch.look();
    const json state = watch.state_since(0);
    EXPECT_EQ(state["has_ended"], true);
    ASSERT_EQ(state["pools"].size(), 1U); // what was known of it
    EXPECT_EQ(state["pools"][0]["name"], "ships");
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    for (const int each : {told[0], told[1], asked[0], asked[1]}) {
        close(each);
    }
}

} // namespace
} // namespace handlepool::inspect_tool
