// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/config.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/poisoned.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <stdexcept>
#include <vector>

// What a pool keeps of the system's memory after frames that needed much.
namespace handlepool::test {
namespace {

struct large_block {
    std::array<std::size_t, 64> words{};
};
using pool_of_blocks = pool<large_block>;

constexpr std::size_t loaded_at_once = 100'000;
// Whole pages at the ends of ranges, and chunks that shards hold.
constexpr std::size_t page_rounding = std::size_t{2} << 20;

std::size_t in_objects(const pool_of_blocks& pool) {
    return pool.stats().bytes_resident_in_objects;
}
std::size_t beside_objects(const pool_of_blocks& pool) {
    const pool_stats now = pool.stats();
    return now.bytes_resident - now.bytes_resident_in_objects;
}

class pool_memory_test : public testing::Test {
protected:
    void load(std::size_t objects = loaded_at_once) { pool.emplace_n(objects, std::back_inserter(handles)); }

    pool_of_blocks pool{{.name = "blocks", .capacity = 2 * loaded_at_once}};
    std::vector<handle<large_block>> handles;
};

TEST_F(pool_memory_test, a_bulk_load_leaves_no_nursery_behind) {
    load();
    pool.compact();
    EXPECT_LE(in_objects(pool), loaded_at_once * sizeof(large_block) + page_rounding);
    EXPECT_LE(beside_objects(pool), loaded_at_once * 18 + page_rounding);
}

TEST_F(pool_memory_test, what_was_given_back_stays_poisoned) {
    const auto handle = pool.emplace();
    const large_block* const newborn = pool.find(handle);
    load();
    pool.compact();
    ASSERT_NE(pool.find(handle), newborn);
    EXPECT_EQ(is_poisoned(newborn), detail::address_sanitizer);
}

TEST_F(pool_memory_test, a_mass_removal_leaves_no_lists_behind) {
    load();
    pool.compact();
    const std::size_t before = beside_objects(pool);
    pool.erase(std::span(handles));
    pool.compact();
    EXPECT_EQ(pool.size(), 0U);
    // Slots that wait in the freelist, and the records in their queue.
    EXPECT_LE(beside_objects(pool), before + loaded_at_once * (4 + 8) + page_rounding);
}

/// What a pool holds beside its objects when all of them have gone, some frames ago.
std::size_t left_by_a_mass_removal(bool keep_order) {
    constexpr std::size_t objects = 1'000'000;
    pool<char> pool({.name = "letters", .capacity = objects, .keep_order = keep_order});
    std::vector<handle<char>> handles;
    pool.emplace_n(objects, std::back_inserter(handles));
    pool.compact();
    pool.erase(std::span(handles));
    pool.compact();
    for (int frame = 0; frame != 10; ++frame) {
        pool.erase(pool.emplace('x'));
        pool.compact();
    }
    return pool.stats().bytes_resident - pool.stats().bytes_resident_in_objects;
}

// Where objects keep their order, all holes are listed before they are closed.
TEST(pool_memory, a_mass_removal_in_order_leaves_no_list_behind) {
    EXPECT_LE(left_by_a_mass_removal(true), left_by_a_mass_removal(false) + page_rounding);
}

// Which lists them, where one thread alone takes them from the queues.
TEST(pool_memory, removals_by_an_executor_leave_no_lists_behind) {
    constexpr std::size_t objects = 1'000'000;
    thread_executor threads(2);
    pool<char> pool({.name = "letters", .capacity = objects});
    std::vector<handle<char>> handles;
    pool.emplace_n(objects, std::back_inserter(handles));
    pool.compact();
    pool.shrink_to_fit();
    pool.erase(std::span(handles));
    const auto beside = [&pool] {
        return pool.stats().bytes_resident - pool.stats().bytes_resident_in_objects;
    };
    const std::size_t queued = beside();
    EXPECT_EQ(pool.compact(threads).removed, objects);
    // Slots that wait in the freelist, and no list: those of the removed and their places have 12 bytes each.
    EXPECT_LE(beside(), queued + objects * 4 + page_rounding);
}

TEST(pool_memory, of_small_objects_too_nothing_stays_in_the_nursery_nor_in_lists) {
    constexpr std::size_t objects = 1'000'000;
    pool<char> pool({.name = "letters", .capacity = objects});
    const scoped_hook hook = pool.on_birth([](handle<char>, char) {});
    std::vector<handle<char>> handles;
    pool.emplace_n(objects, std::back_inserter(handles));
    pool.compact();
    const pool_stats loaded = pool.stats();
    EXPECT_LE(loaded.bytes_resident_in_objects, objects + objects / 8);
    // Slots and owners, and what else one object needs. Where memory does not come and go by touch, the array
    // from which newborns were taken keeps what it had.
    const std::size_t each = detail::memory_by_touch ? 13 : 21;
    EXPECT_LE(loaded.bytes_resident - loaded.bytes_resident_in_objects, objects * each);
    pool.erase(std::span(handles));
    pool.compact();
    const pool_stats empty = pool.stats();
    // Slots that wait in the freelist, and the records in their queue.
    EXPECT_LE(empty.bytes_resident - empty.bytes_resident_in_objects, objects * (each + 4 + 8));
}

/// The last of some whose constructor throws.
struct block_that_fails : large_block {
    explicit block_that_fails(std::size_t& left) {
        if (--left == 0) {
            throw std::runtime_error("no more");
        }
    }
};

TEST(pool_memory, a_bulk_load_that_fails_leaves_no_memory_behind) {
    pool<block_that_fails> pool({.name = "blocks", .capacity = loaded_at_once});
    std::vector<handle<block_that_fails>> handles;
    const auto fail = [&] {
        std::size_t left = loaded_at_once;
        EXPECT_THROW(pool.emplace_n(loaded_at_once, std::back_inserter(handles), std::ref(left)),
                     std::runtime_error);
        EXPECT_GE(pool.stats().bytes_resident_in_objects, (loaded_at_once - 1) * sizeof(large_block));
    };
    fail();
    pool.shrink_to_fit();
    EXPECT_EQ(pool.stats().bytes_resident_in_objects, 0U);
    fail();
    std::size_t left = 100'000'000;
    for (int frame = 0; frame != 10'000; ++frame) {
        pool.erase(pool.emplace(left));
        pool.compact();
    }
    EXPECT_LE(pool.stats().bytes_resident_in_objects, page_rounding);
}

TEST_F(pool_memory_test, frames_that_need_it_again_find_their_memory) {
    std::size_t after = 0;
    for (int frame = 0; frame != 4; ++frame) {
        load(loaded_at_once / 2);
        pool.erase(std::span(handles));
        handles.clear();
        pool.compact();
        after = in_objects(pool);
    }
    EXPECT_GE(after, loaded_at_once / 2 * sizeof(large_block));
}

TEST_F(pool_memory_test, shrink_to_fit_leaves_the_objects_alone) {
    for (int frame = 0; frame != 3; ++frame) { // so that nothing goes by itself
        load(loaded_at_once / 4);
        pool.erase(std::span(handles));
        handles.clear();
        pool.compact();
    }
    load(1000);
    pool.compact();
    EXPECT_GE(in_objects(pool), loaded_at_once / 4 * sizeof(large_block));
    pool.shrink_to_fit();
    EXPECT_EQ(in_objects(pool), 1000 * sizeof(large_block)) << "125 pages";
    EXPECT_EQ(pool.size(), 1000U);
    for (const auto handle : handles) {
        EXPECT_TRUE(pool.contains(handle));
    }
}

} // namespace
} // namespace handlepool::test
