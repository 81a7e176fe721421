// SPDX-License-Identifier: MIT

// visit: an object is looked up and used while no compaction can run. And the bounds of a pool's sizes.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool::test {
namespace {

template <class Pool>
class visit : public testing::Test {};

using kinds = testing::Types<pool<std::string>, stable_pool<std::string>>;
TYPED_TEST_SUITE(visit, kinds);

TYPED_TEST(visit, calls_the_function_with_the_object_of_a_handle_that_is_alive) {
    TypeParam pool({.name = "strings", .capacity = 10});
    const auto handle = pool.emplace("one");
    EXPECT_TRUE(pool.visit(handle, [](std::string& object) { object += "!"; }));
    std::string seen;
    EXPECT_TRUE(std::as_const(pool).visit(handle, [&](const std::string& object) {
        seen = object;
        return 7; // is ignored
    }));
    EXPECT_EQ(seen, "one!");
    pool.erase(handle);
    EXPECT_FALSE(pool.visit(handle, [](std::string&) { ADD_FAILURE(); }));
    EXPECT_FALSE(pool.visit({}, [](std::string&) { ADD_FAILURE(); }));
    EXPECT_FALSE(std::as_const(pool).visit(handle, [](const std::string&) { ADD_FAILURE(); }));
}

TYPED_TEST(visit, holds_compactions_off_only_while_the_function_runs) {
    TypeParam pool({.name = "strings", .capacity = 10});
    const auto handle = pool.emplace("one");
    EXPECT_TRUE(pool.visit(handle, [&](std::string&) { EXPECT_FALSE(pool.try_compact()); }));
    EXPECT_TRUE(pool.try_compact());
    pool.erase(handle);
    EXPECT_FALSE(pool.visit(handle, [](std::string&) {}));
    EXPECT_TRUE(pool.try_compact()) << "nothing is held after a stale handle";
    EXPECT_THROW(pool.visit(pool.emplace("two"), [](std::string&) { throw std::runtime_error("refused"); }),
                 std::runtime_error);
    EXPECT_TRUE(pool.try_compact()) << "nor after an exception";
}

TYPED_TEST(visit, may_erase_create_and_visit_again) {
    TypeParam pool({.name = "strings", .capacity = 10});
    const auto handle = pool.emplace("one");
    typename TypeParam::handle_type made;
    EXPECT_TRUE(pool.visit(handle, [&](std::string& object) {
        EXPECT_TRUE(pool.erase(handle));
        EXPECT_EQ(object, "one") << "it stays where it is";
        EXPECT_FALSE(pool.visit(handle, [](std::string&) { ADD_FAILURE(); }));
        made = pool.emplace(object);
        EXPECT_TRUE(pool.visit(made, [](std::string& other) { EXPECT_EQ(other, "one"); }));
    }));
    EXPECT_EQ(pool.at(made), "one");
}

TEST(visit_of_rows, passes_the_row) {
    pool<columns<int, float>> pool({.name = "rows", .capacity = 10});
    const auto handle = pool.emplace(1, 2.0F);
    EXPECT_TRUE(pool.visit(handle, [](auto row) { row.template get<int>() = 5; }));
    int seen = 0;
    EXPECT_TRUE(std::as_const(pool).visit(handle, [&](auto row) {
        static_assert(std::is_const_v<std::remove_reference_t<decltype(row.template get<int>())>>);
        seen = row.template get<int>();
    }));
    EXPECT_EQ(seen, 5);
}

TEST(visit_of_raw_pools, passes_the_address) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = 4, .alignment = 4});
    const auto handle = pool.emplace();
    EXPECT_TRUE(pool.visit(handle, [](void* object) { *static_cast<std::uint32_t*>(object) = 5; }));
    EXPECT_EQ(*static_cast<const std::uint32_t*>(std::as_const(pool).find(handle)), 5U);
}

TEST(visit_by_threads, sees_whole_objects_beside_compactions) {
    struct pair {
        std::size_t one;
        std::size_t other;
    };
    pool<pair> pool({.name = "pairs", .capacity = 1000});
    const auto handles = tabulate(std::size_t{500}, [&](std::size_t i) { return pool.emplace(i, i); });
    std::atomic<std::size_t> found = 0;
    const auto visit = [&](std::size_t) {
        for (std::size_t i = 0; i != 20'000; ++i) {
            found += pool.visit(handles[i % 500], [&](pair& each) {
                EXPECT_EQ(each.one, i % 500);
                EXPECT_EQ(each.other, i % 500);
            });
        }
    };
    in_threads(2, visit, [&, i = std::size_t{0}]() mutable {
        pool.erase(handles[i++ % 250 * 2]);
        pool.compact(); // moves others into the holes
    });
    EXPECT_GE(found, 20'000U) << "those of odd numbers live";
}

TEST(sizes, are_bounded_by_the_layout_and_by_slots) {
    static_assert(pool<int>::max_size() == 0xffff'fffe);
    using narrow = pool<int, with_layout<handle_layout<8, 8, 4>>>;
    static_assert(narrow::max_size() == 256);
    EXPECT_EQ(narrow::validate({.name = "narrow", .capacity = 256, .reuse_delay = 0}), "");
    EXPECT_NE(narrow::validate({.name = "narrow", .capacity = 257, .reuse_delay = 0}), "");
}

} // namespace
} // namespace handlepool::test
