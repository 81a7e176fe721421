// SPDX-License-Identifier: MIT

// What spawners create, end and refuse.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/message_of.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

pool_options with_spawners(std::size_t spawners, std::size_t capacity = 1000) {
    return {.name = "ships", .capacity = capacity, .spawners = spawners};
}

template <class Pool>
std::vector<int> values_of(Pool& pool) {
    return {pool.begin(), pool.end()};
}

TEST(spawner, creates_objects_in_the_order_of_the_spawners) {
    pool<int> ships(with_spawners(3));
    auto spawners = ships.spawners(3);
    spawners[2].emplace(5);
    spawners[0].emplace(1);
    spawners[1].emplace(3);
    spawners[0].emplace(2);
    spawners[1].emplace(4);
    spawners.close();
    ships.compact();
    EXPECT_THAT(values_of(ships), ElementsAre(1, 2, 3, 4, 5));
    expect_consistent(ships);
}

TEST(spawner, gives_handles_that_resolve_at_once_and_stay) {
    pool<int> ships(with_spawners(2));
    auto spawners = ships.spawners(2);
    const auto handle = spawners[1].emplace(7);
    EXPECT_EQ(ships.at(handle), 7);
    EXPECT_EQ(spawners[0].at(handle), 7);
    EXPECT_EQ(spawners[1].size(), 1);
    spawners.close();
    ships.compact();
    EXPECT_EQ(ships.at(handle), 7);
}

TEST(spawner, has_the_functions_of_a_pool) {
    pool<std::pair<int, int>> ships(with_spawners(1));
    auto spawners = ships.spawners(1);
    auto& spawner = spawners[0];
    const auto [handle, ship] = spawner.emplace_entry(1, 2);
    EXPECT_EQ(ship.second, 2);
    EXPECT_TRUE(spawner.contains(spawner.insert({3, 4})));
    const auto itself =
        spawner.emplace_with([](auto own) { return std::pair<int, int>(static_cast<int>(own.index()), 0); });
    EXPECT_EQ(spawner[itself].first, itself.index());
    std::vector<handlepool::handle<std::pair<int, int>>> made;
    spawner.emplace_n(3, std::back_inserter(made), 5, 6);
    spawner.insert_range(std::vector<std::pair<int, int>>{{7, 8}}, std::back_inserter(made));
    EXPECT_EQ(made.size(), 4);
    EXPECT_EQ(spawner.size(), 7);
    EXPECT_EQ(spawner.number(), 0);
    EXPECT_EQ(spawner.name(), "ships");
    EXPECT_EQ(spawner.capacity(), 1000);
    EXPECT_EQ(spawner.describe(handle), ships.describe(handle));
    spawners.close();
    ships.compact();
    expect_consistent(ships);
}

TEST(spawner, leaves_erased_objects_alive_until_the_next_compaction) {
    pool<int> ships(with_spawners(2));
    auto spawners = ships.spawners(2);
    const auto first = spawners[0].emplace(1);
    const auto second = spawners[0].emplace(2);
    spawners.close();
    ships.compact();

    spawners = ships.spawners(2);
    EXPECT_TRUE(spawners[1].erase(first));
    EXPECT_TRUE(spawners[0].erase(first)); // nobody can know of the other
    EXPECT_EQ(spawners[1].erase(std::vector{first, second, decltype(first)()}), 2);
    EXPECT_TRUE(ships.contains(first));
    EXPECT_EQ(ships.size(), 2);
    spawners.close();
    EXPECT_TRUE(ships.contains(first));
    EXPECT_FALSE(ships.idle());
    EXPECT_EQ(ships.compact().removed, 2);
    EXPECT_FALSE(ships.contains(first));
    EXPECT_TRUE(ships.empty());
    EXPECT_TRUE(ships.idle());

    spawners = ships.spawners(1);
    EXPECT_FALSE(spawners[0].erase(first));
    spawners.close();
    expect_consistent(ships);
}

TEST(spawner, calls_hooks_in_the_order_of_the_spawners) {
    pool<int> ships(with_spawners(3));
    std::vector<int> born;
    std::vector<int> ended;
    auto births = ships.on_birth([&](auto, int& value) { born.push_back(value); });
    auto deaths = ships.on_destroy([&](auto, int& value) { ended.push_back(value); });
    auto spawners = ships.spawners(3);
    std::vector<handle<int>> made;
    for (int i = 3; i != 0; --i) {
        made.push_back(spawners[static_cast<std::size_t>(i - 1)].emplace(i));
    }
    spawners.close();
    ships.compact();
    EXPECT_THAT(born, ElementsAre(1, 2, 3));

    spawners = ships.spawners(3);
    spawners[2].erase(made[0]);
    spawners[1].erase(made[1]);
    spawners[0].erase(made[2]);
    spawners[0].erase(made[0]);
    spawners.close();
    ships.compact();
    EXPECT_THAT(ended, ElementsAre(1, 3, 2));
}

TEST(spawner, gives_extracted_objects_to_sinks) {
    pool<std::unique_ptr<int>> ships(with_spawners(2));
    auto spawners = ships.spawners(2);
    const auto taken = spawners[0].emplace(std::make_unique<int>(1));
    const auto erased = spawners[0].emplace(std::make_unique<int>(2));
    const auto taken_twice = spawners[0].emplace(std::make_unique<int>(3));
    spawners.close();
    ships.compact();

    std::vector<int> sunk;
    const auto sink = [&](int add) {
        return [&sunk, add](std::unique_ptr<int>&& ship) { sunk.push_back(*ship + add); };
    };
    spawners = ships.spawners(2);
    EXPECT_TRUE(spawners[1].extract(taken_twice, sink(20)));
    EXPECT_TRUE(spawners[1].extract(erased, sink(20)));
    EXPECT_TRUE(spawners[0].extract(taken, sink(10)));
    EXPECT_TRUE(spawners[0].erase(erased));
    EXPECT_TRUE(spawners[0].extract(taken_twice, sink(10)));
    EXPECT_FALSE(spawners[0].extract({}, sink(0)));
    spawners.close();
    EXPECT_THAT(sunk, IsEmpty());
    EXPECT_EQ(ships.compact().removed, 3);
    EXPECT_THAT(sunk, ElementsAre(11, 13));
    expect_consistent(ships);
}

TEST(spawner, is_heard_before_the_pool_is_drained_reset_or_destroyed) {
    std::vector<int> sunk;
    std::vector<int> drained;
    {
        pool<int> ships(with_spawners(1));
        const auto extract_one = [&](int value) {
            auto spawners = ships.spawners(1);
            const auto made = spawners[0].emplace(value);
            spawners[0].emplace(value + 1);
            spawners[0].extract(made, [&](int&& ship) { sunk.push_back(ship); });
        };
        extract_one(10);
        ships.drain([&](auto, int&& ship) { drained.push_back(ship); });
        EXPECT_THAT(sunk, ElementsAre(10));
        EXPECT_THAT(drained, ElementsAre(11));
        extract_one(20);
        ships.reset();
        EXPECT_THAT(sunk, ElementsAre(10, 20));
        extract_one(30);
    }
    EXPECT_THAT(sunk, ElementsAre(10, 20, 30));
}

TEST(spawner, tells_the_handle_that_a_revoked_object_will_have) {
    pool<int> ships(with_spawners(2));
    auto spawners = ships.spawners(2);
    const auto before = spawners[0].emplace(1);
    spawners.close();
    ships.compact();

    spawners = ships.spawners(2);
    const auto after = spawners[1].revoke(before);
    EXPECT_EQ(spawners[0].revoke(before), after);
    EXPECT_TRUE(ships.contains(before));
    EXPECT_FALSE(ships.contains(after));
    EXPECT_EQ(spawners[0].revoke({}), handle<int>());
    spawners.close();
    ships.compact();
    EXPECT_FALSE(ships.contains(before));
    EXPECT_EQ(ships.at(after), 1);
}

// Else the handle that was told would become another object's.
TEST(spawner, ends_an_object_that_was_revoked_in_the_same_frame_under_its_new_handle) {
    pool<int> ships({.name = "ships", .capacity = 1, .reuse_delay = 0, .spawners = 2});
    auto spawners = ships.spawners(2);
    const auto before = spawners[0].emplace(1);
    spawners.close();
    ships.compact();

    spawners = ships.spawners(2);
    EXPECT_TRUE(spawners[0].erase(before));
    const auto after = spawners[1].revoke(before);
    spawners.close();
    EXPECT_EQ(ships.compact().removed, 1);
    EXPECT_TRUE(ships.empty());

    spawners = ships.spawners(1);
    const auto next = spawners[0].emplace(2);
    EXPECT_EQ(next.index(), before.index());
    EXPECT_NE(next, after);
    EXPECT_FALSE(ships.contains(after));
}

TEST(spawner, extracts_an_object_that_was_revoked_in_the_same_frame) {
    for (const bool is_revoked_first : {false, true}) {
        SCOPED_TRACE(is_revoked_first);
        pool<int> ships({.name = "ships", .capacity = 10, .spawners = 2});
        auto spawners = ships.spawners(2);
        const auto before = spawners[0].emplace(7);
        spawners.close();
        ships.compact();

        spawners = ships.spawners(2);
        std::vector<int> taken;
        const auto sink = [&taken](int&& one) { taken.push_back(one); };
        const auto after = is_revoked_first ? spawners[0].revoke(before) : handle<int>();
        EXPECT_TRUE(spawners[1].extract(before, sink));
        const auto later = is_revoked_first ? after : spawners[0].revoke(before);
        spawners.close();
        EXPECT_EQ(ships.compact().removed, 1U);
        EXPECT_EQ(taken, std::vector{7});
        EXPECT_TRUE(ships.empty());
        EXPECT_FALSE(ships.contains(before));
        EXPECT_FALSE(ships.contains(later));
    }
}

// What a spawner leaves to the next compaction is told without them.
TEST(spawner, ignores_the_user_bits_of_handles) {
    using layout = handle_layout<24, 20, 9, 11>;
    using ship = handle<int, layout>;
    for (const bool record : {false, true}) {
        pool_options options = with_spawners(2);
        options.record_lives = record ? 1 : 0;
        pool<int, with_layout<layout>> ships(options);
        std::vector<ship> ended;
        const auto hook = ships.on_destroy([&](ship which, int&) { ended.push_back(which); });
        std::vector<ship> all;
        {
            auto spawners = ships.spawners(2);
            for (int i = 0; i != 6; ++i) {
                all.push_back(spawners[0].emplace(i));
                EXPECT_EQ(all.back().user(), 0U);
            }
            const ship reserved = spawners[1].reserve_handle();
            spawners[1].fulfill(reserved.with_user(3), 6);
            all.push_back(reserved);
        }
        ships.compact();
        const auto marked = [&](std::size_t i) { return all[i].with_user(0x7ff); };
        std::vector<int> sunk;
        ship renamed;
        {
            auto spawners = ships.spawners(2);
            EXPECT_TRUE(spawners[0].erase(marked(0)));
            EXPECT_EQ(spawners[0].erase(std::vector{marked(1), marked(2)}), 2U);
            EXPECT_TRUE(spawners[1].extract(marked(3), [&](int&& object) { sunk.push_back(object); }));
            renamed = spawners[1].revoke(marked(4));
            EXPECT_EQ(renamed.user(), 0U);
            EXPECT_TRUE(spawners[0].erase(marked(4))); // which has another handle by then
            EXPECT_TRUE(spawners[0].contains(marked(6)));
            EXPECT_EQ(spawners[0].at(marked(6)), 6);
        }
        ships.compact();
        EXPECT_THAT(ended, UnorderedElementsAre(all[0], all[1], all[2], all[3], renamed));
        EXPECT_THAT(sunk, ElementsAre(3));
        EXPECT_THAT(values_of(ships), UnorderedElementsAre(5, 6));
        expect_consistent(ships);
    }
}

TEST(spawner, reserves_fulfills_and_cancels) {
    pool<int> ships(with_spawners(2));
    auto spawners = ships.spawners(2);
    const auto later = spawners[0].reserve_handle();
    const auto never = spawners[0].reserve_handle();
    EXPECT_EQ(ships.state(later), handle_state::reserved);
    spawners.close();
    ships.compact();
    EXPECT_EQ(ships.state(later), handle_state::reserved);

    spawners = ships.spawners(2);
    spawners[1].fulfill(later, 7);
    EXPECT_TRUE(spawners[1].cancel(never));
    EXPECT_FALSE(spawners[1].cancel(never));
    EXPECT_FALSE(spawners[1].try_fulfill(later, 8));
    EXPECT_EQ(message_of<not_reserved>([&] { spawners[1].fulfill(never, 8); }),
              "pool 'ships': handle #1 generation " + std::to_string(never.generation()) + " pool " +
                  std::to_string(ships.id()) + " is not reserved: reserved and cancelled");
    EXPECT_EQ(ships.at(later), 7);
    spawners.close();
    ships.compact();
    EXPECT_THAT(values_of(ships), ElementsAre(7));
    expect_consistent(ships);
}

TEST(spawner, has_a_share_of_the_room) {
    pool<int> ships({.name = "ships", .capacity = 40, .reuse_delay = 0, .spawners = 4});
    auto spawners = ships.spawners(std::vector<std::uint32_t>{1, 2, 1});
    EXPECT_EQ(spawners[0].room(), 10);
    EXPECT_EQ(spawners[1].room(), 20);
    EXPECT_EQ(spawners[2].room(), 10);
    for (int i = 0; i != 10; ++i) {
        spawners[0].emplace(i);
    }
    EXPECT_EQ(spawners[0].room(), 0);
    EXPECT_EQ(spawners[0].try_emplace(10), handle<int>());
    EXPECT_EQ(
        message_of<spawner_exhausted>([&] { spawners[0].emplace(10); }),
        "pool 'ships': spawner 0 has used its share of the room that was dealt out when the spawners were "
        "made; a larger weight or capacity gives it more");
    EXPECT_EQ(message_of<pool_exhausted>([&] { spawners[0].reserve_handle(); }),
              message_of<spawner_exhausted>([&] { spawners[0].emplace(10); }));
    EXPECT_EQ(spawners[1].room(), 20);
    std::vector<handle<int>> made;
    EXPECT_FALSE(spawners[1].try_emplace_n(21, std::back_inserter(made), 1));
    EXPECT_EQ(spawners[1].room(), 20);
    EXPECT_TRUE(spawners[1].try_emplace_n(20, std::back_inserter(made), 1));
    EXPECT_EQ(spawners[1].room(), 0);
    spawners.close();
    ships.compact();
    expect_consistent(ships);

    // What one has not used is room for all.
    spawners = ships.spawners(2);
    EXPECT_EQ(spawners[0].room() + spawners[1].room(), 10);
}

TEST(spawner, that_makes_nearly_everything_leaves_no_slot_behind) {
    for (const std::size_t capacity : {10U, 100U, 1000U, 20'000U}) {
        pool<int> ships({.name = "ships", .capacity = capacity, .reuse_delay = 7, .spawners = 8});
        std::vector<handle<int>> made;
        for (int frame = 0; frame != 20; ++frame) {
            auto spawners = ships.spawners(8);
            auto& greedy = spawners[static_cast<std::size_t>(frame) % 8];
            while (greedy.room() != 0) {
                made.push_back(greedy.emplace(frame));
            }
            for (std::size_t i = 0; i != made.size() / 2; ++i) {
                greedy.erase(made[i]);
            }
            made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(made.size() / 2));
            spawners.close();
            ships.compact();
            EXPECT_EQ(ships.size(), made.size());
        }
        expect_consistent(ships);
        EXPECT_GE(ships.stats().smallest_reuse_distance, 7);
        auto spawners = ships.spawners(1);
        EXPECT_EQ(spawners[0].room(), capacity - made.size());
    }
}

TEST(spawner, that_makes_nothing_changes_nothing) {
    pool<int> ships(with_spawners(4));
    for (int i = 0; i != 3; ++i) {
        auto spawners = ships.spawners(4);
        spawners.close();
        spawners.close();
        EXPECT_TRUE(ships.idle());
        ships.compact();
    }
    EXPECT_EQ(ships.stats().slots_in_service, 0);
    auto spawners = ships.spawners(4);
    spawners[3].emplace(1);
    EXPECT_EQ(spawners[3].room(), 247); // of eight blocks of 31
}

struct fragile {
    explicit fragile(int number) : value(number) {
        if (number < 0) {
            throw std::runtime_error("fragile");
        }
    }
    int value;
};

TEST(spawner, spends_the_handle_of_an_object_whose_constructor_throws) {
    for (int i = 0; i != 2; ++i) {
        pool<fragile> ships({.name = "ships", .capacity = 20, .reuse_delay = 0, .spawners = 2});
        auto spawners = ships.spawners(2);
        const auto first = spawners[0].emplace(1);
        EXPECT_THROW(spawners[0].emplace(-1), std::runtime_error);
        EXPECT_THROW(spawners[0].emplace_with([](auto) { return -1; }), std::runtime_error);
        std::vector<handle<fragile>> made;
        const auto last_throws = [](std::size_t number) { return number == 2 ? -1 : 1; };
        EXPECT_THROW(spawners[0].emplace_n(3, std::back_inserter(made), last_throws), std::runtime_error);
        EXPECT_EQ(spawners[0].room(), 4);
        const auto second = spawners[0].emplace(2);
        EXPECT_EQ(second.index(), first.index() + 12); // each second one is the other spawner's
        spawners.close();
        ships.compact();
        EXPECT_EQ(ships.size(), 2);
        expect_consistent(ships);
        spawners = ships.spawners(1);
        EXPECT_EQ(spawners[0].room(), 18);
    }
}

TEST(spawner, keeps_places_of_objects_whose_constructors_throw) {
    stable_pool<fragile> ships({.name = "ships", .capacity = 2000, .reuse_delay = 0, .spawners = 2});
    std::vector<handle<fragile>> made;
    for (int frame = 0; frame != 10; ++frame) {
        auto spawners = ships.spawners(2);
        for (auto& spawner : spawners) {
            const auto late = [](std::size_t number) { return number == 100 ? -1 : 1; };
            EXPECT_THROW(spawner.emplace_n(101, std::back_inserter(made), late), std::runtime_error);
            EXPECT_THROW(spawner.emplace(-1), std::runtime_error);
            for (int i = 0; i != 30; ++i) {
                made.push_back(spawner.emplace(i));
            }
            for (int i = 0; i != 10; ++i) {
                spawner.erase(made[made.size() - 1 - static_cast<std::size_t>(i)]);
            }
        }
        spawners.close();
        ships.compact();
        expect_consistent(ships);
    }
    EXPECT_EQ(ships.size(), 400);
}

TEST(spawner, fills_the_holes_of_a_stable_pool) {
    stable_pool<int> ships({.name = "ships", .capacity = 1024, .reuse_delay = 0, .spawners = 4});
    std::vector<handle<int>> made;
    {
        auto spawners = ships.spawners(1);
        spawners[0].emplace_n(512, std::back_inserter(made), 1);
    }
    ships.compact();
    std::vector<const int*> holes;
    {
        auto spawners = ships.spawners(1);
        for (std::size_t i = 0; i != made.size(); i += 4) {
            holes.push_back(ships.find(made[i]));
            spawners[0].erase(made[i]);
        }
    }
    ships.compact();
    auto spawners = ships.spawners(4);
    std::vector<const int*> used;
    for (std::size_t i = 0; i != 128; ++i) {
        used.push_back(ships.find(spawners[i % 4].emplace(2)));
    }
    spawners.close();
    EXPECT_THAT(used, testing::UnorderedElementsAreArray(holes));
    ships.compact();
    expect_consistent(ships);
}

TEST(spawner, passes_from_thread_to_thread) {
    pool<int> ships(with_spawners(1));
    auto spawners = ships.spawners(1);
    handle<int> made;
    for (int i = 0; i != 5; ++i) {
        std::jthread([&] { made = spawners[0].emplace(i); });
    }
    std::jthread([&] { spawners[0].erase(made); });
    std::jthread([&] { spawners.close(); });
    std::jthread([&] { ships.compact(); });
    EXPECT_THAT(values_of(ships), ElementsAre(0, 1, 2, 3));
}

TEST(spawner, set_is_gone_through_by_an_executor) {
    pool<int> ships(with_spawners(16));
    thread_executor threads(3);
    auto spawners = ships.spawners(16);
    spawners.for_each([](auto& spawner) { spawner.emplace(static_cast<int>(spawner.number())); }, threads);
    spawners.for_each([](auto& spawner) { spawner.emplace(static_cast<int>(spawner.number())); });
    EXPECT_THROW(spawners.for_each(
                     [](auto& spawner) {
                         if (spawner.number() == 5) {
                             throw std::runtime_error("five");
                         }
                     },
                     threads),
                 std::runtime_error);
    spawners.close();
    ships.compact();
    EXPECT_EQ(ships.size(), 32);
    EXPECT_EQ(ships.items()[1], 0);
    EXPECT_EQ(ships.items()[31], 15);
}

TEST(spawner, calls_what_was_deferred_in_the_order_of_the_spawners) {
    pool<int> ships(with_spawners(2));
    handle_set<int> alarmed;
    handle_map<int, int> speeds;
    hierarchy<int> fleet;
    alarmed.attach(ships);
    speeds.attach(ships);
    fleet.attach(ships);
    std::vector<int> calls;
    auto spawners = ships.spawners(2);
    spawners[1].defer([&] { calls.push_back(3); });
    const auto first = spawners[0].emplace(1);
    spawners[0].defer([&, first] {
        calls.push_back(1);
        alarmed.insert(first);
        spawners[0].defer([&] { calls.push_back(2); });
        const auto child = spawners[0].emplace(2);
        fleet.set_parent(child, first);
    });
    spawners[1].defer([&, first] {
        speeds.try_emplace(first, 10);
        calls.push_back(4);
    });
    EXPECT_THAT(calls, IsEmpty());
    spawners.close();
    EXPECT_THAT(calls, ElementsAre(1, 2, 3, 4));
    ships.compact();
    EXPECT_EQ(alarmed.size(), 1);
    EXPECT_EQ(speeds.size(), 1);
    EXPECT_EQ(ships.size(), 2);
}

TEST(spawner, may_be_used_by_what_was_deferred_to_the_end_of_its_set) {
    pool<int> ships(with_spawners(4));
    std::size_t calls = 0;
    {
        auto spawners = ships.spawners(4);
        auto& last = spawners[3];
        auto& first = spawners[0];
        last.defer([&, &set = spawners] {
            ++calls;
            last.emplace(7);
            first.defer([&] { // whose turn had been
                ++calls;
                first.emplace(8);
            });
            set.close(); // goes on already
        });
    }
    EXPECT_EQ(calls, 2);
    ships.compact();
    EXPECT_THAT(values_of(ships), ElementsAre(8, 7));
}

TEST(spawner, ends_with_its_set) {
    pool<int> ships(with_spawners(1));
    bool called = false;
    {
        auto spawners = ships.spawners(1);
        spawners[0].defer([&] { called = true; });
        auto moved = std::move(spawners);
        EXPECT_EQ(moved.size(), 1);
        EXPECT_EQ(spawners.size(), 0); // NOLINT: what is left is said
        spawners.close();
        EXPECT_FALSE(called);
    }
    EXPECT_TRUE(called);
    ships.compact();
}

TEST(spawner, keeps_compactions_off) {
    pool<int> ships(with_spawners(1));
    auto spawners = ships.spawners(1);
    EXPECT_EQ(
        message_of<compaction_conflict>([&] { ships.compact(); }),
        "handlepool: pool 'ships': compaction was asked for by a thread that has made an access guard or "
        "spawners, which still live");
    EXPECT_EQ(ships.try_compact(), std::nullopt);
    EXPECT_EQ(ships.try_exclusive_access(), std::nullopt);
    EXPECT_THROW(ships.reset(), compaction_conflict);
    spawners.close();
    ships.compact();
}

TEST(spawner, refuses_after_its_end) {
    pool<int> ships(with_spawners(2));
    auto spawners = ships.spawners(2);
    const auto made = spawners[0].emplace(1);
    const auto reserved = spawners[0].reserve_handle();
    spawners.close();
    const std::string message = "pool 'ships': spawner 1 was used after its end";
    auto& late = spawners[1];
    EXPECT_EQ(late.try_emplace(2), handle<int>());
    EXPECT_EQ(late.try_reserve_handle(), handle<int>());
    EXPECT_EQ(late.room(), 0);
    EXPECT_FALSE(late.cancel(reserved));
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.emplace(2); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.emplace_with([](auto) { return 2; }); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.reserve_handle(); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.fulfill(reserved, 2); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.erase(made); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.extract(made, [](int&&) {}); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.revoke(made); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { late.defer([] {}); }), message);
    ships.compact();
    EXPECT_EQ(late.try_emplace(2), handle<int>());
    EXPECT_THAT(values_of(ships), ElementsAre(1));
    EXPECT_EQ(ships.state(reserved), handle_state::reserved);

    auto others = ships.spawners(2); // which the late one has nothing to do with
    EXPECT_EQ(late.at(made), 1);
}

TEST(spawner, of_a_closed_set_makes_nothing_beside_another_set) {
    pool<int> ships(with_spawners(16));
    auto closed = ships.spawners(16);
    closed.close();
    auto open = ships.spawners(2);
    for (const std::size_t number : {1U, 15U}) {
        EXPECT_EQ(closed[number].room(), 0);
        EXPECT_EQ(closed[number].try_emplace(1), handle<int>());
        EXPECT_EQ(closed[number].try_emplace_with([](auto) { return 1; }), handle<int>());
        EXPECT_EQ(closed[number].try_reserve_handle(), handle<int>());
        std::vector<handle<int>> made;
        EXPECT_FALSE(closed[number].try_emplace_n(1, std::back_inserter(made), 1));
    }
    open[1].emplace(2);
    open.close();
    ships.compact();
    EXPECT_THAT(values_of(ships), ElementsAre(2));
}

TEST(spawner, goes_on_where_another_task_throws) {
    pool<int> ships(with_spawners(8));
    for (unsigned threads = 0; threads != 4; ++threads) {
        auto spawners = ships.spawners(8);
        const auto body = [](auto& spawner) {
            if (spawner.number() == 2 || spawner.number() == 5) {
                throw std::runtime_error(std::to_string(spawner.number()));
            }
            spawner.emplace(static_cast<int>(spawner.number()));
        };
        EXPECT_EQ(message_of<std::runtime_error>([&] {
                      if (threads == 0) {
                          spawners.for_each(body);
                      } else {
                          thread_executor executor(threads);
                          spawners.for_each(body, executor);
                      }
                  }),
                  "2");
        spawners.close();
        ships.compact();
        EXPECT_EQ(ships.size(), 6 * (threads + 1));
    }
}

TEST(spawner, comes_with_the_set_that_lives) {
    pool<int> ships(with_spawners(2));
    auto spawners = ships.spawners(1);
    EXPECT_EQ(
        message_of<spawner_conflict>([&] { static_cast<void>(ships.spawners(1)); }),
        "pool 'ships': spawners were asked for while others live; they end with close(), or with the set "
        "that has them");
    spawners[0].emplace(1);
    spawners.close();
    spawners = ships.spawners(2);
    spawners[1].emplace(2);
    spawners.close();
    ships.compact();
    EXPECT_THAT(values_of(ships), ElementsAre(1, 2));
}

TEST(spawner, takes_allowed_numbers_and_weights_only) {
    pool<int> ships(with_spawners(3));
    const auto refusal = [&](auto asked) {
        return message_of<std::invalid_argument>([&] { static_cast<void>(ships.spawners(asked)); });
    };
    const std::string by = "; allowed are 1 to 3, by pool_options::spawners";
    EXPECT_EQ(refusal(std::size_t{0}), "pool 'ships': 0 spawners were asked for" + by);
    EXPECT_EQ(refusal(std::size_t{4}), "pool 'ships': 4 spawners were asked for" + by);
    EXPECT_EQ(refusal(std::vector<std::uint32_t>{1, 0}),
              "pool 'ships': a spawner's weight of 0 is not allowed; 1 is the least");
    EXPECT_EQ(
        refusal(std::vector<std::uint32_t>{65'536, 1}),
        "pool 'ships': spawners' weights with a sum of 65537 are not allowed; allowed are 65536 at the most");
    EXPECT_EQ(refusal(std::vector<std::uint32_t>{65'535, 1}), "");
    ships.compact();

    pool<int> boats({.name = "boats", .capacity = 10});
    EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(boats.spawners(1)); }),
              "pool 'boats': 1 spawners were asked for; the pool was made without any, see "
              "pool_options::spawners");
    EXPECT_EQ(pool<int>::validate({.name = "boats", .capacity = 10, .spawners = 4097}),
              "pool 'boats': spawners = 4097 is not allowed; allowed are 0 to 4096");
    EXPECT_EQ(pool<int>::validate({.name = "boats", .capacity = 10, .spawners = 4096}), "");
}

TEST(pool_with_spawners, creates_nothing_without_one) {
    pool<int> ships(with_spawners(1));
    const std::string message =
        "pool 'ships': it has spawners, and so objects are created by one of them, under "
        "exclusive access, or by what a compaction calls: the handle of another would "
        "depend on the scheduler";
    EXPECT_EQ(ships.try_emplace(1), handle<int>());
    EXPECT_EQ(ships.try_reserve_handle(), handle<int>());
    EXPECT_EQ(message_of<spawner_conflict>([&] { ships.emplace(1); }), message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { ships.reserve_handle(); }), message);
    std::vector<handle<int>> made;
    EXPECT_EQ(message_of<spawner_conflict>([&] { ships.emplace_n(2, std::back_inserter(made), 1); }),
              message);
    EXPECT_EQ(message_of<spawner_conflict>([&] { ships.emplace_with([](auto) { return 1; }); }), message);
    auto spawners = ships.spawners(1);
    EXPECT_EQ(message_of<spawner_conflict>([&] { ships.emplace(1); }), message);
    EXPECT_TRUE(ships.empty());
}

#if HANDLEPOOL_CHECKED
TEST(pool_with_spawners, reports_what_ends_objects_without_one) {
    pool<int> ships(with_spawners(1));
    auto spawners = ships.spawners(1);
    const auto made = spawners[0].emplace(1);
    const auto reserved = spawners[0].reserve_handle();
    spawners.close();
    const auto* const message =
        "pool 'ships': an object was erased, extracted or revoked, or a handle cancelled, "
        "without a spawner of the pool: who finds it alive would depend on the scheduler";
    EXPECT_DEATH(ships.erase(made), message);
    EXPECT_DEATH(ships.extract(made, [](int&&) {}), message);
    EXPECT_DEATH(ships.revoke(made), message);
    EXPECT_DEATH(ships.cancel(reserved), message);
    EXPECT_DEATH(ships.clear(), message);
}
#endif

TEST(pool_with_spawners, may_be_used_by_one_thread_alone) {
    pool<int> ships(with_spawners(2));
    {
        auto alone = ships.exclusive_access();
        const auto erased = alone.emplace(1);
        alone.emplace(2);
        EXPECT_TRUE(alone.erase(erased));
        alone.emplace_with([](auto) { return 3; });
    }
    EXPECT_THAT(values_of(ships), UnorderedElementsAre(2, 3));
    auto spawners = ships.spawners(2);
    spawners[0].emplace(4);
    spawners.close();
    {
        auto alone = ships.exclusive_access();
        EXPECT_THAT(values_of(alone), UnorderedElementsAre(2, 3, 4));
        alone.clear();
    }
    EXPECT_TRUE(ships.empty());
    expect_consistent(ships);
}

TEST(pool_with_spawners, may_be_used_by_what_a_compaction_calls) {
    pool<int> ships(with_spawners(2));
    handle<int> last;
    auto spawners = ships.spawners(2);
    const auto first = spawners[0].emplace(1);
    last = spawners[1].emplace(2);
    spawners.close();
    ships.compact();
    auto deaths = ships.on_destroy([&](auto, int& value) {
        if (value == 1) {
            EXPECT_TRUE(ships.erase(last));
            EXPECT_TRUE(ships.try_emplace(3));
        }
    });
    spawners = ships.spawners(2);
    spawners[1].erase(first);
    spawners.close();
    ships.compact();
    EXPECT_FALSE(ships.contains(last));
    ships.compact();
    EXPECT_THAT(values_of(ships), ElementsAre(3));
    expect_consistent(ships);
}

TEST(pool_with_spawners, takes_a_budget_by_the_same_rules) {
    pool<int> ships(with_spawners(2));
    std::vector<handle<int>> made;
    auto spawners = ships.spawners(2);
    for (int i = 0; i != 20; ++i) {
        made.push_back(spawners[static_cast<std::size_t>(i % 2)].emplace(i));
    }
    spawners.close();
    ships.compact();
    spawners = ships.spawners(2);
    for (std::size_t i = 0; i != made.size(); ++i) {
        spawners[i % 2].erase(made[i]);
    }
    spawners.close();
    EXPECT_EQ(ships.compact_some(6).removed, 6);
    EXPECT_TRUE(ships.empty()); // all of them have ended
    EXPECT_EQ(ships.stats().waiting_removals, 14);
    EXPECT_EQ(ships.compact().removed, 14);
    expect_consistent(ships);
}

// Also the turns in which shards get a budget.
TEST(pool_with_spawners, takes_a_budget_whatever_threads_have_looked) {
    const auto births = [](int threads) {
        pool<int> ships(with_spawners(4));
        std::vector<int> born;
        auto hook = ships.on_birth([&](auto, int& value) { born.push_back(value); });
        std::vector<std::jthread> lookers;
        for (int i = 0; i != threads; ++i) {
            lookers.emplace_back([&] { static_cast<void>(ships.access()); });
        }
        lookers.clear();
        for (int frame = 0; frame != 10; ++frame) {
            auto spawners = ships.spawners(4);
            for (auto& spawner : spawners) {
                spawner.emplace(frame * 10 + static_cast<int>(spawner.number()));
            }
            spawners.close();
            ships.compact_some(2);
        }
        ships.compact();
        return born;
    };
    EXPECT_EQ(births(5), births(0));
}

TEST(pool_with_spawners, deals_out_what_a_compaction_has_claimed_and_not_used) {
    pool<int> ships({.name = "ships", .capacity = 20'000, .reuse_delay = 0, .spawners = 1});
    auto births = ships.on_birth([&](auto, int& value) {
        if (value == 1) {
            ships.emplace(2);
        }
    });
    auto spawners = ships.spawners(1);
    spawners[0].emplace(1);
    spawners.close();
    ships.compact();
    spawners = ships.spawners(1);
    EXPECT_EQ(spawners[0].room(), 19'998);
}

TEST(pool_with_spawners, is_used_up_like_others) {
    using short_lived = pool<int, with_layout<handle_layout<8, 3, 5>, default_traits>>;
    short_lived ships({.name = "ships", .capacity = 4, .reuse_delay = 0, .slot_limit = 4, .spawners = 2});
    std::size_t made = 0;
    while (true) {
        auto spawners = ships.spawners(2);
        short_lived::handle_type one = spawners[0].try_emplace(1);
        if (!one) {
            EXPECT_EQ(
                message_of<pool_used_up>([&] { spawners[0].emplace(1); }),
                "pool 'ships' is used up: all 4 slots that its slot_limit allows, but for reuse_delay of "
                "them, are retired: their generations have run out");
            break;
        }
        ++made;
        spawners[1].erase(one);
        spawners.close();
        ships.compact();
    }
    EXPECT_EQ(made, ships.stats().handle_limit);
}

TEST(pool_with_spawners, counts_its_threads_as_others_do) {
    pool<int> ships(with_spawners(8));
    pool<int> boats({.name = "boats", .capacity = 1000});
    static_cast<void>(ships.access());
    static_cast<void>(boats.access());
    EXPECT_EQ(ships.stats().shards, boats.stats().shards);
}

TEST(pool_with_spawners, comes_with_rows_and_untyped_objects_too) {
    pool<columns<int, float>> rows({.name = "rows", .capacity = 100, .spawners = 2});
    auto makers = rows.spawners(2);
    makers[1].emplace(2, 2.5F);
    makers[0].emplace(1, 1.5F);
    makers.close();
    rows.compact();
    EXPECT_THAT(rows.items<0>(), ElementsAre(1, 2));
    EXPECT_THAT(rows.items<1>(), ElementsAre(1.5F, 2.5F));

    raw_pool<> bytes({.name = "bytes", .capacity = 100, .spawners = 1}, raw_type{.size = 8, .alignment = 8});
    auto others = bytes.spawners(1);
    const auto zero = others[0].emplace();
    others[0].erase(zero);
    others.close();
    EXPECT_TRUE(bytes.contains(zero));
    bytes.compact();
    EXPECT_FALSE(bytes.contains(zero));
}

} // namespace
} // namespace handlepool::test
