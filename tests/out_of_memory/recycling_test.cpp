// SPDX-License-Identifier: MIT

// Kept objects that need more memory than there is.

#include <handlepool/recycling_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using strings = recycling_pool<std::string>;

/// Has the pool create objects by `create()` while each of its allocations fails, one after the other: all or
/// nothing, and afterwards the pool has room for all. Returns how many allocations there are.
template <class Create>
std::size_t expect_nothing_changes(strings& pool, Create create) {
    return with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
        const bool made = !when.hits(create);
        EXPECT_EQ(pool.size() != 0, made);
        std::size_t more = pool.size();
        while (const auto empty = pool.try_emplace()) {
            EXPECT_TRUE(pool.find(empty)->empty()) << "what a failure left was cleared";
            ++more;
        }
        EXPECT_EQ(more, pool.capacity());
        pool.clear();
        pool.compact();
        pool.shrink_to_fit(); // so that the next round has to allocate, too
    });
}

TEST(recycling_pool_without_memory, leaves_objects_cleared_and_room_for_all) {
    const std::string text(100, 'x');
    strings pool({.name = "strings", .capacity = 200, .reuse_delay = 0});
    std::vector<strings::handle_type> handles;
    handles.reserve(pool.capacity());
    while (pool.try_emplace()) {
    }
    pool.clear();
    pool.compact();
    EXPECT_GE(expect_nothing_changes(pool, [&] { pool.emplace(text); }), 1U);
    EXPECT_GE(expect_nothing_changes(
                  pool, [&] { pool.emplace_with([&](auto, std::string& object) { object = text; }); }),
              1U);
    EXPECT_GE(expect_nothing_changes(pool,
                                     [&] {
                                         handles.clear();
                                         pool.emplace_n(100, std::back_inserter(handles), text);
                                     }),
              100U);
}

TEST(recycling_pool_without_memory, kept_capacity_needs_none) {
    const std::string text(100, 'x');
    strings pool({.name = "strings", .capacity = 10, .reuse_delay = 0});
    const auto fill_all = [&] {
        while (pool.try_emplace(text)) {
        }
    };
    for (int i = 0; i != 100; ++i) { // until all places have their memory
        fill_all();
        pool.clear();
        pool.compact();
    }
    expect_no_allocation([&] {
        fill_all();
        pool.clear();
        pool.compact();
        fill_all();
    });
    EXPECT_EQ(pool.size(), 10U);
}

} // namespace
} // namespace handlepool::test
