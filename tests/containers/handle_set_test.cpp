// SPDX-License-Identifier: MIT

// Sets of handles by themselves, and attached to pools of each kind.

#include <handlepool/columns.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using number_pool = pool<int>;
using number_handle = number_pool::handle_type;
using number_set = handle_set<int>;

TEST(handle_set, holds_what_was_inserted_once) {
    number_pool pool({.name = "numbers", .capacity = 10});
    const auto one = pool.emplace(1);
    const auto other = pool.emplace(2);
    number_set set;
    EXPECT_TRUE(set.empty());
    EXPECT_FALSE(set.contains(one));
    EXPECT_TRUE(set.insert(one));
    EXPECT_FALSE(set.insert(one));
    EXPECT_TRUE(set.contains(one));
    EXPECT_FALSE(set.contains(other));
    EXPECT_EQ(set.size(), 1U);
    EXPECT_THAT(set, ElementsAre(one));
    EXPECT_TRUE(set.erase(one));
    EXPECT_FALSE(set.erase(one));
    EXPECT_FALSE(set.erase(other));
    EXPECT_TRUE(set.empty());
}

TEST(handle_set, the_last_member_takes_the_place_of_an_erased_one) {
    number_set set;
    for (std::uint64_t i = 0; i != 4; ++i) {
        set.insert(made_up(i, 1));
    }
    set.erase(made_up(1, 1));
    EXPECT_THAT(set.handles(), ElementsAre(made_up(0, 1), made_up(3, 1), made_up(2, 1)));
    EXPECT_TRUE(set.contains(made_up(3, 1)));
    set.erase(made_up(2, 1));
    EXPECT_THAT(set.handles(), ElementsAre(made_up(0, 1), made_up(3, 1)));
}

TEST(handle_set, an_object_can_be_in_any_number_of_sets) {
    number_pool pool({.name = "numbers", .capacity = 10});
    const auto object = pool.emplace(1);
    std::vector<number_set> sets(20);
    for (number_set& each : sets) {
        each.attach(pool);
        each.insert(object);
    }
    pool.erase(object);
    pool.compact();
    for (const number_set& each : sets) {
        EXPECT_TRUE(each.empty());
    }
}

TEST(handle_set, a_stale_handle_is_no_member_whatever_its_slot_holds) {
    number_set set;
    EXPECT_TRUE(set.insert(made_up(5, 3)));
    EXPECT_FALSE(set.contains(made_up(5, 1))) << "an earlier one";
    EXPECT_FALSE(set.contains(made_up(5, 5))) << "a later one";
    EXPECT_FALSE(set.erase(made_up(5, 5)));
    EXPECT_FALSE(set.insert(made_up(5, 1))) << "its slot has a later member";
    EXPECT_TRUE(set.insert(made_up(5, 5))) << "replaces the stale member";
    EXPECT_THAT(set, ElementsAre(made_up(5, 5)));
    EXPECT_FALSE(set.contains(made_up(5, 3)));
}

TEST(handle_set, may_serve_another_pool_once_it_is_empty) {
    number_set set;
    set.insert(made_up(1, 1, 4));
    set.erase(made_up(1, 1, 4));
    EXPECT_TRUE(set.insert(made_up(1, 1, 5)));
    set.clear();
    EXPECT_TRUE(set.insert(made_up(1, 1, 6)));

    number_pool pool({.name = "numbers", .capacity = 10});
    const auto object = pool.emplace(1);
    EXPECT_THROW(set.attach(pool), std::invalid_argument);
    EXPECT_FALSE(set.attached());
    set.clear();
    set.attach(pool);
    set.clear();
    EXPECT_THROW(set.insert(made_up(1, 1, pool.id() + 1)), std::invalid_argument)
        << "attached: its pool is known";
    EXPECT_TRUE(set.insert(object));
}

TEST(handle_set, ignores_user_bits) {
    using layout = handle_layout<20, 20, 8, 16>;
    pool<int, with_layout<layout>> pool({.name = "numbers", .capacity = 10});
    const auto object = pool.emplace(1);
    handle_set<int, layout> set;
    EXPECT_TRUE(set.insert(object.with_user(77)));
    EXPECT_TRUE(set.contains(object));
    EXPECT_TRUE(set.contains(object.with_user(5)));
    EXPECT_FALSE(set.insert(object));
    EXPECT_THAT(set, ElementsAre(object));
    EXPECT_TRUE(set.erase(object.with_user(9)));
}

TEST(handle_set, works_with_the_narrowest_and_the_highest_slots) {
    using narrow = handle_layout<2, 2, 1>;
    handle_set<int, narrow> few;
    for (std::uint64_t i = 0; i != 4; ++i) {
        EXPECT_TRUE((few.insert(made_up<handle<int, narrow>>(i))));
    }
    EXPECT_EQ(few.size(), 4U);

    number_set set;
    const auto last = made_up(0xffff'ffff, 1);
    EXPECT_TRUE(set.insert(last));
    EXPECT_TRUE(set.contains(last));
    EXPECT_FALSE(set.contains(made_up(0xffff'fffe, 1)));
    EXPECT_TRUE(set.erase(last));
    set.shrink_to_fit();
    EXPECT_EQ(set.memory(), 0U);
}

TEST(handle_set, pays_for_pages_where_members_are) {
    number_set set;
    set.insert(made_up(1'024'000, 1));
    const std::size_t one = set.memory();
    for (std::uint64_t i = 1; i != 500; ++i) {
        set.insert(made_up(1'024'000 + i, 1));
    }
    EXPECT_LE(set.memory(), one + std::size_t{500} * 2 * 8) << "no more pages";
    set.clear();
    set.shrink_to_fit();
    EXPECT_EQ(set.memory(), 0U);
    EXPECT_FALSE(set.contains(made_up(1'024'001, 1)));
    EXPECT_TRUE(set.insert(made_up(1'024'001, 1))) << "and goes on";
}

TEST(handle_set, keeps_the_pages_of_its_members) {
    number_set set;
    for (std::uint64_t i = 0; i != 3; ++i) {
        set.insert(made_up(i, 1));
    }
    set.erase(made_up(1, 1));
    set.shrink_to_fit();
    EXPECT_TRUE(set.contains(made_up(0, 1)));
    EXPECT_TRUE(set.contains(made_up(2, 1)));
}

// ---- Attached

template <class Pool>
struct maker;
template <class Traits>
struct maker<pool<int, Traits>> {
    using element = int;
    static auto options() { return pool_options{.name = "any", .capacity = 100, .reuse_delay = 0}; }
    static auto make() { return std::optional<pool<int, Traits>>(std::in_place, options()); }
    template <class Pool>
    static auto emplace(Pool& pool) {
        return pool.emplace(7);
    }
};
template <>
struct maker<pool<columns<int, char>>> {
    using element = columns<int, char>;
    static auto make() {
        return std::optional<pool<columns<int, char>>>(
            std::in_place, pool_options{.name = "any", .capacity = 100, .reuse_delay = 0});
    }
    static auto emplace(pool<columns<int, char>>& pool) { return pool.emplace(7, 'x'); }
};
template <class Traits>
struct maker<raw_pool<Traits>> {
    using element = void;
    using pool_type = raw_pool<Traits>;
    static auto make() {
        return std::optional<pool_type>(std::in_place,
                                        pool_options{.name = "any", .capacity = 100, .reuse_delay = 0},
                                        raw_type{.size = 4, .alignment = 4});
    }
    static auto emplace(pool_type& pool) { return pool.emplace(); }
};

template <class Pool>
class attached_handle_set : public testing::Test {};
using every_pool = testing::Types<pool<int>, stable_pool<int>, pool<columns<int, char>>, raw_pool<>,
                                  raw_stable_pool<>, pool<int, with_layout<script_layout>>>;
TYPED_TEST_SUITE(attached_handle_set, every_pool);

TYPED_TEST(attached_handle_set, loses_its_members_as_they_are_destroyed) {
    using make = maker<TypeParam>;
    auto pool = make::make();
    handle_set<typename make::element, typename TypeParam::handle_type::layout> set;
    set.attach(*pool);
    EXPECT_TRUE(set.attached());
    const auto survivor = make::emplace(*pool);
    const auto old = make::emplace(*pool);
    pool->compact();
    const auto newborn = make::emplace(*pool);
    for (const auto each : {survivor, old, newborn}) {
        set.insert(each);
    }
    pool->erase(old);
    pool->erase(newborn);
    EXPECT_EQ(set.size(), 3U) << "until the compaction";
    pool->compact();
    EXPECT_THAT(set, ElementsAre(survivor));
    for (int i = 0; i != 10; ++i) { // the slots are used again
        EXPECT_FALSE(set.contains(make::emplace(*pool)));
    }
    pool->clear();
    pool->compact();
    EXPECT_TRUE(set.empty());
    const auto last = make::emplace(*pool);
    set.insert(last);
    pool->reset();
    EXPECT_TRUE(set.empty()) << "a reset destroys, too";
    set.insert(make::emplace(*pool));
    pool.reset();
    EXPECT_TRUE(set.empty()) << "and so does the pool's end";
    EXPECT_FALSE(set.attached());
}

TEST(handle_set, loses_members_that_leave_by_any_way) {
    number_pool pool({.name = "numbers", .capacity = 10});
    number_set set;
    set.attach(pool);
    const auto taken = pool.emplace(1);
    const auto judged = pool.emplace(2);
    const auto drained = pool.emplace(3);
    for (const auto each : {taken, judged, drained}) {
        set.insert(each);
    }
    pool.extract(taken, [](int&&) {});
    erase_if(pool, [](int value) { return value == 2; });
    pool.compact();
    EXPECT_THAT(set, ElementsAre(drained));
    pool.drain([](auto, int&&) {});
    EXPECT_THAT(set, IsEmpty());
}

TEST(handle_set, prunes_when_it_is_attached_and_on_demand) {
    number_pool pool({.name = "numbers", .capacity = 100});
    number_set set;
    std::vector<number_handle> handles;
    for (int i = 0; i != 50; ++i) {
        handles.push_back(pool.emplace(i));
        set.insert(handles.back());
    }
    for (std::size_t i = 0; i < 50; i += 2) {
        pool.erase(handles[i]);
    }
    EXPECT_EQ(set.prune(pool), 25U);
    EXPECT_EQ(set.prune(pool), 0U);
    for (std::size_t i = 0; i != 50; ++i) {
        EXPECT_EQ(set.contains(handles[i]), i % 2 == 1);
    }
    pool.erase(handles[1]);
    set.attach(pool);
    EXPECT_EQ(set.size(), 24U);
    set.detach();
    EXPECT_FALSE(set.attached());
    pool.clear();
    pool.compact();
    EXPECT_EQ(set.size(), 24U) << "detached";
    EXPECT_EQ(set.prune(pool), 24U);
}

TEST(handle_set, may_end_before_its_pool) {
    number_pool pool({.name = "numbers", .capacity = 10});
    const auto object = pool.emplace(1);
    {
        number_set set;
        set.attach(pool);
        set.insert(object);
        set.attach(pool); // again: one attachment
    }
    pool.erase(object);
    EXPECT_EQ(pool.compact().removed, 1U);
}

// ---- Many at once

TEST(handle_set, collects_in_an_order_of_its_own) {
    constexpr std::size_t pieces = 200;
    const auto find = [](std::size_t i, auto add) {
        for (std::size_t k = 0; k != i % 7; ++k) {
            add(made_up(10 * i + k, 1));
        }
        add(made_up(3, 1)); // found by all, a member once
    };
    number_set expected;
    const std::size_t count = expected.collect(pieces, find);
    EXPECT_EQ(expected.size(), count);
    EXPECT_EQ(expected.handles()[0], made_up(3, 1));
    EXPECT_EQ(expected.handles()[1], made_up(10, 1));
    thread_executor threads(4);
    for (int round = 0; round != 5; ++round) {
        number_set set;
        EXPECT_EQ(set.collect(pieces, find, threads), count);
        EXPECT_THAT(set.handles(), testing::ElementsAreArray(expected.handles()));
        EXPECT_EQ(set.collect(pieces, find, threads), 0U);
    }
    EXPECT_EQ(number_set().collect(0, find, threads), 0U);
}

TEST(handle_set, collects_nothing_when_a_piece_throws) {
    thread_executor threads(4);
    number_set set;
    set.insert(made_up(1, 1));
    const auto find = [](std::size_t i, auto add) {
        add(made_up(10 + i, 1));
        if (i % 10 == 7) {
            throw std::runtime_error("piece " + std::to_string(i));
        }
    };
    try {
        set.collect(100, find, threads);
        FAIL() << "no exception";
    } catch (const std::runtime_error& thrown) {
        EXPECT_STREQ(thrown.what(), "piece 7");
    }
    EXPECT_THAT(set, ElementsAre(made_up(1, 1)));
}

TEST(handle_set, erase_if_asks_about_each_member_once) {
    number_set set;
    for (std::uint64_t i = 0; i != 100; ++i) {
        set.insert(made_up(i, 1));
    }
    std::multiset<std::uint64_t> asked;
    EXPECT_EQ(erase_if(set,
                       [&](number_handle each) {
                           asked.insert(each.index());
                           return each.index() % 3 == 0;
                       }),
              34U);
    EXPECT_EQ(asked.size(), 100U);
    EXPECT_EQ(std::set<std::uint64_t>(asked.begin(), asked.end()).size(), 100U);
    EXPECT_EQ(set.size(), 66U);
    EXPECT_FALSE(set.contains(made_up(99, 1)));
}

// ---- Against an oracle

TEST(handle_set, refuses_generations_that_no_object_has) {
    number_set set;
    const auto last = made_up(1, default_layout::last_generation);
    const auto beyond = made_up(1, default_layout::generation_mask);
    EXPECT_THROW(set.insert(beyond), std::invalid_argument);
    EXPECT_TRUE(set.insert(last));
    using narrow = handle_layout<16, 12, 4>;
    handle_set<int, narrow> small;
    EXPECT_THROW(small.insert(handle<int, narrow>::from_value(~0U)), std::invalid_argument);
}

TEST(handle_set, takes_no_bits_that_handles_do_not_have) {
    using member = handle<int, script_layout>; // of 53 bits
    handle_set<int, script_layout> set;
    const auto sound = made_up<member>(5);
    const auto other = member::from_value(sound.value() | std::uint64_t{1} << 60);
    EXPECT_THROW(set.insert(other), std::invalid_argument);
    EXPECT_TRUE(set.insert(sound));
    EXPECT_FALSE(set.contains(other));
    EXPECT_FALSE(set.contains({}));
    EXPECT_FALSE((handle_set<int, script_layout>().contains({})));
}

TEST(handle_set, an_empty_one_can_be_attached_to_another_pool) {
    number_pool first({.name = "first", .capacity = 10});
    number_pool second({.name = "second", .capacity = 10});
    number_set set;
    set.attach(first);
    const auto number = first.emplace(1);
    set.insert(number);
    EXPECT_THROW(set.attach(second), std::invalid_argument);
    set.erase(number);
    set.attach(second);
    EXPECT_TRUE(set.insert(second.emplace(1)));
    EXPECT_THROW(set.insert(first.emplace(1)), std::invalid_argument);
}

TEST(handle_set, does_what_a_std_set_of_living_handles_does) {
    random_source random(20261123);
    number_pool pool({.name = "numbers", .capacity = 3000, .reuse_delay = 0});
    number_set set;
    set.attach(pool);
    std::set<number_handle> oracle;
    std::vector<number_handle> all;
    for (int step = 0; step != 20'000; ++step) {
        switch (random.below(6)) {
        case 0:
        case 1:
            if (const auto made = pool.try_emplace(step)) {
                all.push_back(made);
            }
            break;
        case 2:
            if (!all.empty()) {
                const auto any = all[random.below(all.size())];
                if (pool.contains(any)) {
                    EXPECT_EQ(set.insert(any), oracle.insert(any).second);
                }
            }
            break;
        case 3:
            if (!all.empty()) {
                const auto any = all[random.below(all.size())];
                EXPECT_EQ(set.erase(any), oracle.erase(any) == 1);
            }
            break;
        case 4:
            if (!all.empty()) {
                pool.erase(all[random.below(all.size())]);
            }
            break;
        default:
            if (random.one_in(20)) {
                pool.compact();
                std::erase_if(oracle, [&](number_handle each) { return !pool.contains(each); });
                ASSERT_EQ(std::set<number_handle>(set.begin(), set.end()), oracle);
            }
            break;
        }
        if (!all.empty()) {
            const auto any = all[random.below(all.size())];
            ASSERT_EQ(set.contains(any), oracle.contains(any));
        }
        ASSERT_EQ(set.size(), oracle.size());
    }
}

} // namespace
} // namespace handlepool::test
