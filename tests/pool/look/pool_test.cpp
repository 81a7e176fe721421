// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/made_up.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

using ints = pool<int>;

std::vector<int> values(const ints& pool) {
    return {pool.begin(), pool.end()};
}

TEST(pool, emplaced_object_is_found_by_its_handle) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(7);
    EXPECT_TRUE(handle);
    EXPECT_TRUE(pool.contains(handle));
    ASSERT_NE(pool.find(handle), nullptr);
    EXPECT_EQ(*pool.find(handle), 7);
    EXPECT_EQ(pool[handle], 7);
    EXPECT_EQ(pool.at(handle), 7);
    EXPECT_EQ(handle.pool_id(), pool.id());
    EXPECT_EQ(pool.size(), 1U);
    EXPECT_FALSE(pool.empty());
}

TEST(pool, is_reachable_when_const) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(7);
    pool.compact();
    const ints& view = pool;
    static_assert(std::is_same_v<decltype(view.find(handle)), const int*>);
    static_assert(std::is_same_v<decltype(view.items()), std::span<const int>>);
    EXPECT_EQ(*view.find(handle), 7);
    EXPECT_EQ(view.at(handle), 7);
    EXPECT_EQ(view[handle], 7);
    EXPECT_THAT(view.items(), ElementsAre(7));
    EXPECT_EQ(view.handle_at(0), handle);
    EXPECT_EQ(view.handle_of(view.items()[0]), handle);
}

TEST(pool, handle_outlives_compactions_that_move_its_object) {
    ints pool({.name = "ints", .capacity = 100});
    const auto handles = tabulate(100, [&](int i) { return pool.emplace(i); });
    pool.compact();
    for (int i = 0; i < 50; ++i) { // holes at the front: the back moves
        EXPECT_TRUE(pool.erase(handles[static_cast<std::size_t>(i)]));
    }
    const compaction_stats done = pool.compact();
    EXPECT_EQ(done.removed, 50U);
    EXPECT_EQ(done.moved, 50U);
    EXPECT_EQ(done.size, 50U);
    for (int i = 50; i < 100; ++i) {
        EXPECT_EQ(pool.at(handles[static_cast<std::size_t>(i)]), i);
    }
}

TEST(pool, erased_handle_is_stale_at_once_and_its_object_readable_until_compaction) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(7);
    pool.compact();
    const int* const object = pool.find(handle);
    EXPECT_TRUE(pool.erase(handle));
    EXPECT_FALSE(pool.contains(handle));
    EXPECT_EQ(pool.find(handle), nullptr);
    EXPECT_FALSE(pool.erase(handle));
    EXPECT_EQ(*object, 7);
    EXPECT_EQ(pool.size(), 0U);
    EXPECT_EQ(pool.items().size(), 1U);
    pool.compact();
    EXPECT_EQ(pool.items().size(), 0U);
}

TEST(pool, items_are_the_objects_of_the_last_compaction) {
    ints pool({.name = "ints", .capacity = 10});
    EXPECT_TRUE(pool.items().empty());
    const auto one = pool.emplace(1);
    pool.emplace(2);
    EXPECT_TRUE(pool.items().empty());
    pool.compact();
    EXPECT_THAT(values(pool), UnorderedElementsAre(1, 2));
    pool.erase(one);
    pool.emplace(3);
    EXPECT_THAT(values(pool), UnorderedElementsAre(1, 2));
    pool.compact();
    EXPECT_THAT(values(pool), UnorderedElementsAre(2, 3));
}

TEST(pool, newborns_fill_the_holes_before_anything_moves) {
    ints pool({.name = "ints", .capacity = 10});
    std::array<ints::handle_type, 4> handles;
    pool.emplace_n(4, handles.begin(), 0);
    pool.compact();
    pool.erase(handles[1]);
    pool.emplace(9);
    const compaction_stats done = pool.compact();
    EXPECT_EQ(done.removed, 1U);
    EXPECT_EQ(done.born, 1U);
    EXPECT_EQ(done.moved, 0U);
    EXPECT_THAT(values(pool), ElementsAre(0, 9, 0, 0));
}

TEST(pool, handle_of_knows_objects_wherever_they_live) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(7);
    EXPECT_EQ(pool.handle_of(*pool.find(handle)), handle) << "in the nursery";
    pool.compact();
    EXPECT_EQ(pool.handle_of(*pool.find(handle)), handle) << "in the dense store";
    const int& object = *pool.find(handle);
    pool.erase(handle);
    EXPECT_EQ(pool.handle_of(object), handle) << "erased, and still in memory";
    EXPECT_EQ(pool.handle_at(0), handle);
    EXPECT_FALSE(pool.contains(pool.handle_at(0)));
    const int foreign = 7;
    EXPECT_EQ(pool.handle_of(foreign), ints::handle_type{});
}

TEST(pool, handle_at_refuses_positions_past_the_end) {
    ints pool({.name = "ints", .capacity = 10});
    EXPECT_THAT([&] { pool.handle_at(3); },
                ThrowsMessage<std::out_of_range>(HasSubstr("pool 'ints': there is no position 3")));
}

TEST(pool, at_says_why_a_handle_is_refused) {
    ints pool({.name = "ints", .capacity = 10, .reuse_delay = 0});
    ints other({.name = "other", .capacity = 10});
    const auto handle = pool.emplace(7);
    const auto refusal = [&](ints::handle_type refused) {
        return message_of<stale_handle>([&] { pool.at(refused); });
    };
    const std::uint32_t first = handle.generation(); // higher than 1 where other pools had the same id before
    const auto with = [&](std::uint64_t index, std::uint32_t generation) {
        return made_up<ints::handle_type>(index, generation, pool.id());
    };
    EXPECT_THAT(refusal({}), HasSubstr("pool 'ints': the null handle"));
    EXPECT_THAT(refusal(other.emplace(1)), HasSubstr("another pool"));
    EXPECT_THAT(refusal(with(77, first)),
                HasSubstr("handle #77 generation " + std::to_string(first) + " pool"));
    EXPECT_THAT(refusal(with(77, first)), HasSubstr("no such slot was ever used"));
    EXPECT_THAT(refusal(with(handle.index(), first + 1)), HasSubstr("an object's is odd"));
    EXPECT_THAT(refusal(with(handle.index(), first + 2)), HasSubstr("no object had this generation yet"));
    pool.erase(handle);
    EXPECT_THAT(refusal(handle), HasSubstr("erased"));
    pool.reset();
    EXPECT_THAT(refusal(handle), HasSubstr("forgotten by a reset"));
}

TEST(pool, insert_moves_its_object_in) {
    pool<move_only> pool({.name = "moved", .capacity = 10});
    const auto handle = pool.insert(move_only(5));
    EXPECT_EQ(pool.at(handle).value(), 5U);
    pool.compact();
    EXPECT_EQ(pool.at(handle).value(), 5U);
}

TEST(pool, emplace_n_writes_as_many_handles) {
    ints pool({.name = "ints", .capacity = 300});
    std::vector<ints::handle_type> handles;
    pool.emplace_n(200, std::back_inserter(handles), 3);
    ASSERT_EQ(handles.size(), 200U);
    EXPECT_TRUE(
        std::all_of(handles.begin(), handles.end(), [&](auto handle) { return pool.at(handle) == 3; }));
    std::array<ints::handle_type, 2> none;
    EXPECT_EQ(pool.emplace_n(0, none.begin(), 3), none.begin());
    EXPECT_EQ(pool.size(), 200U);
}

TEST(pool, emplace_n_is_all_or_nothing_when_the_pool_is_exhausted) {
    ints pool({.name = "ints", .capacity = 10, .reuse_delay = 0});
    std::vector<ints::handle_type> handles;
    EXPECT_THROW(pool.emplace_n(11, std::back_inserter(handles), 3), pool_exhausted);
    EXPECT_TRUE(handles.empty());
    EXPECT_EQ(pool.size(), 0U);
    pool.emplace_n(10, std::back_inserter(handles), 3);
    EXPECT_EQ(pool.size(), 10U);
}

TEST(pool, emplace_n_is_all_or_nothing_when_a_constructor_throws) {
    census counts;
    fuse third(2);
    pool<throwing> pool({.name = "throwing", .capacity = 10, .reuse_delay = 0});
    std::vector<handle<throwing>> handles;
    EXPECT_THROW(pool.emplace_n(5, std::back_inserter(handles), std::ref(third), std::ref(counts)),
                 construction_failure);
    EXPECT_TRUE(handles.empty());
    EXPECT_EQ(pool.size(), 0U);
    EXPECT_EQ(counts.alive(), 0);
    pool.emplace_n(10, std::back_inserter(handles), std::ref(third), std::ref(counts));
    EXPECT_EQ(counts.alive(), 10);
    EXPECT_EQ(pool.compact().size, 10U);
}

TEST(pool, emplace_n_is_all_or_nothing_when_the_output_throws) {
    struct full_after_two {
        using difference_type = std::ptrdiff_t;
        int* written;

        full_after_two& operator*() { return *this; }
        full_after_two& operator++() { return *this; }
        full_after_two operator++(int) { return *this; }
        full_after_two& operator=(ints::handle_type) {
            if (++*written > 2) {
                throw std::length_error("full");
            }
            return *this;
        }
    };
    ints pool({.name = "ints", .capacity = 10});
    int written = 0;
    EXPECT_THROW(pool.emplace_n(5, full_after_two{&written}, 1), std::length_error);
    EXPECT_EQ(pool.size(), 0U);
    EXPECT_EQ(pool.compact().size, 0U);
}

TEST(pool, erase_of_a_range_counts_those_alive) {
    ints pool({.name = "ints", .capacity = 10});
    std::array<ints::handle_type, 4> handles;
    pool.emplace_n(4, handles.begin(), 1);
    pool.erase(handles[2]);
    EXPECT_EQ(pool.erase(handles), 3U);
    EXPECT_EQ(pool.erase(handles), 0U);
    EXPECT_TRUE(pool.empty());
}

TEST(pool, exhausted_pool_names_itself_and_its_capacity) {
    ints pool({.name = "ships", .capacity = 3, .reuse_delay = 0});
    for (int i = 0; i < 3; ++i) {
        pool.emplace(i);
    }
    EXPECT_FALSE(pool.try_emplace(4));
    EXPECT_THAT([&] { pool.emplace(4); }, ThrowsMessage<pool_exhausted>(HasSubstr(
                                              "pool 'ships' is exhausted: its capacity is 3 objects")));
    EXPECT_EQ(pool.size(), 3U);
}

TEST(pool, capacity_is_exact_in_one_thread_whatever_the_reuse_delay) {
    for (const std::size_t delay : {std::size_t{0}, std::size_t{5}, pool_options::automatic}) {
        ints pool({.name = "ints", .capacity = 10, .reuse_delay = delay});
        for (int round = 0; round < 20; ++round) {
            std::vector<ints::handle_type> handles;
            while (const auto handle = pool.try_emplace(round)) {
                handles.push_back(handle);
            }
            EXPECT_EQ(handles.size(), 10U);
            EXPECT_EQ(pool.erase(handles), 10U);
            EXPECT_FALSE(pool.try_emplace(0)) << "erased objects keep their place until compaction";
            pool.compact();
        }
    }
}

TEST(pool, clear_erases_all_and_old_handles_stay_dead) {
    ints pool({.name = "ints", .capacity = 100});
    std::vector<ints::handle_type> handles;
    pool.emplace_n(50, std::back_inserter(handles), 1);
    pool.compact();
    pool.emplace_n(50, std::back_inserter(handles), 1);
    pool.clear();
    EXPECT_TRUE(pool.empty());
    pool.compact();
    EXPECT_TRUE(pool.items().empty());
    std::vector<ints::handle_type> again;
    pool.emplace_n(100, std::back_inserter(again), 2);
    for (const auto handle : handles) {
        EXPECT_FALSE(pool.contains(handle));
    }
}

TEST(pool, try_compact_does_what_compact_does_when_nothing_is_in_the_way) {
    ints pool({.name = "ints", .capacity = 10});
    pool.emplace(1);
    const auto done = pool.try_compact();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->born, 1U);
    EXPECT_EQ(pool.items().size(), 1U);
}

TEST(pool, guards_hold_compaction_off) {
    ints pool({.name = "ints", .capacity = 10});
    {
        const auto guard = pool.access();
        const auto nested = pool.access();
        EXPECT_FALSE(pool.try_compact());
        EXPECT_THAT([&] { pool.compact(); },
                    ThrowsMessage<compaction_conflict>(HasSubstr("has made an access guard")));
    }
    EXPECT_TRUE(pool.try_compact());
}

TEST(pool, statistics_add_up) {
    ints pool({.name = "counted", .capacity = 1000, .reuse_delay = 0});
    std::vector<ints::handle_type> handles;
    pool.emplace_n(300, std::back_inserter(handles), 1);
    pool.compact();
    pool.erase(std::span(handles).first(100));
    pool.emplace_n(50, std::back_inserter(handles), 2);

    const pool_stats before = pool.stats();
    EXPECT_EQ(before.name, "counted");
    EXPECT_EQ(before.pool_id, pool.id());
    EXPECT_EQ(before.capacity, 1000U);
    EXPECT_EQ(before.alive, 250U);
    EXPECT_EQ(before.dense, 300U);
    EXPECT_EQ(before.newborn, 50U);
    EXPECT_EQ(before.waiting_removals, 100U);
    EXPECT_EQ(before.created, 350U);
    EXPECT_EQ(before.destroyed, 0U);
    EXPECT_EQ(before.slots_in_service, before.alive + before.waiting_removals + before.slots_free +
                                           before.slots_claimed + before.slots_retired);

    pool.compact();
    const pool_stats after = pool.stats();
    EXPECT_EQ(after.alive, 250U);
    EXPECT_EQ(after.dense, 250U);
    EXPECT_EQ(after.newborn, 0U);
    EXPECT_EQ(after.waiting_removals, 0U);
    EXPECT_EQ(after.destroyed, 100U);
    EXPECT_EQ(after.slots_free, 100U);
    EXPECT_EQ(after.compactions, 2U);
    EXPECT_EQ(after.shards, 1U + this_thread::index());
    EXPECT_EQ(after.slots_in_service,
              after.alive + after.slots_free + after.slots_claimed + after.slots_retired);
    EXPECT_GT(after.bytes_reserved, after.bytes_resident);
    EXPECT_GE(after.bytes_resident, after.bytes_resident_in_objects);
    EXPECT_GE(after.bytes_resident_in_objects, 250 * sizeof(int));
}

TEST(pool, idle_compaction_does_nothing) {
    ints pool({.name = "ints", .capacity = 10});
    pool.emplace(1);
    pool.compact();
    const compaction_stats idle = pool.compact();
    EXPECT_EQ(idle.removed + idle.born + idle.moved + idle.retired + idle.swept, 0U);
    EXPECT_EQ(idle.size, 1U);
}

TEST(pool, shrink_gives_memory_back_and_keeps_the_objects) {
    pool<sized<4096>> pool({.name = "large", .capacity = 1000});
    std::vector<handle<sized<4096>>> handles;
    pool.emplace_n(1000, std::back_inserter(handles), 1U);
    pool.compact();
    pool.erase(std::span(handles).first(900));
    pool.compact();
    const std::size_t before = pool.stats().bytes_resident_in_objects;
    pool.shrink_to_fit();
    EXPECT_LE(pool.stats().bytes_resident_in_objects + 800 * 4096, before);
    for (std::size_t i = 0; i < handles.size(); ++i) {
        EXPECT_EQ(pool.contains(handles[i]), i >= 900);
    }
    for (const auto& object : pool) {
        EXPECT_TRUE(object.is_whole());
    }
    std::vector<handle<sized<4096>>> again;
    pool.emplace_n(900, std::back_inserter(again), 2U);
    pool.compact();
    EXPECT_TRUE(pool.at(again.back()).is_whole());
}

TEST(pool, small_layout_has_small_handles) {
    using tiny = pool<int, with_layout<handle_layout<16, 12, 4>>>;
    static_assert(sizeof(tiny::handle_type) == 4);
    tiny pool({.name = "tiny", .capacity = 60000, .max_threads = 64});
    std::vector<tiny::handle_type> handles;
    pool.emplace_n(60000, std::back_inserter(handles), 1);
    pool.compact();
    EXPECT_EQ(pool.erase(handles), 60000U);
    pool.compact();
    EXPECT_TRUE(pool.try_emplace(2));
}

TEST(pool, holds_objects_of_any_size_and_alignment) {
    const auto check = []<class T>(std::type_identity<T>) {
        pool<T> pool({.name = "any", .capacity = 300});
        const auto handles = tabulate(300U, [&](unsigned i) { return pool.emplace(i); });
        pool.compact();
        pool.erase(std::span(handles).first(150));
        pool.compact();
        for (unsigned i = 150; i < 300; ++i) {
            const T* const object = pool.find(handles[i]);
            if constexpr (requires { object->is_aligned(); }) {
                EXPECT_TRUE(object->is_aligned());
                EXPECT_EQ(object->value, i);
            } else {
                EXPECT_TRUE(object->is_whole());
                EXPECT_EQ(object->value(), static_cast<unsigned char>(i));
            }
        }
    };
    check(std::type_identity<sized<1>>{});
    check(std::type_identity<sized<3>>{});
    check(std::type_identity<sized<1000>>{});
    check(std::type_identity<over_aligned<64>>{});
    check(std::type_identity<over_aligned<4096>>{});
    check(std::type_identity<over_aligned<16384>>{});
}

} // namespace
} // namespace handlepool::test
