// SPDX-License-Identifier: MIT

// What a recycling_pool promises beyond a stable_pool. What pools of all placements promise is in
// pool_placements_test; how objects come and go in any order, in recycling_pool_oracle_test.

#include <handlepool/detail/memory/poison.hpp>
#include <handlepool/recycling_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/poisoned.hpp>
#include <tests/support/recycled_object.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <latch>
#include <map>
#include <mutex>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {

/// A vector in a class of its own, with a constructor of two arguments.
struct row_of_numbers {
    row_of_numbers() = default;
    row_of_numbers(std::size_t count, int value) : numbers(count, value) {}
    std::vector<int> numbers;
};

/// Can neither be moved nor assigned.
struct pinned_buffer {
    std::mutex busy;
    std::vector<char> bytes;
};

/// An object whose value-initialization may fail.
class reluctant {
public:
    inline static bool refuses = false;
    inline static int alive = 0;

    reluctant() {
        if (refuses) {
            throw std::runtime_error("not now");
        }
        ++alive;
    }
    ~reluctant() { --alive; }
    void clear() noexcept { EXPECT_EQ(self_, this) << "cleared, and was never made"; }

private:
    const void* self_ = this;
};

} // namespace handlepool::test

template <>
struct handlepool::recycler<handlepool::test::row_of_numbers> {
    static void clear(test::row_of_numbers& object) noexcept { object.numbers.clear(); }
    static void assign(test::row_of_numbers& object, std::size_t count, int value) {
        object.numbers.assign(count, value);
    }
};
template <>
struct handlepool::recycler<handlepool::test::pinned_buffer> {
    static void clear(test::pinned_buffer& object) noexcept { object.bytes.clear(); }
};

namespace handlepool::test {
namespace {

using strings = recycling_pool<std::string>;
using vectors = recycling_pool<std::vector<int>>;
using objects = recycling_pool<recycled_object, with_policy<support::tiny_policy<1>>>;

const std::string long_text(200, 'x');

/// Where the memory is that an object owns.
const void* memory_of(const std::string& object) {
    return object.data();
}
const void* memory_of(const std::vector<int>& object) {
    return object.data();
}
const void* memory_of(const row_of_numbers& object) {
    return object.numbers.data();
}

/// Has the pool make objects by `first()`, erases them, and expects that those which `second()` makes in the
/// same places own the same memory. Returns their handles.
template <class Pool, class First, class Second>
std::vector<typename Pool::handle_type> expect_memory_survives(Pool& pool, First first, Second second) {
    constexpr std::size_t count = 640; // ten groups, of which the shard keeps one at the most
    std::map<const void*, const void*> memory;
    for (std::size_t i = 0; i != count; ++i) {
        const auto& object = *pool.find(first());
        memory.emplace(&object, memory_of(object));
        if (i % 2 == 0) {
            pool.compact(); // some die promoted, some as newborns
        }
    }
    pool.clear();
    pool.compact();
    std::vector<typename Pool::handle_type> made;
    std::size_t kept = 0;
    for (std::size_t i = 0; i != count; ++i) {
        made.push_back(second());
        const auto& object = *pool.find(made.back());
        const auto before = memory.find(&object);
        if (before != memory.end()) {
            EXPECT_EQ(memory_of(object), before->second);
            ++kept;
        }
    }
    EXPECT_GE(kept, count - 64);
    return made;
}

TEST(recycling_pool_test, the_next_string_has_the_memory_of_the_last) {
    strings pool({.name = "strings", .capacity = 1000, .reuse_delay = 0});
    const auto made = expect_memory_survives(
        pool, [&] { return pool.emplace(long_text); }, [&] { return pool.emplace("another text, as long"); });
    for (const auto each : made) {
        EXPECT_EQ(*pool.find(each), "another text, as long");
    }
}

TEST(recycling_pool_test, an_object_without_a_value_is_cleared) {
    vectors pool({.name = "vectors", .capacity = 1000, .reuse_delay = 0});
    EXPECT_TRUE(pool.find(pool.emplace())->empty()) << "in a place never used";
    const auto made = expect_memory_survives(
        pool, [&] { return pool.emplace(std::vector<int>(100, 7)); }, [&] { return pool.emplace(); });
    for (const auto each : made) {
        EXPECT_TRUE(pool.find(each)->empty());
    }
}

TEST(recycling_pool_test, objects_are_filled_before_they_can_be_found) {
    vectors pool({.name = "vectors", .capacity = 1000, .reuse_delay = 0});
    const auto fill = [&](auto handle, std::vector<int>& object) {
        EXPECT_EQ(pool.find(handle), nullptr);
        EXPECT_TRUE(object.empty());
        object.assign(50, static_cast<int>(handle.index()));
    };
    const auto made = expect_memory_survives(
        pool, [&] { return pool.emplace_with(fill); }, [&] { return pool.try_emplace_with(fill); });
    for (const auto each : made) {
        EXPECT_EQ(*pool.find(each), std::vector<int>(50, static_cast<int>(each.index())));
    }
}

TEST(recycling_pool_test, a_recycler_of_its_own_says_how_a_type_is_reused) {
    recycling_pool<row_of_numbers> pool({.name = "rows", .capacity = 1000, .reuse_delay = 0});
    const auto make = [&] { return pool.emplace(100U, 7); };
    for (const auto each : expect_memory_survives(pool, make, make)) {
        EXPECT_EQ(pool.find(each)->numbers, std::vector<int>(100, 7));
    }
}

TEST(recycling_pool_test, all_functions_that_create_take_kept_objects_over) {
    for (int round = 0; round != 3; ++round) {
        strings pool({.name = "strings", .capacity = 1000, .reuse_delay = 0});
        std::vector<strings::handle_type> made;
        if (round != 0) { // each place has an object
            pool.emplace_n(1000, std::back_inserter(made), long_text);
            pool.compact();
            pool.clear();
            pool.compact();
            made.clear();
        }
        const std::vector<std::string> range{"a range", "of two"};
        const auto reserved = pool.reserve_handle();
        std::vector<std::string> expected(3);
        pool.emplace_n(3, std::back_inserter(made));
        pool.emplace_n(2, std::back_inserter(made), "the same twice");
        expected.insert(expected.end(), 2, "the same twice");
        pool.emplace_n(2, std::back_inserter(made), [](std::size_t i) { return std::to_string(i); });
        pool.emplace_n(1, std::back_inserter(made), [](std::size_t) { return "what it is made from"; });
        expected.insert(expected.end(), {"0", "1", "what it is made from"});
        pool.insert_range(range, std::back_inserter(made));
        expected.insert(expected.end(), range.begin(), range.end());
        std::istringstream words("read once");
        pool.insert_range(std::ranges::subrange(std::istream_iterator<std::string>(words),
                                                std::istream_iterator<std::string>()),
                          std::back_inserter(made));
        expected.insert(expected.end(), {"read", "once"});
        made.push_back(pool.insert("moved in"));
        made.push_back(pool.emplace_with([](auto) { return std::string("made"); }));
        made.push_back(pool.emplace_with([](auto) { return "made from this"; }));
        pool.fulfill(reserved, "fulfilled");
        made.push_back(reserved);
        expected.insert(expected.end(), {"moved in", "made", "made from this", "fulfilled"});
        std::vector<std::string> found;
        for (const auto each : made) {
            found.push_back(*pool.find(each));
        }
        EXPECT_EQ(found, expected);
        expect_consistent(pool);
    }
}

TEST(recycling_pool_test, objects_are_constructed_once_a_place_and_destroyed_with_the_pool) {
    recycled_object::counts seen;
    {
        objects pool({.name = "objects", .capacity = 100, .reuse_delay = 0});
        for (int round = 0; round != 50; ++round) {
            for (std::uint64_t i = 0; i != 100; ++i) {
                pool.emplace(i);
            }
            pool.clear();
            pool.compact();
        }
        EXPECT_EQ(seen.cleared(), 5000);
        EXPECT_EQ(seen.destroyed(), 0);
        EXPECT_LE(seen.constructed(), 300) << "as many as there are places";
        pool.emplace(7U); // a newborn, at the end
    }
    EXPECT_EQ(seen.cleared(), 5001);
}

TEST(recycling_pool_test, an_assignment_that_throws_leaves_a_cleared_object_and_the_room) {
    recycled_object::counts seen;
    objects pool({.name = "objects", .capacity = 100, .reuse_delay = 0});
    for (int round = 0; round != 3; ++round) {
        std::vector<objects::handle_type> made;
        pool.emplace_n(100, std::back_inserter(made), 5U);
        pool.compact();
        pool.erase(made);
        pool.compact();
        const auto constructed = seen.constructed();
        const auto cleared = seen.cleared();
        // The shard's place may have no object yet.
        seen.fail_at(0);
        EXPECT_THROW(pool.emplace(6U), construction_failure);
        seen.fail_at(0);
        EXPECT_THROW(pool.emplace_with([](auto, recycled_object& object) { object = 7U; }),
                     construction_failure);
        const auto reserved = pool.reserve_handle();
        seen.fail_at(0);
        EXPECT_THROW(pool.fulfill(reserved, 8U), construction_failure);
        pool.fulfill(reserved, 9U);
        EXPECT_EQ(pool.find(reserved)->value(), 9U);
        seen.fail_at(98);
        made.clear();
        EXPECT_THROW(pool.emplace_n(99, std::back_inserter(made), 10U), construction_failure);
        EXPECT_TRUE(made.empty());
        EXPECT_GE(seen.cleared() - cleared, 98) << "those before the one that failed";
        EXPECT_LE(seen.constructed() - constructed, 10);
        EXPECT_EQ(pool.size(), 1U);
        while (pool.try_emplace()) {
        }
        EXPECT_EQ(pool.size(), 100U);
        expect_consistent(pool);
        std::size_t empty = 0;
        pool.for_each([&](const recycled_object& object) { empty += object.value() == 0 ? 1U : 0U; });
        EXPECT_EQ(empty, 99U) << "what a failure left was cleared";
        pool.clear();
        pool.compact();
    }
    pool.shrink_to_fit();
}

TEST(recycling_pool_test, a_constructor_that_throws_leaves_nothing) {
    recycled_object::counts seen;
    objects pool({.name = "objects", .capacity = 10, .reuse_delay = 0});
    for (int round = 0; round != 20; ++round) {
        seen.fail_at(0);
        EXPECT_THROW(pool.emplace(6U), construction_failure);
        EXPECT_EQ(seen.constructed(), 0);
    }
    seen.fail_at(0);
    // The object was there, value-initialized, when it was filled.
    EXPECT_THROW(pool.emplace_with([](auto, recycled_object& object) { object = 7U; }), construction_failure);
    EXPECT_EQ(seen.constructed(), 1);
    EXPECT_EQ(seen.cleared(), 1);
    EXPECT_EQ(pool.find(pool.emplace())->value(), 0U);
}

TEST(recycling_pool_test, hooks_and_sinks_see_objects_before_they_are_cleared) {
    recycled_object::counts seen;
    objects pool({.name = "objects", .capacity = 100, .reuse_delay = 0});
    std::vector<std::uint64_t> erased;
    pool.on_destroy([&](auto, recycled_object& object) { erased.push_back(object.value()); }).release();
    for (int round = 0; round != 3; ++round) {
        const auto first = pool.emplace(1U);
        const auto second = pool.emplace(2U);
        pool.emplace(3U);
        std::uint64_t taken = 0;
        pool.erase(first);
        EXPECT_TRUE(pool.extract(second, [&](recycled_object&& object) { taken = object.value(); }));
        pool.compact();
        EXPECT_EQ(taken, 2U);
        EXPECT_EQ(pool.drain([&](auto, recycled_object&& object) { taken = object.value(); }), 1U);
        EXPECT_EQ(taken, 3U);
        EXPECT_EQ(erased, (std::vector<std::uint64_t>{1, 2, 3}));
        EXPECT_EQ(seen.cleared(), 3 * (round + 1));
        erased.clear();
    }
    EXPECT_EQ(seen.destroyed(), 0);
}

TEST(recycling_pool_test, an_object_that_a_sink_moved_away_is_kept_without_its_memory) {
    strings pool({.name = "strings", .capacity = 10, .reuse_delay = 0});
    std::string moved;
    pool.extract(pool.emplace(long_text), [&](std::string&& object) { moved = std::move(object); });
    pool.compact();
    EXPECT_EQ(moved, long_text);
    for (int i = 0; i != 10; ++i) {
        EXPECT_TRUE(pool.find(pool.emplace())->empty());
    }
}

TEST(recycling_pool_test, shrinking_and_resetting_destroy_what_is_kept) {
    recycled_object::counts seen;
    objects pool({.name = "objects", .capacity = 1000, .reuse_delay = 0});
    std::vector<objects::handle_type> made;
    pool.emplace_n(1000, std::back_inserter(made), 5U);
    pool.compact();
    for (std::size_t i = 0; i != made.size(); ++i) {
        if (i % 3 != 0) {
            pool.erase(made[i]);
        }
    }
    pool.compact();
    EXPECT_EQ(seen.destroyed(), 0);
    pool.shrink_to_fit();
    EXPECT_EQ(seen.destroyed(), 666);
    EXPECT_EQ(seen.constructed() - seen.destroyed(), 334);
    for (std::size_t i = 0; i < made.size(); i += 3) {
        ASSERT_EQ(pool.find(made[i])->value(), 5U);
    }
    while (pool.try_emplace(6U)) {
    }
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 1000U);
    pool.reset();
    EXPECT_EQ(seen.destroyed(), seen.constructed());
    pool.shrink_to_fit();
    const auto before = seen.constructed();
    EXPECT_EQ(pool.find(pool.emplace())->value(), 0U);
    EXPECT_EQ(seen.constructed(), before + 1) << "nothing is kept after a reset";
}

/// The group is the other thread's as long as that lives.
TEST(recycling_pool_test, shrinking_destroys_what_is_kept_in_the_group_of_another_thread) {
    recycled_object::counts seen;
    objects pool({.name = "objects", .capacity = 1000, .reuse_delay = 0});
    std::vector<objects::handle_type> made;
    std::latch has_made(1);
    std::latch is_over(1);
    std::jthread other([&] {
        pool.emplace_n(3, std::back_inserter(made), 5U);
        has_made.count_down();
        is_over.wait();
    });
    has_made.wait();
    pool.compact();
    pool.erase(made[0]);
    pool.erase(made[2]);
    pool.compact();
    EXPECT_EQ(seen.destroyed(), 0);
    pool.shrink_to_fit();
    EXPECT_EQ(seen.destroyed(), 2);
    EXPECT_EQ(pool.find(made[1])->value(), 5U);
    is_over.count_down();
}

TEST(recycling_pool_test, shrinking_keeps_nothing_that_the_objects_own) {
    const std::string text(4096, 'x');
    strings pool({.name = "strings", .capacity = 1000, .reuse_delay = 0});
    std::vector<strings::handle_type> made;
    pool.emplace_n(1000, std::back_inserter(made), text);
    pool.compact();
    pool.erase(made);
    pool.compact();
    pool.shrink_to_fit();
    std::size_t with_memory = 0;
    for (int i = 0; i != 1000; ++i) {
        with_memory += pool.find(pool.emplace())->capacity() >= text.size() ? 1U : 0U;
    }
    EXPECT_EQ(with_memory, 0U);
}

TEST(recycling_pool_test, objects_that_can_neither_be_moved_nor_assigned) {
    recycling_pool<pinned_buffer> pool({.name = "pinned", .capacity = 100, .reuse_delay = 0});
    for (int round = 0; round != 10; ++round) {
        for (int i = 0; i != 100; ++i) {
            pool.emplace_with([](auto, pinned_buffer& buffer) {
                EXPECT_TRUE(buffer.bytes.empty());
                EXPECT_TRUE(buffer.bytes.capacity() == 0 || buffer.bytes.capacity() == 100);
                buffer.bytes.resize(100);
            });
        }
        pool.clear();
        expect_consistent(pool);
    }
}

TEST(recycling_pool_test, clearing_may_use_the_pool) {
    struct node {
        std::vector<handle<node>> children;
        recycling_pool<node>* tree = nullptr;
        void clear() noexcept {
            for (const auto each : children) {
                tree->erase(each);
            }
            children.clear();
        }
    };
    recycling_pool<node> tree({.name = "tree", .capacity = 1000, .reuse_delay = 0});
    for (int round = 0; round != 3; ++round) {
        const auto grow = [&](auto self, int depth) -> handle<node> {
            std::vector<handle<node>> children;
            for (int i = 0; i != 3 && depth != 0; ++i) {
                children.push_back(self(self, depth - 1));
            }
            return tree.emplace_with([&](auto, node& made) {
                made.tree = &tree;
                made.children = children;
            });
        };
        const auto root = grow(grow, 4);
        EXPECT_EQ(tree.size(), 121U);
        tree.erase(root);
        for (int depth = 0; depth != 5; ++depth) {
            tree.compact();
        }
        EXPECT_EQ(tree.size(), 0U);
        expect_consistent(tree);
    }
}

TEST(recycling_pool_test, a_sweep_clears_the_dead_that_left_no_record) {
    recycled_object::counts seen;
    recycling_pool<recycled_object, with_policy<support::tiny_policy<2>>> pool(
        {.name = "swept", .capacity = 500, .reuse_delay = 0, .removal_queue_size = 1});
    for (int round = 0; round != 10; ++round) {
        std::vector<handle<recycled_object>> made;
        pool.emplace_n(200, std::back_inserter(made), 5U);
        pool.compact();
        pool.emplace_n(200, std::back_inserter(made), 6U);
        pool.erase(made);
        EXPECT_GT(pool.compact().swept, 0U);
        expect_consistent(pool);
        EXPECT_EQ(seen.cleared(), 400 * (round + 1));
    }
    EXPECT_EQ(seen.destroyed(), 0);
}

TEST(recycling_pool_test, kept_objects_are_closed_to_stale_pointers) {
    strings pool({.name = "strings", .capacity = 100, .reuse_delay = 0});
    std::vector<strings::handle_type> made;
    pool.emplace_n(100, std::back_inserter(made), long_text);
    std::vector<const std::string*> pointers;
    for (const auto each : made) {
        pointers.push_back(pool.find(each));
    }
    pool.erase(made);
    pool.compact();
    for (const std::string* const pointer : pointers) {
        EXPECT_EQ(is_poisoned(pointer), detail::address_sanitizer);
    }
    for (int i = 0; i != 100; ++i) {
        EXPECT_FALSE(is_poisoned(pool.find(pool.emplace("open again"))));
    }
}

TEST(recycling_pool_test, a_value_initialization_that_throws_leaves_nothing) {
    {
        recycling_pool<reluctant> pool({.name = "reluctant", .capacity = 100, .reuse_delay = 0});
        const auto fail = [&] {
            reluctant::refuses = true;
            EXPECT_THROW(pool.emplace(), std::runtime_error);
            EXPECT_THROW(pool.emplace_with([](auto, reluctant&) { ADD_FAILURE() << "there is no object"; }),
                         std::runtime_error);
            reluctant::refuses = false;
        };
        fail();
        EXPECT_EQ(reluctant::alive, 0);
        for (int round = 1; round != 4; ++round) {
            pool.emplace();
            fail();
            EXPECT_EQ(reluctant::alive, round);
            pool.compact();
            expect_consistent(pool);
        }
    }
    EXPECT_EQ(reluctant::alive, 0);
}

} // namespace
} // namespace handlepool::test
