// SPDX-License-Identifier: MIT

// Rows of columns in a service, beside objects.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct position {
    float x = 0;
};
struct health {
    int points = 0;
};
using mover = columns<position, health>;

class service_columns : public testing::Test {
protected:
    service service_;
    pool<mover>& movers_ = service_.add<pool<mover>>("movers", {.capacity = 100});
    pool<int>& ints_ = service_.add<pool<int>>("ints", {.capacity = 100});
};

TEST_F(service_columns, rows_are_found_by_untyped_handles) {
    const any_handle one = movers_.emplace(position{3}, health{5});
    const any_handle number = ints_.emplace(7);
    EXPECT_TRUE(service_.contains(one));
    const row_pointer<position, health> found = service_.find<mover>(one);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->get<health>().points, 5);
    found->get<position>().x += 1;
    EXPECT_EQ(movers_.at(service_.handle_cast<mover>(one)).get<position>().x, 4);
    static_assert(std::is_same_v<decltype(service_.find<const mover>(one)->get<health>()), const health&>);
    EXPECT_EQ(service_.find<const mover>(one), std::as_const(movers_).find(service_.handle_cast<mover>(one)));

    EXPECT_EQ(service_.find<mover>(number), nullptr);
    EXPECT_EQ(service_.find<int>(one), nullptr);
    EXPECT_EQ((service_.find<columns<health, position>>(one)), nullptr);
    EXPECT_EQ(*service_.find<int>(number), 7);
    EXPECT_EQ(service_.find_pool<pool<mover>>("movers"), &movers_);
    EXPECT_EQ(service_.find_pool<pool<position>>("movers"), nullptr);
    EXPECT_TRUE(service_.erase(one));
    EXPECT_FALSE(service_.find<mover>(one));
}

TEST_F(service_columns, a_frame_compacts_rows_and_objects) {
    const auto one = movers_.emplace(health{1});
    const auto other = movers_.emplace(health{2});
    ints_.emplace(3);
    EXPECT_EQ(service_.compact().born, 3U);
    service_.erase(one);
    EXPECT_EQ(service_.compact().removed, 1U);
    EXPECT_EQ(movers_.items<health>().size(), 1U);
    EXPECT_EQ(service_.find<mover>(other)->get<health>().points, 2);
}

TEST_F(service_columns, a_row_is_pinned) {
    const auto one = movers_.emplace(health{1});
    {
        const auto pinned = service_.pin<mover>(one);
        ASSERT_TRUE(pinned);
        EXPECT_EQ(pinned->get<health>().points, 1);
        EXPECT_FALSE(service_.try_compact());
    }
    EXPECT_TRUE(service_.try_pin<const mover>(one));
    EXPECT_FALSE(service_.try_pin<int>(one));
    EXPECT_TRUE(service_.try_compact());
}

TEST_F(service_columns, any_pool_names_a_row_by_its_first_element) {
    any_pool<>& any = *service_.find_any_pool("movers");
    const auto one = movers_.emplace(position{3}, health{5});
    EXPECT_EQ(any.find(one), &movers_.at(one).get<position>());
    EXPECT_EQ(any.find<mover>(one), movers_.find(one));
    EXPECT_FALSE(any.find<position>(one));
    EXPECT_TRUE(any.holds<mover>());
    EXPECT_FALSE(any.holds<position>());
    std::vector<float> seen;
    const scoped_hook hook = any.on_destroy([&](any_handle handle, void* first) {
        EXPECT_EQ(handle, any_handle(one));
        seen.push_back(static_cast<position*>(first)->x);
    });
    any.erase(one);
    service_.compact();
    EXPECT_THAT(seen, ElementsAre(3));
    EXPECT_EQ(any.find(one), nullptr);
    EXPECT_EQ(any.find<mover>(one), nullptr);
}

TEST_F(service_columns, a_pool_of_rows_may_have_a_policy_of_its_own) {
    auto& tiny = service_.add<pool<mover, with_policy<support::tiny_policy<2>>>>("tiny", {.capacity = 10});
    const any_handle one = tiny.emplace(health{9});
    ASSERT_TRUE(service_.find<mover>(one));
    EXPECT_EQ(service_.find<mover>(one)->get<health>().points, 9);
}

TEST_F(service_columns, views_and_hooks_include_rows) {
    int dead = 0;
    movers_.on_destroy([&](auto, auto row) { dead += row.template get<health>().points; }).release();
    const auto one = movers_.emplace(health{5});
    EXPECT_THAT(service_.describe(one), HasSubstr("movers #"));
    EXPECT_EQ(service_.leaks().size(), 1U);
    EXPECT_EQ(service_.stats().pools.size(), 2U);
    EXPECT_TRUE(service_.remove_pool("movers"));
    EXPECT_FALSE(service_.find<mover>(one));
    service_.compact();
    EXPECT_EQ(dead, 5);
}

TEST_F(service_columns, rows_may_come_after_their_handles_and_get_new_ones) {
    const auto reserved = movers_.reserve_handle();
    const auto dropped = movers_.reserve_handle();
    EXPECT_EQ(service_.state(reserved), handle_state::reserved);
    EXPECT_TRUE(service_.cancel(dropped));
    EXPECT_FALSE(service_.cancel(dropped));
    EXPECT_EQ(service_.state(dropped), handle_state::stale);
    movers_.fulfill(reserved, health{4});
    const any_handle next = service_.revoke(reserved);
    EXPECT_EQ(service_.state(reserved), handle_state::stale);
    EXPECT_EQ(service_.state(next), handle_state::alive);
    EXPECT_EQ(service_.find<mover>(next)->get<health>().points, 4);
}

} // namespace
} // namespace handlepool::test
