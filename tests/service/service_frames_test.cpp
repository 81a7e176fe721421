// SPDX-License-Identifier: MIT

// The frames of a service: compaction of all its pools, guards, hooks, and the report of what is left.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/thread_executor.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/chosen_module.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/message_of.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

const pool_options small_pools{.capacity = 100, .reuse_delay = 0};

/// Notes which pools are compacted.
struct noting_executor : inline_executor {
    void begin_compaction(std::string_view pool) { compacted.emplace_back(pool); }
    void begin_phase(compaction_phase) {}
    void end_compaction(const compaction_stats&) {}

    std::vector<std::string> compacted;
};

/// Three pools, each with something to do.
class frames : public testing::Test {
protected:
    void make_work() {
        for (auto* const pool : {&c, &a, &b}) { // the order tells nothing
            pool->emplace(1);
        }
    }
    std::vector<std::string> compacted() {
        noting_executor executor;
        world.compact(executor);
        return executor.compacted;
    }

    service world;
    pool<int>& c = world.add<pool<int>>("c", small_pools);
    pool<int>& a = world.add<pool<int>>("a", small_pools);
    pool<int>& b = world.add<pool<int>>("b", small_pools);
};

TEST_F(frames, pools_are_compacted_in_the_order_in_which_they_were_added) {
    make_work();
    EXPECT_THAT(compacted(), ElementsAre("c", "a", "b"));
    world.add<pool<int>>("aa", small_pools).emplace(1);
    make_work();
    EXPECT_THAT(compacted(), ElementsAre("c", "a", "b", "aa"));
    world.remove_pool("a");
    world.add<pool<int>>("a", small_pools).emplace(1);
    b.emplace(1);
    c.emplace(1);
    EXPECT_THAT(compacted(), ElementsAre("a", "c", "b", "a"))
        << "the removed one at first, before it ends; aa has nothing to do";
}

TEST_F(frames, a_compaction_of_the_service_or_of_one_pool_is_seen_while_it_runs) {
    std::vector<bool> seen;
    const auto connection = a.on_destroy([&](pool<int>::handle_type, int&) {
        seen.push_back(world.is_compacting());
        seen.push_back(world.find_any_pool("a")->is_compacting());
        seen.push_back(world.find_any_pool("b")->is_compacting());
    });
    a.erase(a.emplace(1));
    world.compact();
    a.erase(a.emplace(1));
    a.compact();
    EXPECT_THAT(seen, ElementsAre(true, true, false, true, true, false));
    EXPECT_FALSE(world.is_compacting());
}

TEST_F(frames, idle_pools_are_left_out_and_have_their_frames_counted) {
    make_work();
    EXPECT_THAT(compacted(), SizeIs(3));
    EXPECT_THAT(compacted(), IsEmpty());
    a.emplace(1);
    EXPECT_THAT(compacted(), ElementsAre("a"));
    for (const pool_stats& pool : world.stats().pools) {
        EXPECT_EQ(pool.compactions, 3U) << pool.name;
    }
    EXPECT_EQ(world.frames(), 3U);
    EXPECT_EQ(world.stats().frames, 3U);
}

TEST_F(frames, what_was_done_is_summed_up) {
    const auto erased = a.emplace(1);
    a.emplace(2);
    b.emplace(3);
    service_compaction done = world.compact();
    EXPECT_EQ(done.pools, 2U);
    EXPECT_EQ(done.born, 3U);
    EXPECT_EQ(done.removed, 0U);
    EXPECT_GT(done.duration.count(), 0);
    a.erase(erased);
    b.clear();
    done = world.compact();
    EXPECT_EQ(done.pools, 2U);
    EXPECT_EQ(done.removed, 2U);
    EXPECT_EQ(done.moved, 1U);
    EXPECT_EQ(done.skipped, 0U);
    EXPECT_EQ(world.compact().pools, 0U);
}

TEST_F(frames, retired_slots_are_counted) {
    basic_service<handle_layout<16, 2, 14>> short_lived; // one object a slot
    auto& ints = short_lived.add<pool<int, with_layout<handle_layout<16, 2, 14>>>>("ints", small_pools);
    ints.erase(ints.emplace(1));
    EXPECT_EQ(short_lived.compact().retired, 1U);
}

TEST_F(frames, any_executor_runs_the_loops) {
    for (int i = 0; i != 50; ++i) {
        a.emplace(i);
    }
    thread_executor threads(2);
    EXPECT_EQ(world.compact(threads).born, 50U);
    a.emplace(1);
    const inline_executor constant;
    EXPECT_EQ(world.compact(constant).born, 1U);
}

TEST_F(frames, raw_pools_take_part) {
    auto& raw = world.add<raw_pool<>>("raw", small_pools, raw_type{.size = 3, .alignment = 1});
    raw.emplace();
    EXPECT_THAT(compacted(), ElementsAre("raw"));
    EXPECT_EQ(raw.items().size(), 1U);
}

// ---- Conflicts

TEST_F(frames, a_destructor_that_compacts_the_service_is_refused) {
    auto& dying = world.add<pool<re_entrant>>("dying", small_pools);
    std::string refusal;
    std::string guard_refusal;
    dying.erase(dying.emplace(re_entrant::callback(), [&] {
        refusal = message_of<compaction_conflict>([&] { world.compact(); });
        guard_refusal = message_of<compaction_conflict>([&] { const auto guard = world.access(); });
        inline_executor executor;
        EXPECT_EQ(world.try_compact(executor), std::nullopt);
    }));
    EXPECT_EQ(world.compact().removed, 1U);
    EXPECT_EQ(refusal, "handlepool: service: compaction was asked for while one is running");
    EXPECT_EQ(guard_refusal,
              "handlepool: service: an access guard was asked for in a thread that is compacting");
    EXPECT_EQ(world.frames(), 1U);
}

TEST_F(frames, destructors_may_erase_in_other_pools_before_and_behind_theirs) {
    auto& dying = world.add<pool<re_entrant>>("dying", small_pools);
    auto& behind = world.add<pool<int>>("behind", small_pools);
    const any_handle in_a = a.emplace(1);
    const any_handle in_behind = behind.emplace(1);
    world.compact();
    dying.erase(dying.emplace(re_entrant::callback(), [&, in_a, in_behind] {
        EXPECT_TRUE(world.erase(in_a));
        EXPECT_TRUE(world.erase(in_behind));
    }));
    EXPECT_EQ(world.compact().removed, 2U) << "the object itself, and that of the pool behind";
    EXPECT_EQ(world.compact().removed, 1U);
}

TEST_F(frames, destructors_may_add_and_remove_pools_also_their_own) {
    auto& dying = world.add<pool<re_entrant>>("dying", small_pools);
    dying.erase(dying.emplace(re_entrant::callback(), [&] {
        EXPECT_TRUE(world.remove_pool("dying"));
        EXPECT_TRUE(world.remove_pool("b"));
        world.add<pool<int>>("dying", small_pools).emplace(1);
    }));
    b.emplace(1);
    EXPECT_THAT(compacted(), ElementsAre("b", "dying")) << "they end with the next compaction";
    EXPECT_THAT(compacted(), ElementsAre("dying", "b", "dying")) << "at last the new one";
    EXPECT_EQ(world.size(), 3U);
}

TEST_F(frames, a_thread_that_holds_a_guard_can_not_compact) {
    make_work();
    {
        const auto guard = world.access();
        EXPECT_THAT([&] { world.compact(); },
                    ThrowsMessage<compaction_conflict>(
                        "handlepool: service: compaction was asked for by a thread "
                        "that has made an access guard or spawners, which still live"));
        const auto nested = world.access();
        inline_executor executor;
        EXPECT_EQ(world.try_compact(executor), std::nullopt);
    }
    EXPECT_EQ(world.frames(), 0U);
    EXPECT_THAT(compacted(), SizeIs(3));
}

TEST_F(frames, a_pool_in_conflict_is_told_after_the_others_were_compacted) {
    make_work();
    {
        const auto guard = a.access();
        noting_executor executor;
        EXPECT_THAT([&] { world.compact(executor); }, ThrowsMessage<compaction_conflict>(HasSubstr(
                                                          "pool 'a': compaction was asked for by a thread")));
        EXPECT_THAT(executor.compacted, ElementsAre("c", "b"));
        EXPECT_EQ(world.frames(), 1U);
    }
    EXPECT_THAT(compacted(), ElementsAre("a")) << "nothing is lost";
}

TEST_F(frames, the_first_of_several_conflicts_is_told) {
    make_work();
    const auto of_b = b.access();
    const auto of_a = a.access();
    EXPECT_THAT([&] { world.compact(); }, ThrowsMessage<compaction_conflict>(HasSubstr("pool 'a'")));
    EXPECT_EQ(c.items().size(), 1U);
}

TEST_F(frames, a_removed_pool_whose_guard_is_held_lives_on_until_it_is_released) {
    census counts;
    auto& removed = world.add<pool<counted>>("removed", small_pools);
    removed.emplace(counts);
    {
        const auto guard = removed.access();
        world.remove_pool("removed");
        const auto done = world.try_compact();
        ASSERT_TRUE(done);
        EXPECT_EQ(done->skipped, 1U);
        EXPECT_THROW(world.compact(), compaction_conflict);
        EXPECT_EQ(counts.alive(), 1);
    }
    world.compact();
    EXPECT_EQ(counts.alive(), 0);
}

TEST_F(frames, try_compact_leaves_out_pools_whose_guards_are_held) {
    make_work();
    noting_executor executor;
    {
        const auto guard = a.access();
        const auto done = world.try_compact(executor);
        ASSERT_TRUE(done);
        EXPECT_EQ(done->skipped, 1U);
        EXPECT_EQ(done->pools, 2U);
        EXPECT_THAT(executor.compacted, ElementsAre("c", "b"));
    }
    EXPECT_EQ(world.try_compact(executor)->pools, 1U);
    EXPECT_THAT(executor.compacted, ElementsAre("c", "b", "a"));
}

TEST_F(frames, a_guard_of_another_thread_holds_compaction_off) {
    make_work();
    std::binary_semaphore held(0);
    std::binary_semaphore let_go(0);
    std::atomic<bool> was_compacted = false;
    std::atomic<std::size_t> seen_by_reader = 99;
    std::jthread reader([&] {
        const auto guard = world.access();
        held.release();
        let_go.acquire();
        seen_by_reader = was_compacted ? 99 : a.items().size();
    });
    held.acquire();
    inline_executor executor;
    EXPECT_EQ(world.try_compact(executor), std::nullopt);
    std::jthread compacting([&] {
        world.compact();
        was_compacted = true;
    });
    let_go.release();
    reader.join();
    compacting.join();
    EXPECT_EQ(seen_by_reader, 0U);
    EXPECT_EQ(a.items().size(), 1U);
}

// Used to wait for ever: each for the guard of the other.
TEST_F(frames, a_guard_of_a_pool_and_then_of_the_service_beside_a_compaction) {
    auto& ships = world.add<pool<int>>("ships", {.capacity = 10});
    const auto handle = ships.emplace(1);
    for (int round = 0; round != 3; ++round) {
        ships.emplace(round);
        std::atomic<bool> compacting = false;
        auto first = ships.access();
        std::jthread compaction([&] {
            compacting = true;
            world.compact();
        });
        while (!compacting) {
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(
            std::chrono::milliseconds(2)); // it most likely waits for the guard by now
        {
            const auto second = world.access();
            EXPECT_EQ(*world.find<int>(handle), 1);
        }
        first.reset();
    }
    world.compact();
    EXPECT_EQ(ships.items().size(), 4U);
}

TEST_F(frames, guards_may_end_in_another_thread) {
    auto& ships = world.add<pool<int>>("ships", {.capacity = 10});
    const auto handle = ships.emplace(7);
    auto of_service = world.access();
    auto of_object = ships.pin(handle);
    auto by_service = world.pin<int>(handle);
    ASSERT_TRUE(of_object && by_service);
    EXPECT_EQ(&*of_object, &*by_service);
    std::jthread([&, one = std::move(of_service), two = std::move(of_object), three = std::move(by_service)] {
        EXPECT_EQ(*two, 7);
        EXPECT_FALSE(world.try_compact());
        EXPECT_FALSE(ships.try_compact());
    }).join();
    EXPECT_TRUE(ships.try_compact());
    EXPECT_TRUE(world.try_compact());
    world.compact();
}

TEST_F(frames, pin_of_a_stale_handle_holds_nothing) {
    auto& ships = world.add<pool<int>>("ships", {.capacity = 10});
    const auto handle = ships.emplace(7);
    ships.erase(handle);
    const auto of_object = ships.pin(handle);
    const auto by_service = world.pin<int>(handle);
    const auto of_another_type = world.pin<double>(handle);
    EXPECT_FALSE(of_object || by_service || of_another_type);
    EXPECT_TRUE(world.try_compact());
}

TEST_F(frames, try_access_never_waits) {
    auto& ships = world.add<pool<int>>("ships", {.capacity = 10});
    const auto of_pool = ships.try_access();
    const auto of_service = world.try_access();
    EXPECT_TRUE(of_pool && of_service);
    EXPECT_FALSE(world.try_compact());
}

TEST_F(frames, null_handles_have_no_pool) {
    const any_handle null; // whose bits name the pool with the id 0, in a process of its own the first one
    EXPECT_EQ(world.route(null), nullptr);
    EXPECT_EQ(world.name_of(null), "");
    EXPECT_FALSE(world.contains(null));
    EXPECT_FALSE(world.erase(null));
    EXPECT_EQ(world.find<int>(null), nullptr);
    EXPECT_FALSE(world.handle_cast<int>(null));
    EXPECT_EQ(world.describe(null), "null");
}

TEST(null_handle, has_no_pool_where_one_has_the_id_that_its_bits_name) {
    basic_service<handle_layout<20, 10, 2>> world;
    auto& first =
        world.add<pool<int, with_layout<handle_layout<20, 10, 2>>>>("first", {.capacity = 10, .pool_id = 0});
    const decltype(world)::handle_type living = first.emplace(1);
    const decltype(world)::handle_type null;
    EXPECT_NE(world.route(living), nullptr);
    EXPECT_EQ(world.route(null), nullptr);
    EXPECT_EQ(world.name_of(null), "");
    EXPECT_EQ(world.describe(null), "null");
}

// Throws where compactions are announced, outside of what can't fail.
struct throwing_listener : inline_executor {
    void begin_compaction(std::string_view) const { throw std::runtime_error("the listener's"); }
    void begin_phase(compaction_phase) const {}
    void end_compaction(const compaction_stats&) const {}
};

TEST_F(frames, an_exception_of_an_executor_leaves_removed_pools_to_the_next_compaction) {
    auto& ships = world.add<pool<int>>("ships", {.capacity = 10});
    const auto handle = ships.emplace(7);
    auto guard = ships.access();
    ASSERT_TRUE(world.remove_pool("ships"));
    std::jthread([&] {
        throwing_listener listener;
        EXPECT_FALSE(world.try_compact(listener).value_or(service_compaction{}).pools != 0);
    }).join();
    EXPECT_EQ(ships.at(handle), 7);
    guard.reset();
    throwing_listener listener;
    EXPECT_THROW(world.compact(listener), std::runtime_error);
    EXPECT_EQ(ships.at(handle), 7); // it lives on
    world.compact();
}

TEST_F(frames, pools_that_come_and_go_between_compactions_are_never_compacted_when_gone) {
    for (int round = 0; round != 5; ++round) {
        world.add<pool<int>>("one", {.capacity = 10}).emplace(1);
        world.compact();
        world.add<pool<int>>("two", {.capacity = 10}).emplace(2);
        ASSERT_TRUE(world.remove_pool("one"));
        world.compact();
        EXPECT_EQ(world.compact().pools, 0U);
        ASSERT_TRUE(world.remove_pool("two"));
        world.compact();
        EXPECT_EQ(world.compact().pools, 0U);
    }
}

TEST_F(frames, more_threads_than_the_limit_get_no_guard) {
    service_options options;
    options.max_threads = 1 + this_thread::index();
    service narrow(options);
    {
        const auto guard = narrow.access();
    }
    std::jthread([&] {
        EXPECT_THAT([&] { auto guard = narrow.access(); },
                    ThrowsMessage<too_many_threads>(testing::StartsWith("service: more than max_threads")));
        narrow.compact(); // needs no shard
    }).join();
    EXPECT_EQ(narrow.frames(), 1U);
}

TEST(service_of_another_module, gives_no_guard) {
    chosen_module::chosen = 1;
    basic_service<default_layout, chosen_module> world;
    chosen_module::chosen = 2;
    EXPECT_THAT([&] { static_cast<void>(world.access()); },
                ThrowsMessage<foreign_module>(testing::StartsWith("service was made by another copy")));
    EXPECT_FALSE(world.try_access());
    EXPECT_TRUE(world.try_compact());
    chosen_module::chosen = 1;
}

// ---- Hooks

TEST_F(frames, hooks_are_called_for_typed_and_for_any_pools) {
    std::vector<std::pair<any_handle, int>> typed;
    std::vector<std::pair<any_handle, int>> untyped;
    a.on_destroy([&](handle<int> handle, int& object) { typed.emplace_back(handle, object); }).release();
    const scoped_hook hook = world.find_any_pool("b")->on_destroy(
        [&](any_handle handle, void* object) { untyped.emplace_back(handle, *static_cast<int*>(object)); });
    const any_handle in_a = a.emplace(1);
    const any_handle in_b = b.emplace(2);
    world.compact();
    world.erase(in_a);
    world.erase(in_b);
    world.compact();
    EXPECT_THAT(typed, ElementsAre(std::pair(in_a, 1)));
    EXPECT_THAT(untyped, ElementsAre(std::pair(in_b, 2)));
}

TEST(service_hooks, are_called_when_a_removed_pool_ends) {
    int calls = 0;
    service world;
    auto& ints = world.add<pool<int>>("ints", small_pools);
    ints.on_destroy([&](handle<int>, int&) { ++calls; }).release();
    ints.emplace(1);
    world.remove_pool("ints");
    EXPECT_EQ(calls, 0);
    world.compact();
    EXPECT_EQ(calls, 1);
}

// ---- What is left

TEST(service_leaks, names_pools_that_hold_objects_and_the_oldest_of_them) {
    service world;
    auto& ships = world.add<pool<int>>("ships", {.capacity = 100, .remember_frames = true});
    world.add<pool<int>>("empty", small_pools);
    auto& rockets = world.add<pool<int>>("rockets", small_pools);
    EXPECT_THAT(world.leaks(), IsEmpty());
    std::uint64_t generation = 0; // 1, unless an earlier pool of the program had the same id
    for (int i = 0; i != 7; ++i) {
        generation = ships.emplace(i).generation();
        world.compact();
    }
    const auto rocket = rockets.emplace(1);
    rockets.erase(rockets.emplace(2));
    std::vector<pool_leak> leaks = world.leaks(2);
    ASSERT_THAT(leaks, SizeIs(2));
    EXPECT_EQ(leaks[0].pool, "ships");
    EXPECT_EQ(leaks[0].objects, 7U);
    EXPECT_THAT(leaks[0].oldest,
                ElementsAre(fmt::format("ships #0 generation {}: alive, created 7 frames ago", generation),
                            fmt::format("ships #1 generation {}: alive, created 6 frames ago", generation)));
    EXPECT_EQ(leaks[1].pool, "rockets");
    EXPECT_EQ(leaks[1].objects, 1U);
    EXPECT_THAT(leaks[1].oldest,
                ElementsAre(fmt::format("rockets #0 generation {}: alive", rocket.generation())));
    EXPECT_THAT(world.leaks()[0].oldest, SizeIs(5));
    EXPECT_THAT(world.leaks(0)[0].oldest, IsEmpty());
}

TEST(service_leaks, are_reported_at_the_end_before_the_objects_are_destroyed) {
    census counts;
    std::vector<std::string> reports;
    service_options options;
    options.report_leaks = [&](const std::string& text) {
        EXPECT_EQ(counts.alive(), 2);
        reports.push_back(text);
    };
    std::uint64_t generation = 0;
    {
        service world(options);
        auto& counted_pool = world.add<pool<counted>>("counted", small_pools);
        counted_pool.emplace(counts);
        generation = counted_pool.emplace(counts).generation();
    }
    EXPECT_THAT(reports, ElementsAre(fmt::format("pool 'counted' still holds 2 objects; the oldest:\n"
                                                 "  counted #0 generation {0}: alive\n"
                                                 "  counted #1 generation {0}: alive\n",
                                                 generation)));
}

TEST(service_leaks, are_not_reported_when_there_are_none) {
    int reports = 0;
    service_options options;
    options.report_leaks = [&](const std::string&) { ++reports; };
    {
        service world(options);
        auto& ships = world.add<pool<int>>("ships", small_pools);
        ships.erase(ships.emplace(1)); // erased is not leaked, compacted or not
        world.add<pool<int>>("removed", small_pools).emplace(1);
        world.remove_pool("removed"); // as the program wanted it
    }
    EXPECT_EQ(reports, 0);
}

} // namespace
} // namespace handlepool::test
