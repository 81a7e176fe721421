// SPDX-License-Identifier: MIT

// The neighbours' users see what goes wrong there.

#include "watched/neighbours.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct two_neighbours : testing::Test {
    two_neighbours() {
        for (const char* const name : {"one", "other"}) {
            others.pools.push_back(
                &world.add<neighbours<default_layout>::pool_type>(name, {.capacity = 100, .reuse_delay = 0}));
        }
    }

    neighbours<default_layout> others;
    service world;
    neighbour_user<default_layout> user{world, others, 0};
    findings counts;
};

TEST_F(two_neighbours, are_left_as_they_were_found) {
    for (int i = 0; i != 1000; ++i) {
        user.visit(counts);
        if (i % 10 == 0) {
            world.compact();
        }
    }
    EXPECT_GT(user.created(), 900U);
    EXPECT_EQ(others.objects.deaths() + others.pools[0]->items().size() + others.pools[1]->items().size(),
              others.pools[0]->stats().created + others.pools[1]->stats().created -
                  others.pools[0]->stats().newborn - others.pools[1]->stats().newborn);
    user.leave_all(counts);
    world.compact();
    EXPECT_EQ(others.objects.deaths(), user.created());
    EXPECT_EQ(counts.violations, 0U);
    EXPECT_EQ(counts.operations, 0U) << "they are counted apart";
    EXPECT_GT(counts.at_neighbours, 0U);
}

TEST_F(two_neighbours, an_object_that_somebody_else_erased_is_told) {
    user.visit(counts);
    world.compact();
    for (auto* const pool : others.pools) {
        pool->clear();
    }
    user.leave_all(counts);
    EXPECT_EQ(counts.violations, 1U);
    EXPECT_THAT(counts.messages, ElementsAre(HasSubstr("of a living object, was lost")));
}

TEST_F(two_neighbours, a_full_pool_is_left_alone_until_the_next_compaction) {
    for (int i = 0; i != 1000; ++i) {
        user.visit(counts);
    }
    EXPECT_LT(user.created(), 1000U);
    EXPECT_EQ(counts.violations, 0U);
}

} // namespace
} // namespace handlepool::stress
