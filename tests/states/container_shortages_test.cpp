// SPDX-License-Identifier: MIT

// Containers of handles, each of whose members has another value than its default, while each allocation of
// what is done to them fails in turn; and then used.

#include "container_kinds.hpp"

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>
#include <tests/support/made_up.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool::test {
namespace {

/// Makes a full container, and calls `change(container, fleet)` while each of its allocations fails: when
/// that throws, or is done, `expect(container, fleet, done)`. Returns how many allocations there are.
template <class Container, class Change, class Expect>
std::size_t with_full_container_in_need(Change change, Expect expect) {
    std::size_t most = 0;
    for (const shortage kind : {shortage::of_one_allocation, shortage::from_one_allocation_on}) {
        most = with_each_allocation_failing(kind, [&](memory_shortage& when) {
            fleet in;
            auto container = full_container<Container>(in, in.alive);
            bool done = true;
            when.begin();
            try {
                change(container, in);
            } catch (const std::bad_alloc&) {
                done = false;
            }
            when.end();
            EXPECT_TRUE(done || when.came());
            expect(container, in, done);
        });
    }
    return most;
}

template <class Container>
class container_shortages : public testing::Test {};

using container_types = testing::Types<handle_set<int>, handle_map<int, std::string>,
                                       handle_index<int, std::string>, hierarchy<int>, property_store<int>>;
TYPED_TEST_SUITE(container_shortages, container_types);

TYPED_TEST(container_shortages, attach_again_to_the_same_pool) {
    EXPECT_GE(with_full_container_in_need<TypeParam>(
                  [](TypeParam& one, fleet& in) { states_of<TypeParam>::attach(one, in.ships); },
                  [](TypeParam& one, fleet& in, bool) {
                      if constexpr (states_of<TypeParam>::is_told_of_births) {
                          EXPECT_GE(one.refused().size(), 1U);
                          one.clear_refused();
                          one.attach(in.ships, states_of<TypeParam>::name_of_ship); // refuses one again
                      }
                      expect_full_to_the_end(one, in);
                  }),
              2U);
}

TYPED_TEST(container_shortages, attach_to_another_pool) {
    EXPECT_GE(with_full_container_in_need<TypeParam>(
                  [](TypeParam& one, fleet& in) {
                      one.clear();
                      states_of<TypeParam>::attach(one, in.others);
                  },
                  [](TypeParam& one, fleet& in, bool done) {
                      expect_to_follow(one, done ? in.others : in.ships);
                      ship_pool& left = done ? in.ships : in.others;
                      one.clear();
                      const ship born = left.emplace(7);
                      left.compact();
                      EXPECT_FALSE(one.contains(born));
                      EXPECT_TRUE(one.empty());
                      states_of<TypeParam>::attach(one, in.ships);
                      expect_to_follow(one, in.ships);
                  }),
              2U);
}

TYPED_TEST(container_shortages, copy) {
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
        EXPECT_GE(with_full_container_in_need<TypeParam>(
                      [](TypeParam& one, fleet&) {
                          TypeParam copy(one);
                          one.swap(copy); // which is not attached
                          one.swap(copy);
                      },
                      [](TypeParam& one, fleet& in, bool) { expect_full_to_the_end(one, in); }),
                  2U);
        fleet from(7, 8);
        const auto other = full_container<TypeParam>(from, from.others_alive);
        EXPECT_GE(with_full_container_in_need<TypeParam>([&](TypeParam& one, fleet&) { one = other; },
                                                         [&](TypeParam& one, fleet& in, bool done) {
                                                             EXPECT_EQ(one.attached(), !done);
                                                             if (done) {
                                                                 states_of<TypeParam>::expect_filled(
                                                                     one, from.others_alive);
                                                             } else {
                                                                 expect_full_to_the_end(one, in);
                                                             }
                                                         }),
                  2U);
    }
}

TYPED_TEST(container_shortages, shrink) {
    if constexpr (requires(TypeParam& one) { one.shrink_to_fit(); }) {
        EXPECT_GE(with_full_container_in_need<TypeParam>(
                      [](TypeParam& one, fleet&) { one.shrink_to_fit(); },
                      [](TypeParam& one, fleet& in, bool) { expect_full_to_the_end(one, in); }),
                  1U);
    }
}

TYPED_TEST(container_shortages, add_where_nothing_is_unused) {
    ship added;
    EXPECT_GE(with_full_container_in_need<TypeParam>(
                  [&](TypeParam& one, fleet& in) {
                      added = in.ships.emplace(20);
                      if constexpr (requires { one.shrink_to_fit(); }) {
                          one.shrink_to_fit();
                      }
                      states_of<TypeParam>::add(one, added, 20);
                  },
                  [&](TypeParam& one, fleet& in, bool done) {
                      EXPECT_EQ(one.contains(added), done);
                      one.erase(added);
                      in.ships.erase(added);
                      in.ships.compact();
                      expect_full_to_the_end(one, in);
                  }),
              1U);
}

TYPED_TEST(container_shortages, add_in_a_slot_far_from_all_others) {
    ship far;
    with_full_container_in_need<TypeParam>(
        [&](TypeParam& one, fleet& in) {
            one.detach(); // from a pool that has no such slot
            far = made_up(4'000, 1, in.ships.id());
            states_of<TypeParam>::add(one, far, 20);
        },
        [&](TypeParam& one, fleet& in, bool done) {
            EXPECT_EQ(one.contains(far), done);
            one.erase(far);
            if constexpr (states_of<TypeParam>::is_told_of_births) {
                one.clear_refused(); // attached again, it refuses one again
            }
            states_of<TypeParam>::attach(one, in.ships);
            expect_full_to_the_end(one, in);
        });
}

TYPED_TEST(container_shortages, follow_compactions) {
    ship born;
    with_full_container_in_need<TypeParam>(
        [&](TypeParam&, fleet& in) {
            born = in.ships.emplace(20);
            in.ships.compact();
            in.ships.erase(in.ships.emplace(21));
            in.ships.compact();
        },
        [&](TypeParam& one, fleet& in, bool done) {
            EXPECT_TRUE(done) << "a compaction never fails";
            in.ships.erase(born);
            in.ships.compact();
            EXPECT_FALSE(one.contains(born));
            if constexpr (states_of<TypeParam>::is_told_of_births) {
                one.clear_refused();
                one.attach(in.ships, states_of<TypeParam>::name_of_ship); // refuses one again
            }
            expect_full_to_the_end(one, in);
        });
}

TYPED_TEST(container_shortages, swap_move_and_clear_without_memory) {
    fleet in;
    auto one = full_container<TypeParam>(in, in.alive);
    auto other = full_container<TypeParam>(in, in.others_alive);
    memory_shortage when(shortage::from_one_allocation_on, 0);
    when.begin();
    swap(one, other);
    if constexpr (std::is_nothrow_move_constructible_v<TypeParam>) {
        TypeParam moved(std::move(one));
        one = std::move(moved);
    }
    other.swap(one);
    other.clear();
    other.detach();
    when.end();
    EXPECT_FALSE(when.came());
    EXPECT_TRUE(other.empty());
    expect_full_to_the_end(one, in);
}

} // namespace
} // namespace handlepool::test
