// SPDX-License-Identifier: MIT

// Who keeps compactions away, as it is read of the memory of this process: of services, which have gates of
// their own. inspected_pool_test has those of pools.

#include "told_guards.hpp"

#include <handlepool/call_site.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/threads.hpp>
#include <tools/inspect/report.hpp>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct ship {
    int hull = 0;
};

std::vector<std::uint64_t> numbers_of_services() {
    std::vector<std::uint64_t> numbers;
    for (const service_report& each : services_of(this_program())) {
        numbers.push_back(each.number);
    }
    return numbers;
}

/// Of the only service.
gate_view gate() {
    const std::vector<service_report> services = services_of(this_program());
    EXPECT_EQ(services.size(), 1U);
    return services.empty() ? gate_view() : services.front().gate;
}

TEST(inspected_gate, services_are_listed_while_they_live) {
    EXPECT_THAT(numbers_of_services(), IsEmpty());
    std::optional<service> first(std::in_place);
    const auto of_first = numbers_of_services();
    ASSERT_EQ(of_first.size(), 1U);
    const std::uint64_t number = of_first.front();
    std::optional<service> second(std::in_place);
    std::optional<service> third(std::in_place);
    EXPECT_THAT(numbers_of_services(), ElementsAre(number, number + 1, number + 2));
    second.reset();
    EXPECT_THAT(numbers_of_services(), ElementsAre(number, number + 2));
    second.emplace(); // in the same memory, perhaps
    EXPECT_THAT(numbers_of_services(), ElementsAre(number, number + 2, number + 3));
    third.reset();
    first.reset();
    second.reset();
    EXPECT_THAT(numbers_of_services(), IsEmpty());
}

TEST(inspected_gate, tells_who_holds_guards_of_a_service_and_who_waits) {
    service all;
    all.add<pool<ship>>("ships", {.capacity = 100, .record_lives = 1});
    expect_guards_to_be_told(all, gate);
}

TEST(inspected_gate, tells_who_has_pinned_an_object_by_the_service) {
    service all;
    auto& ships = all.add<pool<ship>>("ships", {.capacity = 100, .record_lives = 1});
    const handle<ship> one = ships.emplace();
    for (const bool waits : {true, false}) {
        const auto pinned = waits ? all.pin<ship>(one) : all.try_pin<ship>(one);
        EXPECT_TRUE(pinned);
        const gate_view now = gate();
        ASSERT_EQ(now.guards.size(), 1U);
        ASSERT_TRUE(now.guards[0].maker);
        EXPECT_TRUE(now.guards[0].maker->site);
    }
    EXPECT_THAT(gate().guards, IsEmpty());
}

TEST(inspected_gate, tells_of_exclusive_access_to_a_service) {
    service all;
    all.add<pool<ship>>("ships", {.capacity = 100});
    {
        const auto alone = all.exclusive_access();
        EXPECT_EQ(gate().is, gate_view::state::closed);
        EXPECT_TRUE(gate().is_exclusive);
        EXPECT_NE(gate().thread, "");
    }
    EXPECT_EQ(gate().is, gate_view::state::open);
}

// Services come and go while they are listed: what is told of is one that lived then.
TEST(inspected_gate, services_come_and_go_while_they_are_listed) {
    const service kept;
    const std::uint64_t number = numbers_of_services().at(0);
    test::in_threads(2, [&](std::size_t thread) {
        for (int i = 0; i != 200; ++i) {
            if (thread == 0) {
                service brief;
                const auto guard = brief.access();
                std::this_thread::yield();
            } else {
                const auto now = services_of(this_program());
                ASSERT_GE(now.size(), 1U);
                ASSERT_LE(now.size(), 2U);
                ASSERT_EQ(now[0].number, number);
                ASSERT_THAT(now[0].gate.guards, IsEmpty());
            }
        }
    });
}

} // namespace
} // namespace handlepool::inspect_tool
