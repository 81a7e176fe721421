// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tools/inspect/inspected_gate.hpp>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace handlepool::inspect_tool {

inline inspected_program this_program() {
    const auto found = inspected_program::in_process(getpid());
    EXPECT_EQ(found.size(), 1U);
    return found.front();
}

/// Of a pool or a service of this process with guards whose makers are recorded: `gate()` tells who holds
/// them and who waits.
template <class Owner, class Gate>
void expect_guards_to_be_told(Owner& owner, Gate gate) {
    const inspected_program program = this_program();
    EXPECT_EQ(gate().is, gate_view::state::open);
    EXPECT_THAT(gate().guards, testing::IsEmpty());
    std::atomic<bool> has_waited{false};
    std::jthread compacting;
    {
        const scoped_task task("draw");
        auto first = owner.access();
        const auto second = owner.try_access();
        compacting = std::jthread([&] {
            owner.compact();
            has_waited = true;
        });
        gate_view now = gate();
        while (now.nanoseconds < 10'000'000) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            now = gate();
        }
        EXPECT_FALSE(has_waited);
        EXPECT_EQ(now.is, gate_view::state::waiting);
        EXPECT_FALSE(now.is_exclusive);
        EXPECT_NE(now.thread, "");
        ASSERT_EQ(now.guards.size(), 1U);
        EXPECT_EQ(now.guards[0].count, 2U);
        EXPECT_EQ(now.guards[0].thread, program.thread_with_number(now.guards[0].thread_number));
        EXPECT_NE(now.guards[0].thread, "");
        ASSERT_TRUE(now.guards[0].nanoseconds);
        EXPECT_GE(*now.guards[0].nanoseconds, now.nanoseconds); // it was first
        ASSERT_TRUE(now.guards[0].maker);
        EXPECT_EQ(now.guards[0].maker->task, "draw");
        EXPECT_TRUE(now.guards[0].maker->site);
        first.reset();
        EXPECT_EQ(gate().guards[0].count, 1U);
    }
    compacting.join();
    EXPECT_TRUE(has_waited);
    EXPECT_EQ(gate().is, gate_view::state::open);
    EXPECT_EQ(gate().nanoseconds, 0U);
    EXPECT_THAT(gate().guards, testing::IsEmpty());
}

} // namespace handlepool::inspect_tool
