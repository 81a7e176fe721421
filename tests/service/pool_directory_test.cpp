// SPDX-License-Identifier: MIT
#include <handlepool/detail/service/pool_directory.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/pool_limits.hpp>
#include <handlepool/pool_options.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class pool_directory_test : public testing::Test {
protected:
    using directory_type = pool_directory<default_layout, default_policy>;
    using pool_type = pool<int>;

    static limits_by_pool limits() {
        limits_by_pool limits;
        limits["ships"].capacity = 50;
        limits["rockets"].capacity = 60;
        return limits;
    }
    pool_type& add(const char* name) {
        std::string error;
        pool_type* const added = pools.try_add<pool_type>(error, name, {.capacity = 10});
        return added != nullptr ? *added : throw std::invalid_argument(error);
    }
    std::string refusal_of(const char* name, const pool_options& options) {
        std::string error;
        EXPECT_EQ(pools.try_add<pool_type>(error, name, options), nullptr);
        return error;
    }

    directory_type pools{limits()};
};

TEST_F(pool_directory_test, finds_pools_by_name_and_by_the_id_in_a_handle) {
    pool_type& ships = add("ships");
    pool_type& rocks = add("rocks");
    EXPECT_EQ(pools.size(), 2U);
    EXPECT_EQ(pools.find("ships")->as<pool_type>(), &ships);
    EXPECT_EQ(pools.find("rocks")->as<pool_type>(), &rocks);
    EXPECT_EQ(pools.find("birds"), nullptr);
    EXPECT_EQ(pools.route(ships.emplace(1))->as<pool_type>(), &ships);
    EXPECT_EQ(pools.route(rocks.emplace(2))->as<pool_type>(), &rocks);
}

TEST_F(pool_directory_test, says_why_it_refuses_a_pool) {
    add("ships");
    EXPECT_THAT(refusal_of("ships", {}), HasSubstr("has a pool 'ships' already"));
    EXPECT_THAT(refusal_of("", {}), HasSubstr("needs a name"));
    EXPECT_THAT(refusal_of("rocks", {.capacity = 0}), HasSubstr("capacity"));
    EXPECT_EQ(pools.size(), 1U);
}

/// Of a pool that calls a function while it is being made, when other threads may do anything.
struct slow_policy : default_policy {
    static inline std::function<void()> meanwhile;
    static std::uint64_t numbering() {
        if (const auto call = std::exchange(meanwhile, {})) {
            call();
        }
        return default_policy::numbering();
    }
};

TEST_F(pool_directory_test, refuses_a_name_that_was_taken_while_the_pool_was_made) {
    pool_type* first = nullptr;
    std::string error;
    slow_policy::meanwhile = [&] { first = &add("ships"); };
    EXPECT_EQ((pools.try_add<pool<int, with_policy<slow_policy>>>(error, "ships", {.capacity = 10})),
              nullptr);
    EXPECT_EQ(error, "handlepool: the service has a pool 'ships' already");
    EXPECT_EQ(pools.size(), 1U);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(pools.find("ships")->as<pool_type>(), first);
    pools.begin_frame(true);
    EXPECT_THAT(pools.of_frame(), ElementsAre(pools.find("ships")));
    EXPECT_TRUE(pools.remove("ships"));
    EXPECT_EQ(pools.size(), 0U);
}

TEST_F(pool_directory_test, limits_override_the_options_and_are_unused_until_a_pool_has_their_name) {
    EXPECT_THAT(pools.unused_limits(), ElementsAre("rockets", "ships"));
    EXPECT_EQ(add("ships").capacity(), 50U);
    EXPECT_EQ(add("rocks").capacity(), 10U);
    pools.remove("ships");
    EXPECT_THAT(pools.unused_limits(), ElementsAre("rockets"));
}

TEST_F(pool_directory_test, a_removed_pool_is_not_found_but_lives_until_it_is_ended) {
    pool_type& ships = add("ships");
    const auto handle = ships.emplace(1);
    EXPECT_TRUE(pools.remove("ships"));
    EXPECT_FALSE(pools.remove("ships"));
    EXPECT_EQ(pools.find("ships"), nullptr);
    EXPECT_EQ(pools.route(handle), nullptr);
    EXPECT_TRUE(ships.contains(handle));

    EXPECT_THAT(pools.ending(), IsEmpty());
    pools.begin_frame(true);
    ASSERT_EQ(pools.ending().size(), 1U);
    EXPECT_EQ(pools.ending().front().pool->as<pool_type>(), &ships);
    EXPECT_TRUE(ships.contains(handle));
}

TEST_F(pool_directory_test, a_frame_has_the_pools_in_the_order_in_which_they_were_added) {
    add("ships");
    add("rocks");
    add("birds");
    EXPECT_THAT(pools.of_frame(), IsEmpty());
    pools.begin_frame(true);
    pools.remove("rocks"); // this frame still has it
    EXPECT_EQ(pools.of_frame().size(), 3U);
    pools.begin_frame(true);
    EXPECT_THAT(pools.of_frame(), ElementsAre(pools.find("ships"), pools.find("birds")));
}

TEST_F(pool_directory_test, a_view_keeps_its_pools_and_sees_no_others) {
    add("ships");
    std::optional<directory_type::view> before(pools);
    auto* const ships = pools.find("ships");
    pools.remove("ships");
    add("rocks");
    const directory_type::view after(pools);
    pools.begin_frame(true);
    EXPECT_THAT(pools.ending(), IsEmpty());
    EXPECT_THAT(before->pools(), ElementsAre(ships));
    EXPECT_THAT(after.pools(), ElementsAre(pools.find("rocks")));
    before.reset();
    pools.begin_frame(true);
    EXPECT_EQ(pools.ending().size(), 1U);
}

TEST_F(pool_directory_test, destroys_all_that_it_has) {
    add("ending");
    pools.remove("ending");
    pools.begin_frame(true);
    add("removed");
    pools.remove("removed");
    add("ships");
    pools.destroy_all();
    EXPECT_THAT(pools.ending(), IsEmpty());
    EXPECT_EQ(pools.size(), 0U);
    EXPECT_EQ(pools.find("ships"), nullptr);
}

} // namespace
} // namespace handlepool::test
