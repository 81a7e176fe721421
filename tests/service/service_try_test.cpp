// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/timeline.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <system_error>

// What programs without exceptions call instead of functions that throw.
namespace handlepool::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct ship {
    explicit ship(int its_crew) : crew(its_crew) {}

    int crew;
};

constexpr raw_type type_of_three_bytes{.size = 3, .alignment = 1};

TEST(service_try_add, adds_a_pool) {
    service world;
    std::string error;
    pool<ship>* const ships = world.try_add<pool<ship>>("ships", {.capacity = 100}, error);
    ASSERT_NE(ships, nullptr);
    EXPECT_EQ(ships, world.find_pool<pool<ship>>("ships"));
    EXPECT_EQ(error, "");
    EXPECT_NE(world.try_add<raw_pool<>>("raw", {.capacity = 100}, error, type_of_three_bytes), nullptr);
    EXPECT_EQ(world.size(), 2U);
}

TEST(service_try_add, says_why_it_adds_none) {
    service world;
    std::string error;
    const pool_options small{.capacity = 100};
    EXPECT_EQ(world.try_add<pool<ship>>("", small, error), nullptr);
    EXPECT_EQ(error, "handlepool: a pool of a service needs a name");
    world.add<pool<ship>>("ships", small);
    EXPECT_EQ(world.try_add<pool<int>>("ships", small, error), nullptr);
    EXPECT_EQ(error, "handlepool: the service has a pool 'ships' already");
    EXPECT_EQ(world.try_add<pool<ship>>("rockets", {.capacity = 0}, error), nullptr);
    EXPECT_THAT(error, StartsWith("pool 'rockets': capacity = 0 is not allowed"));
    EXPECT_EQ(world.try_add<raw_pool<>>("raw", small, error, raw_type{.size = 0, .alignment = 1}), nullptr);
    EXPECT_THAT(error, StartsWith("pool 'raw': size of the type is 0"));
    EXPECT_EQ(world.size(), 1U);
}

TEST(service_try_add, looks_at_the_options_as_the_limits_change_them) {
    service world(
        {.limits = parse_pool_limits(R"({"pools": {"ships": {"max_threads": 1000000}}})", "limits")});
    std::string error;
    EXPECT_EQ(world.try_add<pool<ship>>("ships", {.capacity = 100}, error), nullptr);
    EXPECT_THAT(error, AllOf(HasSubstr("max_threads = 1000000"), HasSubstr("limits: pools.ships")));
    EXPECT_EQ(world.unused_limits().size(), 1U) << "no pool has taken them";
}

TEST(service_try_pin, is_empty_where_pin_would_wait_or_find_nothing) {
    int calls = 0; // these outlive the service, whose pools call their hooks at their end, too
    any_handle kept;
    service world;
    auto& ships = world.add<pool<ship>>("ships", {.capacity = 100});
    kept = ships.emplace(7);
    const any_handle erased = ships.emplace(8);
    ships.erase(handle<ship>::from_value(erased.value()));
    EXPECT_FALSE(world.try_pin<ship>(erased));
    EXPECT_FALSE(world.try_pin<int>(kept)) << "of another type";
    const scoped_hook hook = ships.on_destroy([&](auto, ship&) {
        ++calls;
        EXPECT_FALSE(world.try_pin<ship>(kept));
    });
    world.compact();
    EXPECT_EQ(calls, 1);
    const auto pinned = world.try_pin<ship>(kept);
    ASSERT_TRUE(pinned);
    EXPECT_EQ(pinned->crew, 7);
    EXPECT_FALSE(world.try_compact());
}

TEST(try_parse_pool_limits, returns_limits_or_says_why_not) {
    std::string error;
    const auto limits = try_parse_pool_limits(R"({"pools": {"ships": {"capacity": 7}}})", "limits", error);
    ASSERT_TRUE(limits);
    EXPECT_EQ(limits->at("ships").capacity, 7U);
    EXPECT_EQ(error, "");
    EXPECT_FALSE(try_parse_pool_limits(R"({"pools": 7})", "limits", error));
    EXPECT_EQ(error, "limits: pools: is 7, and must be an object");
    EXPECT_FALSE(try_parse_pool_limits("{", "limits", error));
    EXPECT_THAT(error, StartsWith("limits: is not JSON: "));
}

TEST(try_read_pool_limits, names_a_file_that_can_not_be_read) {
    std::string error;
    EXPECT_FALSE(try_read_pool_limits("/no/such/limits.json", error));
    EXPECT_THAT(error, AllOf(HasSubstr("/no/such/limits.json"), HasSubstr("No such file")));
}

TEST(timeline_try_save, returns_why_there_is_no_file) {
    const timeline records;
    EXPECT_EQ(records.try_save("/no/such/folder/timeline.json"),
              std::make_error_code(std::errc::no_such_file_or_directory));
    const auto file = std::filesystem::path(testing::TempDir()) / "handlepool try_save.json";
    EXPECT_EQ(records.try_save(file), std::error_code());
    EXPECT_TRUE(std::filesystem::remove(file));
}

} // namespace
} // namespace handlepool::test
