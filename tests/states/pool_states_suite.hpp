// SPDX-License-Identifier: MIT
#pragma once

#include "pool_account.hpp"
#include "pool_states.hpp"

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace handlepool::test {

/// Pools that have been used in every way, and are then reset, cleared, shrunk and ended.
template <class Kind>
class pool_states : public testing::Test {
public:
    static constexpr std::size_t extractions = Kind::is_watched ? 5 : 0; // each time

    pool_states() { taken.reserve(100); } // sinks must not throw

    helpers others;
    std::vector<int> taken;
};

TYPED_TEST_SUITE_P(pool_states);

TYPED_TEST_P(pool_states, are_as_new_after_a_reset) {
    const std::vector<std::string> as_new = account_of_new_pool<TypeParam>(this->others);
    EXPECT_EQ(tracked::alive(), 0);
    pool_in_use<TypeParam> in;
    for (int round = 0; round != 3; ++round) {
        bring_off_defaults(in, this->others, this->taken);
        const std::size_t waiting = this->taken.size();
        in.pool().reset();
        EXPECT_EQ(this->taken.size(), waiting + this->extractions);
        EXPECT_EQ(tracked::alive(), 0);
        expect_as_new(in, this->others, as_new);
        in.pool().reset();
        expect_to_serve_two_threads(in, this->others);
        if (round == 1) {
            in.pool().reset();
            in.pool().shrink_to_fit();
        }
    }
    in.pool().reset();
    expect_as_new(in, this->others, as_new);
}

TYPED_TEST_P(pool_states, have_each_place_once_after_a_reset) {
    pool_in_use<TypeParam> in;
    bring_off_defaults(in, this->others, this->taken);
    in.pool().reset();
    std::set<const void*> places;
    for (int i = 0; i != 2900; ++i) {
        const auto* const made = in.find(in.make_one(i));
        ASSERT_EQ(made->number(), i);
        EXPECT_TRUE(places.insert(made).second) << "of number " << i;
    }
    const std::vector<int> living = in.living_numbers();
    in.pool().compact();
    EXPECT_EQ(in.living_numbers(), living);
}

TYPED_TEST_P(pool_states, keep_their_objects_when_they_shrink) {
    pool_in_use<TypeParam> in;
    for (int round = 0; round != 3; ++round) {
        bring_off_defaults(in, this->others, this->taken);
        const auto living = in.living_numbers();
        in.pool().shrink_to_fit();
        EXPECT_EQ(in.living_numbers(), living);
        expect_to_serve_two_threads(in, this->others);
        EXPECT_EQ(in.living_numbers(), living);
        in.pool().shrink_to_fit();
        expect_to_serve_two_threads(in, this->others);
        in.pool().clear();
        in.pool().compact();
        EXPECT_EQ(in.pool().size(), 0U);
        in.pool().shrink_to_fit();
        EXPECT_LE(tracked::alive(), TypeParam::most_kept);
    }
}

TYPED_TEST_P(pool_states, go_on_after_clear_and_compact) {
    pool_in_use<TypeParam> in;
    for (int round = 0; round != 3; ++round) {
        bring_off_defaults(in, this->others, this->taken);
        in.pool().clear();
        if (round != 1) {
            in.pool().compact();
        }
        expect_to_serve_two_threads(in, this->others);
        EXPECT_EQ(in.pool().size(), 0U);
        EXPECT_TRUE(in.numbers().empty());
    }
    EXPECT_EQ(this->taken.size(), 3 * this->extractions);
}

TYPED_TEST_P(pool_states, end_with_all_that_they_have) {
    {
        pool_in_use<TypeParam> in;
        bring_off_defaults(in, this->others, this->taken);
        EXPECT_TRUE(this->taken.empty());
    }
    EXPECT_EQ(this->taken.size(), this->extractions);
    EXPECT_EQ(tracked::alive(), 0);
}

TYPED_TEST_P(pool_states, are_as_new_after_a_reset_whatever_memory_was_short_for) {
    const std::vector<std::string> as_new = account_of_new_pool<TypeParam>(this->others);
    // Each of the first allocations, which are those of hooks and of the first objects, and some of the rest.
    for (std::size_t allocation = 0;; allocation += allocation < 20 ? 1 : 97) {
        pool_in_use<TypeParam> in;
        memory_shortage when(
            allocation % 2 == 0 ? shortage::of_one_allocation : shortage::from_one_allocation_on, allocation);
        this->taken.clear();
        when.begin();
        bring_off_defaults(in, this->others, this->taken);
        when.end();
        if (!when.came()) {
            EXPECT_GT(allocation, 5U);
            return;
        }
        in.pool().reset();
        EXPECT_EQ(tracked::alive(), 0);
        expect_as_new(in, this->others, as_new);
    }
}

REGISTER_TYPED_TEST_SUITE_P(pool_states, are_as_new_after_a_reset, have_each_place_once_after_a_reset,
                            keep_their_objects_when_they_shrink, go_on_after_clear_and_compact,
                            end_with_all_that_they_have,
                            are_as_new_after_a_reset_whatever_memory_was_short_for);

} // namespace handlepool::test
