// SPDX-License-Identifier: MIT
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct ship {
    int crew = 0;
};
struct rocket {
    double fuel = 0;
};

const pool_options small{.capacity = 100, .reuse_delay = 0};
constexpr raw_type three_bytes{.size = 3, .alignment = 1};

// ---- Pools

TEST(service_test, pools_are_found_by_name_and_type) {
    service world;
    auto& ships = world.add<pool<ship>>("ships", small);
    auto& rockets = world.add<pool<rocket>>("rockets", small);
    auto& raw = world.add<raw_pool<>>("raw", small, three_bytes);
    EXPECT_EQ(world.size(), 3U);
    EXPECT_EQ(ships.name(), "ships");
    EXPECT_EQ(ships.capacity(), 100U);
    EXPECT_EQ(world.find_pool<pool<ship>>("ships"), &ships);
    EXPECT_EQ(world.find_pool<pool<rocket>>("rockets"), &rockets);
    EXPECT_EQ(world.find_pool<pool<rocket>>("ships"), nullptr);
    EXPECT_EQ(world.find_pool<pool<ship>>("ship"), nullptr);
    EXPECT_EQ(world.find_any_pool("raw")->as<raw_pool<>>(), &raw);
    EXPECT_EQ(world.find_any_pool(""), nullptr);
}

TEST(service_test, pools_whose_objects_never_move_are_pools_like_others) {
    struct pinned {
        explicit pinned(int number) : value(number) {}
        pinned(pinned&&) = delete;
        int value;
    };
    service world;
    auto& pins = world.add<stable_pool<pinned>>("pins", small);
    auto& raw = world.add<raw_stable_pool<>>("raw", small, three_bytes);
    EXPECT_EQ(world.find_pool<stable_pool<pinned>>("pins"), &pins);
    EXPECT_EQ(world.find_pool<stable_pool<pinned>>("raw"), nullptr);
    EXPECT_EQ(world.find_any_pool("raw")->as<raw_stable_pool<>>(), &raw);
    std::string error;
    EXPECT_EQ(world.try_add<stable_pool<pinned>>("pins", small, error), nullptr);
    EXPECT_THAT(error, HasSubstr("pins"));
    EXPECT_EQ(world.try_add<raw_stable_pool<>>("", small, error, three_bytes), nullptr);

    const any_handle first = pins.emplace(1);
    const any_handle second = pins.emplace(2);
    const any_handle bytes = raw.emplace();
    const pinned* const address = world.find<pinned>(second);
    world.compact();
    EXPECT_EQ(world.size(), 2U);
    EXPECT_TRUE(world.erase(first));
    world.compact();
    EXPECT_EQ(world.find<pinned>(second), address);
    EXPECT_EQ(world.find<void>(bytes), raw.find(bytes));
    EXPECT_EQ(world.find<pinned>(first), nullptr);
    EXPECT_EQ(pins.stats().dense, 1U);
}

TEST(service_test, names_are_unique_and_not_empty) {
    service world;
    auto& ships = world.add<pool<ship>>("ships", small);
    EXPECT_THAT([&] { world.add<pool<rocket>>("ships", small); },
                ThrowsMessage<std::invalid_argument>("handlepool: the service has a pool 'ships' already"));
    EXPECT_THAT([&] { world.add<raw_pool<>>("ships", small, three_bytes); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("'ships' already")));
    EXPECT_THAT([&] { world.add<pool<ship>>("", small); },
                ThrowsMessage<std::invalid_argument>("handlepool: a pool of a service needs a name"));
    EXPECT_EQ(world.size(), 1U);
    EXPECT_EQ(world.find_pool<pool<ship>>("ships"), &ships);
    world.add<pool<ship>>("Ships", small);
    EXPECT_EQ(world.size(), 2U);
}

TEST(service_test, the_name_of_the_call_stands_above_that_of_the_options) {
    service world;
    EXPECT_EQ(world.add<pool<ship>>("ships", {.name = "rockets", .capacity = 10}).name(), "ships");
}

TEST(service_test, a_pool_that_can_not_be_is_not_added) {
    service world;
    EXPECT_THAT([&] { world.add<pool<ship>>("ships"); },
                ThrowsMessage<std::invalid_argument>(testing::StartsWith("pool 'ships': capacity = 0")));
    EXPECT_THAT(
        [&] { world.add<raw_pool<>>("raw", small, raw_type{.size = 0}); },
        ThrowsMessage<std::invalid_argument>(testing::StartsWith("pool 'raw': size of the type is 0")));
    EXPECT_THROW(world.add<raw_pool<>>("raw", small, raw_type{.size = std::size_t{1} << 50}),
                 reservation_failed);
    EXPECT_EQ(world.size(), 0U);
    world.add<pool<ship>>("ships", small);
    world.add<pool<ship>>("raw", small);
}

/// Does something while a pool is being made: its arrays come before the service hears of it.
struct meanwhile_policy : default_policy {
    inline static std::function<void()> meanwhile;

    template <class T>
    class array : public virtual_array<T> {
    public:
        array(const detail::allocation_label& what_for, std::size_t size, std::size_t expected,
              std::size_t alignment = alignof(T))
            : virtual_array<T>(what_for, size, expected, alignment) {
            if (const auto once = std::exchange(meanwhile, nullptr)) {
                once();
            }
        }
    };
};

TEST(service_test, a_pool_whose_name_is_taken_while_it_is_made_leaves_nothing_behind) {
    service world;
    any_handle first;
    meanwhile_policy::meanwhile = [&] { first = world.add<pool<int>>("same", small).emplace(1); };
    pool_options with_id = small;
    with_id.pool_id = 777;
    EXPECT_THROW((world.add<pool<int, with_policy<meanwhile_policy>>>("same", with_id)),
                 std::invalid_argument);
    const auto none = any_handle::from_value(default_layout::value_of(0, default_layout::make_tag(777, 1)));
    ASSERT_EQ(world.route(none), nullptr);
    EXPECT_FALSE(world.contains(none));
    EXPECT_TRUE(world.contains(first));
    EXPECT_EQ(world.size(), 1U);
    EXPECT_EQ(world.compact().pools, 1U);
    world.add<pool<int>>("other", with_id); // the id is free again
}

TEST(service_test, pool_ids_run_out_and_come_back) {
    using layout = handle_layout<20, 10, 2>; // of this test alone: ids are given out for each layout
    basic_service<layout> world;
    for (const char* const name : {"a", "b", "c", "d"}) {
        world.add<pool<ship, with_layout<layout>>>(name, small);
    }
    const auto one_more = [&] { world.add<pool<ship, with_layout<layout>>>("e", small); };
    EXPECT_THAT(one_more, ThrowsMessage<std::runtime_error>(HasSubstr("pool 'e': no pool id is left")));
    EXPECT_EQ(world.size(), 4U);
    EXPECT_EQ(world.find_any_pool("e"), nullptr);
    world.remove_pool("b");
    EXPECT_THROW(one_more(), std::runtime_error) << "the removed pool still lives";
    world.compact();
    one_more();
    EXPECT_EQ(world.size(), 4U);
}

// ---- Handles

class routing : public testing::Test {
protected:
    service world;
    pool<ship>& ships = world.add<pool<ship>>("ships", small);
    pool<rocket>& rockets = world.add<pool<rocket>>("rockets", small);
    raw_pool<>& raw = world.add<raw_pool<>>("raw", small, three_bytes);

    handle<ship> first_ship = ships.emplace(7);
    handle<rocket> first_rocket = rockets.emplace(0.5);
    any_handle first_raw = raw.emplace();

    void expect_stale(any_handle handle) {
        EXPECT_FALSE(world.contains(handle));
        EXPECT_EQ(world.find<ship>(handle), nullptr);
        EXPECT_EQ(world.find<rocket>(handle), nullptr);
        EXPECT_FALSE(world.erase(handle));
    }
};

TEST_F(routing, handles_find_their_pool) {
    EXPECT_EQ(world.route(first_ship), world.find_any_pool("ships"));
    EXPECT_EQ(world.route(first_rocket), world.find_any_pool("rockets"));
    EXPECT_EQ(world.route(first_raw), world.find_any_pool("raw"));
    EXPECT_EQ(world.name_of(first_ship), "ships");
    for (const any_handle handle : {any_handle(first_ship), any_handle(first_rocket), first_raw}) {
        EXPECT_TRUE(world.contains(handle));
    }
}

TEST_F(routing, objects_are_found_by_handle_and_type) {
    static_assert(std::is_same_v<decltype(world.find<ship>(first_ship)), ship*>);
    ASSERT_NE(world.find<ship>(first_ship), nullptr);
    EXPECT_EQ(world.find<const ship>(first_ship), world.find<ship>(first_ship));
    EXPECT_EQ(world.find<ship>(first_ship)->crew, 7);
    EXPECT_EQ(world.find<ship>(first_rocket), nullptr);
    EXPECT_EQ(world.find<rocket>(first_rocket)->fuel, 0.5);
    EXPECT_EQ(world.find<void>(first_raw), raw.find(first_raw));
    EXPECT_EQ(world.find<void>(first_ship), nullptr) << "a typed pool's object has a type";
    EXPECT_EQ(world.find<ship>(first_raw), nullptr);
}

TEST_F(routing, handles_get_their_type_back_when_it_is_theirs) {
    static_assert(std::is_same_v<decltype(world.handle_cast<ship>(first_ship)), handle<ship>>);
    const any_handle untyped = first_ship;
    EXPECT_EQ(world.handle_cast<ship>(untyped), first_ship);
    EXPECT_EQ(world.handle_cast<rocket>(untyped), handle<rocket>());
    EXPECT_EQ(world.handle_cast<int>(untyped), handle<int>());
    EXPECT_EQ(world.handle_cast<ship>({}), handle<ship>());
    world.erase(first_ship);
    EXPECT_EQ(world.handle_cast<ship>(untyped), first_ship) << "the type says nothing of the object";
}

TEST_F(routing, an_object_is_erased_once_whichever_way) {
    EXPECT_TRUE(world.erase(first_ship));
    EXPECT_FALSE(world.erase(first_ship));
    EXPECT_FALSE(ships.erase(first_ship));
    EXPECT_TRUE(rockets.erase(first_rocket));
    EXPECT_FALSE(world.erase(first_rocket));
    EXPECT_TRUE(world.erase(first_raw));
    expect_stale(first_ship);
    EXPECT_EQ(world.compact().removed, 3U);
}

TEST_F(routing, no_handle_is_stale) {
    expect_stale({});
    expect_stale(any_handle::from_value(~0ULL));
    EXPECT_EQ(world.route(any_handle::from_value(~0ULL)), nullptr) << "no pool has the last id";
    EXPECT_EQ(world.name_of(any_handle::from_value(~0ULL)), "");
}

TEST_F(routing, every_one_bit_flip_of_a_live_handle_is_stale) {
    for (const any_handle alive : {any_handle(first_ship), any_handle(first_rocket), first_raw}) {
        for (unsigned bit = 0; bit != 64; ++bit) {
            const auto forged = any_handle::from_value(alive.value() ^ 1ULL << bit);
            if (forged == first_ship || forged == first_rocket || forged == first_raw) {
                continue; // another object's: the pools differ in one bit of their ids
            }
            SCOPED_TRACE(bit);
            expect_stale(forged);
        }
    }
    EXPECT_EQ(world.stats().pools[0].alive, 1U);
}

TEST_F(routing, random_handles_are_stale) {
    random_source random;
    for (int i = 0; i != 100'000; ++i) {
        const auto forged = any_handle::from_value(random.bits());
        ASSERT_FALSE(world.contains(forged)) << forged.value();
        ASSERT_FALSE(world.erase(forged)) << forged.value();
    }
    EXPECT_TRUE(world.contains(first_ship));
}

TEST_F(routing, handles_of_other_owners_are_stale) {
    service other;
    auto& others = other.add<pool<ship>>("ships", small);
    pool<ship> outside({.name = "ships", .capacity = 10});
    for (const any_handle foreign : {any_handle(others.emplace(1)), any_handle(outside.emplace(1))}) {
        EXPECT_EQ(world.route(foreign), nullptr);
        expect_stale(foreign);
    }
    EXPECT_EQ(others.size(), 1U);
    EXPECT_EQ(outside.size(), 1U);
}

TEST_F(routing, handles_are_described_with_the_name_of_their_pool) {
    const std::string ship = "ships #0 generation " + std::to_string(first_ship.generation());
    EXPECT_EQ(world.describe(first_ship), ship + ": alive");
    world.erase(first_ship);
    EXPECT_EQ(world.describe(first_ship), ship + ": erased");
    EXPECT_EQ(world.describe({}), "null");
    EXPECT_EQ(world.describe(
                  any_handle::from_value(default_layout::value_of(5, default_layout::make_tag(1023, 7)))),
              "#5 generation 7: no pool of the service has pool id 1023");
    EXPECT_THAT(world.describe(any_handle::from_value(first_rocket.value() + 3)),
                HasSubstr("rockets #3 generation " + std::to_string(first_rocket.generation()) +
                          ": no such slot was ever used"));
}

// ---- Removing pools

TEST_F(routing, handles_of_a_removed_pool_are_refused_at_once) {
    EXPECT_TRUE(world.remove_pool("ships"));
    EXPECT_FALSE(world.remove_pool("ships"));
    EXPECT_EQ(world.size(), 2U);
    EXPECT_EQ(world.find_any_pool("ships"), nullptr);
    EXPECT_EQ(world.find_pool<pool<ship>>("ships"), nullptr);
    expect_stale(first_ship);
    EXPECT_EQ(world.handle_cast<ship>(first_ship), handle<ship>());
    EXPECT_THAT(world.describe(first_ship), HasSubstr("no pool of the service has pool id"));
    EXPECT_TRUE(world.contains(first_rocket));
    EXPECT_EQ(ships.at(first_ship).crew, 7) << "the pool lives until the next compaction";
    world.compact();
    expect_stale(first_ship);
    EXPECT_TRUE(world.contains(first_rocket));
}

TEST(removed_pool, ends_with_its_objects_when_the_next_compaction_begins) {
    census counts;
    service world;
    auto& first = world.add<pool<counted>>("counted", small);
    first.emplace(counts, 1U);
    const handle<counted> still_there = first.emplace(counts, 2U);
    first.erase(first.emplace(counts, 3U));
    world.remove_pool("counted");
    EXPECT_EQ(counts.alive(), 3);
    EXPECT_EQ(first.at(still_there).value(), 2U);
    world.compact();
    EXPECT_EQ(counts.alive(), 0);
}

TEST(removed_pool, leaves_its_name_free_at_once) {
    service world;
    auto& old = world.add<pool<ship>>("ships", small);
    const auto old_handle = old.emplace(1);
    world.remove_pool("ships");
    auto& fresh = world.add<pool<rocket>>("ships", small);
    EXPECT_NE(static_cast<void*>(&old), static_cast<void*>(&fresh));
    EXPECT_NE(fresh.id(), old.id());
    const auto fresh_handle = fresh.emplace(0.5);
    world.compact();
    EXPECT_FALSE(world.contains(old_handle));
    EXPECT_TRUE(world.contains(fresh_handle));
    EXPECT_EQ(world.find_pool<pool<rocket>>("ships"), &fresh);
}

TEST(removed_pool, handles_stay_dead_when_its_id_is_used_again) {
    using layout = handle_layout<19, 11, 2>; // of this test alone
    basic_service<layout> world;
    std::vector<handle<void, layout>> old;
    for (int round = 0; round != 100; ++round) {
        auto& ships = world.add<pool<ship, with_layout<layout>>>("ships", small);
        const handle<void, layout> fresh = ships.emplace(round);
        for (const auto stale : old) {
            ASSERT_FALSE(world.contains(stale)) << "in round " << round;
        }
        ASSERT_TRUE(world.contains(fresh));
        old.push_back(fresh);
        world.remove_pool("ships");
        world.compact();
    }
}

TEST(removed_pool, ends_with_the_service_at_the_latest) {
    census counts;
    service world;
    world.add<pool<counted>>("counted", small).emplace(counts);
    world.remove_pool("counted");
    EXPECT_EQ(counts.born(), 1);
}

/// Also where a guard has kept a compaction from ending it.
TEST(removed_pool, ends_before_the_pools_that_were_not_removed) {
    std::vector<std::string> order;
    {
        service world;
        auto& removed = world.add<pool<re_entrant>>("removed", small);
        auto& kept = world.add<pool<re_entrant>>("kept", small);
        const any_handle of_kept = kept.emplace(re_entrant::callback(), [&] { order.push_back("kept"); });
        removed.emplace(re_entrant::callback(), [&, of_kept] {
            order.push_back(world.contains(of_kept) ? "removed, with kept" : "removed, alone");
        });
        world.remove_pool("removed");
        auto guard = removed.access();
        std::jthread([&] {
            EXPECT_EQ(world.try_compact().value_or(service_compaction{}).skipped, 1U);
        }).join();
    }
    EXPECT_THAT(order, ElementsAre("removed, with kept", "kept"));
}

TEST(removed_pool, destructors_may_add_and_remove_pools) {
    census counts;
    service world;
    auto& dying = world.add<pool<re_entrant>>("dying", small);
    world.add<pool<counted>>("victim", small).emplace(counts);
    dying.emplace(re_entrant::callback(), [&] {
        world.remove_pool("victim");
        world.add<pool<counted>>("heir", small).emplace(counts);
    });
    world.remove_pool("dying");
    world.compact();
    EXPECT_EQ(world.find_any_pool("victim"), nullptr);
    EXPECT_NE(world.find_any_pool("heir"), nullptr);
    EXPECT_EQ(counts.alive(), 2) << "the victim ends with the next compaction";
    world.compact();
    EXPECT_EQ(counts.alive(), 1);
}

TEST(service_end, destructors_may_remove_pools_also_those_of_removed_ones) {
    census counts;
    service world;
    for (const char* const name : {"a", "b", "c", "d"}) {
        world.add<pool<counted>>(name, small).emplace(counts);
    }
    world.add<pool<re_entrant>>("living", small).emplace(re_entrant::callback(), [&] {
        world.remove_pool("d");
    });
    world.add<pool<re_entrant>>("removed", small).emplace(re_entrant::callback(), [&] {
        world.remove_pool("a");
        world.remove_pool("b");
        world.remove_pool("c");
    });
    world.remove_pool("removed");
    EXPECT_EQ(counts.born(), 4);
}

TEST(service_end, destroys_the_last_pool_first_and_objects_may_still_ask_for_others) {
    std::vector<std::string> order;
    {
        service world;
        auto& first = world.add<pool<re_entrant>>("first", small);
        auto& second = world.add<pool<re_entrant>>("second", small);
        const any_handle of_first = first.emplace(re_entrant::callback(), [&] { order.push_back("first"); });
        second.emplace(re_entrant::callback(), [&, of_first] {
            order.push_back(world.contains(of_first) ? "second, with first" : "second, alone");
            EXPECT_EQ(world.size(), 1U);
            EXPECT_EQ(world.find_any_pool("second"), nullptr);
        });
    }
    EXPECT_THAT(order, ElementsAre("second, with first", "first"));
}

} // namespace
} // namespace handlepool::test
