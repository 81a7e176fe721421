// SPDX-License-Identifier: MIT

// What is read of a pool's memory, compared with what the pool says itself: of this process, which may read
// its own memory in the same way.

#include "told_guards.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/deadline.hpp>
#include <tests/support/threads.hpp>
#include <tools/inspect/inspected_pool.hpp>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct ship {
    std::uint64_t number = 0;
    std::uint64_t again = 0; // the same

    void clear() noexcept { *this = {}; } // for a recycling_pool
};

/// The pool of this process with that name.
inspected_pool pool_named(const inspected_program& program, const std::string& name) {
    for (const detail::living_pool& each : program.pools()) {
        inspected_pool pool(program, each);
        if (pool.name() == name) {
            return pool;
        }
    }
    throw std::runtime_error("no pool " + name);
}

TEST(inspected_pool, is_found_by_its_name_and_described) {
    const inspected_program program = this_program();
    EXPECT_THAT(program.pools(), IsEmpty());
    const pool<ship> ships({.name = "ships", .capacity = 100, .record_lives = 2, .pool_id = 301});
    const stable_pool<int> numbers(
        {.name = "numbers", .capacity = 50, .remember_frames = true, .pool_id = 302});
    const pool<columns<char, double, ship>> rows({.name = "rows", .capacity = 10, .pool_id = 303});
    const raw_pool<> raw({.name = "raw", .capacity = 10, .pool_id = 304}, {.size = 24, .alignment = 8});
    const auto listed = program.pools();
    ASSERT_EQ(listed.size(), 4U);
    std::vector<std::string> told;
    for (const detail::living_pool& each : listed) {
        const inspected_pool one(program, each);
        told.push_back(one.name() + " " + std::to_string(one.id()) + " " + one.type() + " " +
                       std::to_string(one.capacity()) + " " + std::to_string(one.object_bytes()) +
                       (one.is_stable() ? " stable" : "") + (one.records_lives() ? " lives" : "") +
                       (one.knows_ages() ? " ages" : ""));
    }
    const std::string ship_type(detail::type_name<ship>());
    EXPECT_THAT(
        told,
        ElementsAre("ships 301 " + ship_type + " 100 16 lives ages", "numbers 302 int 50 4 stable ages",
                    "rows 303 " + std::string(detail::type_name<columns<char, double, ship>>()) + " 10 25",
                    "raw 304  10 24"));
    EXPECT_THAT(ship_type, testing::EndsWith("ship"));
}

TEST(inspected_pool, is_listed_while_it_lives) {
    const inspected_program program = this_program();
    std::optional<pool<ship>> first(std::in_place, pool_options{.name = "first", .capacity = 10});
    std::optional<pool<ship>> second(std::in_place, pool_options{.name = "second", .capacity = 10});
    EXPECT_EQ(program.pools().size(), 2U);
    first.reset();
    ASSERT_EQ(program.pools().size(), 1U);
    EXPECT_EQ(inspected_pool(program, program.pools().front()).name(), "second");
    second.reset();
    EXPECT_THAT(program.pools(), IsEmpty());
}

/// Pools of all kinds with the same layout of their handles, and what is done with them.
template <class Pool>
struct inspected_kind : testing::Test {
    static Pool make(pool_options options) {
        if constexpr (std::is_constructible_v<Pool, pool_options, raw_type>) {
            return Pool(std::move(options), {.size = sizeof(ship), .alignment = alignof(ship)});
        } else {
            return Pool(std::move(options));
        }
    }
};

using recording_kinds = testing::Types<pool<ship>, stable_pool<ship>, recycling_pool<ship>,
                                       pool<ship, with_layout<handle_layout<12, 9, 7, 20>>>,
                                       stable_pool<ship, with_layout<handle_layout<10, 6, 8>>>>;
TYPED_TEST_SUITE(inspected_kind, recording_kinds);

/// All that is asked of it is what the pool says; `handles` are any.
template <class Pool>
void expect_same(const inspected_program& program, const Pool& pool,
                 const std::vector<typename Pool::handle_type>& handles) {
    const inspected_pool seen = pool_named(program, pool.name());
    const pool_stats stats = pool.stats();
    const pool_counts counts = seen.counts();
    EXPECT_EQ(counts.alive, stats.alive);
    EXPECT_EQ(counts.dense, stats.dense);
    EXPECT_EQ(counts.newborn, stats.newborn);
    EXPECT_EQ(counts.waiting_removals, stats.waiting_removals);
    EXPECT_EQ(counts.created, stats.created);
    EXPECT_EQ(counts.destroyed, stats.destroyed);
    EXPECT_EQ(counts.frames, stats.compactions);
    for (const auto each : handles) {
        EXPECT_EQ(seen.describe(each.value()), pool.describe(each));
        EXPECT_EQ(seen.is_alive(each.value()), pool.contains(each));
        const auto copy = seen.copy(each.value());
        ASSERT_EQ(copy.has_value(), pool.contains(each));
        if (copy) {
            ship bytes;
            ASSERT_EQ(copy->bytes.size(), sizeof(bytes));
            std::memcpy(&bytes, copy->bytes.data(), sizeof(bytes));
            EXPECT_EQ(bytes.number, pool.find(each)->number);
        }
    }
    std::vector<std::uint64_t> alive;
    seen.for_each_living([&](const living_object& one) { alive.push_back(one.handle); });
    std::vector<std::uint64_t> expected;
    for (const auto each : pool.oldest(pool.capacity() * 2)) {
        expected.push_back(each.value());
    }
    std::ranges::sort(expected);
    std::ranges::sort(alive);
    EXPECT_EQ(alive, expected);
}

TYPED_TEST(inspected_kind, is_as_it_says_itself_after_each_step) {
    const inspected_program program = this_program();
    for (const std::size_t lives : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
        for (const bool remembers : {false, true}) {
            auto ships = this->make({.name = "ships",
                                     .capacity = 60,
                                     .reuse_delay = 0,
                                     .remember_frames = remembers,
                                     .record_lives = lives});
            using handle_type = typename TypeParam::handle_type;
            std::mt19937 random(static_cast<unsigned>(lives) * 2 + remembers);
            const auto below = [&](std::size_t most) { return random() % most; };
            std::vector<handle_type> known{handle_type()};
            for (int step = 0; step != 200; ++step) {
                switch (below(8)) {
                case 0:
                case 1:
                case 2:
                    if (const handle_type made = ships.try_emplace(ship{below(1000), 0})) {
                        known.push_back(made);
                    }
                    break;
                case 3:
                case 4:
                    ships.erase(known[below(known.size())]);
                    break;
                case 5:
                    if (const handle_type made = ships.revoke(known[below(known.size())])) {
                        known.push_back(made);
                    }
                    break;
                case 6:
                    ships.compact();
                    break;
                default:
                    if (step % 50 == 49) {
                        ships.reset();
                    } else if (step % 20 == 0) {
                        ships.clear();
                    } else if (const handle_type reserved = ships.try_reserve_handle()) {
                        known.push_back(reserved);
                        if (below(2) == 0) {
                            ships.cancel(reserved);
                        }
                    }
                }
                if (step % 20 == 0) {
                    expect_same(program, ships, known);
                }
            }
        }
    }
}

TEST(inspected_pool, copies_rows_column_by_column) {
    const inspected_program program = this_program();
    pool<columns<std::uint8_t, std::uint32_t>> rows({.name = "rows", .capacity = 300});
    std::vector<handle<columns<std::uint8_t, std::uint32_t>>> all;
    for (std::uint32_t i = 0; i != 200; ++i) {
        all.push_back(rows.emplace(static_cast<std::uint8_t>(i), i * 1000));
    }
    rows.erase(all[0]);
    rows.compact();
    const inspected_pool seen = pool_named(program, "rows");
    for (std::uint32_t i = 1; i != 200; ++i) {
        const auto copy = seen.copy(all[i].value());
        ASSERT_TRUE(copy);
        ASSERT_EQ(copy->bytes.size(), 5U);
        std::uint32_t second = 0;
        std::memcpy(&second, &copy->bytes[1], sizeof(second));
        EXPECT_EQ(std::to_integer<unsigned>(copy->bytes[0]), i);
        EXPECT_EQ(second, i * 1000);
        EXPECT_TRUE(copy->is_dense);
    }
    EXPECT_FALSE(seen.copy(all[0].value()));
}

// A batch that fails gives back slots that nobody has ever touched.
TEST(inspected_pool, finds_an_object_behind_many_slots_that_were_not_used) {
    constexpr std::size_t batch = 90'000;
    const inspected_program program = this_program();
    pool<ship> ships({.name = "ships", .capacity = 100'000});
    handle<ship> behind;
    std::vector<handle<ship>> made;
    EXPECT_THROW(ships.emplace_n(batch, std::back_inserter(made),
                                 [&](std::size_t) -> ship {
                                     std::jthread([&] { behind = ships.emplace(); }).join();
                                     throw std::runtime_error("no ship");
                                 }),
                 std::runtime_error);
    ASSERT_GE(behind.index(), batch);
    const inspected_pool seen = pool_named(program, "ships");
    std::vector<std::uint64_t> alive;
    seen.for_each_living([&alive](const living_object& one) { alive.push_back(one.handle); });
    EXPECT_THAT(alive, ElementsAre(behind.value()));
}

TEST(inspected_pool, knows_objects_made_under_exclusive_access) {
    const inspected_program program = this_program();
    pool<ship> ships({.name = "ships", .capacity = 100, .record_lives = 1});
    auto alone = ships.exclusive_access();
    const handle<ship> first = alone.emplace(ship{7, 7});
    const handle<ship> second = alone.emplace(ship{8, 8});
    alone.erase(first);
    const inspected_pool seen = pool_named(program, "ships");
    EXPECT_TRUE(seen.is_alive(second.value()));
    EXPECT_FALSE(seen.is_alive(first.value()));
    const gate_view gate = seen.gate();
    EXPECT_EQ(gate.is, gate_view::state::closed);
    EXPECT_TRUE(gate.is_exclusive);
    EXPECT_NE(gate.thread, "");
}

TEST(inspected_pool, knows_who_holds_guards_and_who_waits) {
    const inspected_program program = this_program();
    pool<ship> ships({.name = "ships", .capacity = 100, .record_lives = 1});
    const inspected_pool seen = pool_named(program, "ships");
    expect_guards_to_be_told(ships, [&seen] { return seen.gate(); });
}

TEST(inspected_pool, whose_lives_are_not_recorded_knows_no_makers_of_guards) {
    const inspected_program program = this_program();
    pool<ship> ships({.name = "ships", .capacity = 100});
    const auto guard = ships.access();
    const gate_view gate = pool_named(program, "ships").gate();
    ASSERT_EQ(gate.guards.size(), 1U);
    EXPECT_FALSE(gate.guards[0].nanoseconds);
    EXPECT_FALSE(gate.guards[0].maker);
}

TEST(inspected_pool, that_has_ended_has_no_memory) {
    const inspected_program program = this_program();
    std::optional<pool<ship>> ships(std::in_place, pool_options{.name = "ships", .capacity = 100'000});
    const handle<ship> one = ships->emplace();
    const inspected_pool seen = pool_named(program, "ships");
    EXPECT_TRUE(seen.is_alive(one.value()));
    ships.reset();
    EXPECT_THROW(static_cast<void>(seen.is_alive(one.value())), memory_gone);
}

// Objects move from place to place, end and are made all the time: a copy is always one of the object that
// was asked for, whole.
TEST(inspected_pool, copies_no_other_object_while_compactions_move_them) {
    const inspected_program program = this_program();
    pool<ship> ships({.name = "ships", .capacity = 3000, .record_lives = 2});
    constexpr std::size_t kept_count = 64;
    std::vector<handle<ship>> kept;
    std::vector<handle<ship>> others;
    for (std::uint64_t i = 0; i != kept_count; ++i) {
        for (int j = 0; j != 8; ++j) {
            others.push_back(ships.emplace(ship{~i, ~i}));
        }
        kept.push_back(ships.emplace(ship{i, i}));
    }
    ships.compact();
    std::jthread frames([&](const std::stop_token& stop) {
        std::mt19937 random(5);
        bool is_up = false;
        while (!stop.stop_requested()) {
            for (int j = 0; j != 20; ++j) {
                handle<ship>& one = others[random() % others.size()];
                ships.erase(one);
                one = ships.emplace(ship{~std::uint64_t{0}, ~std::uint64_t{0}});
            }
            ships.compact();
            // All change places: those that are asked for come first, and then last.
            sort(ships, [is_up](const ship& one, const ship& other) {
                return is_up ? one.number < other.number : one.number > other.number;
            });
            is_up = !is_up;
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
    });
    const inspected_pool seen = pool_named(program, "ships");
    std::size_t copied = 0;
    // For longer where the machine is so busy that a frame lasted as long as all of them.
    const test::deadline late;
    for (int round = 0; round < 200 || (copied <= kept_count && !late.has_passed()); ++round) {
        for (std::uint64_t i = 0; i != kept_count; ++i) {
            if (const auto copy = seen.copy(kept[i].value())) {
                ship bytes;
                std::memcpy(&bytes, copy->bytes.data(), sizeof(bytes));
                ASSERT_EQ(bytes.number, i);
                ASSERT_EQ(bytes.again, i);
                ++copied;
            }
        }
    }
    frames.request_stop();
    EXPECT_GT(copied, kept_count);
}

// Pools come and go while they are listed.
TEST(inspected_program, lists_pools_that_come_and_go) {
    const inspected_program program = this_program();
    const pool<ship> lasting({.name = "lasting", .capacity = 10});
    std::vector<std::jthread> threads;
    for (int i = 0; i != 2; ++i) {
        threads.emplace_back([](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                const pool<ship> one({.name = "passing", .capacity = 10});
                const pool<ship> two({.name = "passing", .capacity = 10});
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        });
    }
    for (int round = 0; round != 300; ++round) {
        bool has_lasting = false;
        for (const detail::living_pool& each : program.pools()) {
            try {
                const std::string name = inspected_pool(program, each).name();
                has_lasting = has_lasting || name == "lasting";
            } catch (const memory_gone&) { // it has ended since
            }
        }
        ASSERT_TRUE(has_lasting);
    }
}

} // namespace
} // namespace handlepool::inspect_tool
