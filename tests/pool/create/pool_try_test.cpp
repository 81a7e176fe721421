// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>
#include <utility>

// What programs without exceptions call instead of functions that throw.
namespace handlepool::test {
namespace {

using namespace detail;
using testing::HasSubstr;
using testing::ThrowsMessage;

using ints = pool<int>;

TEST(try_pin, holds_the_object_and_keeps_compactions_off) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(7);
    auto pinned = pool.try_pin(handle);
    ASSERT_TRUE(pinned);
    EXPECT_EQ(*pinned, 7);
    EXPECT_FALSE(pool.try_compact());
    pinned.reset();
    EXPECT_TRUE(pool.try_compact());

    const auto read_only = std::as_const(pool).try_pin(handle);
    static_assert(std::is_same_v<decltype(read_only.get()), const int*>);
    ASSERT_TRUE(read_only);
    EXPECT_EQ(*read_only, 7);
}

TEST(try_pin, of_a_stale_handle_is_empty_and_holds_nothing_off) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(7);
    pool.erase(handle);
    const auto pinned = pool.try_pin(handle);
    EXPECT_FALSE(pinned);
    EXPECT_FALSE(pool.try_pin({}));
    EXPECT_FALSE(std::as_const(pool).try_pin(handle));
    EXPECT_TRUE(pool.try_compact());
}

TEST(try_pin, is_empty_while_a_compaction_runs) {
    int calls = 0; // these outlive the pool, which calls its hooks at its end, too
    handle<int> kept;
    ints pool({.name = "ints", .capacity = 10});
    kept = pool.emplace(7);
    pool.erase(pool.emplace(8));
    const scoped_hook hook = pool.on_destroy([&](auto, int&) {
        ++calls;
        EXPECT_FALSE(pool.try_pin(kept));
        EXPECT_FALSE(std::as_const(pool).try_pin(kept));
    });
    pool.compact();
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(pool.try_pin(kept));
}

TEST(raw_try_pin, is_empty_where_pin_would_wait_or_find_nothing) {
    any_handle kept; // outlives the pool, which calls its hooks at its end, too
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = 4, .alignment = 4});
    kept = pool.emplace();
    const auto erased = pool.emplace();
    pool.erase(erased);
    EXPECT_FALSE(pool.try_pin(erased));
    pool.on_destroy([&](auto, void*) { EXPECT_FALSE(pool.try_pin(kept)); }).release();
    pool.compact();
    const auto pinned = pool.try_pin(kept);
    EXPECT_EQ(pinned.get(), pool.find(kept));
    EXPECT_FALSE(pool.try_compact());
}

TEST(validate, says_what_the_constructor_would_throw) {
    const pool_options good{.name = "ints", .capacity = 10};
    EXPECT_EQ(ints::validate(good), "");
    const pool_options bad{.name = "ints", .capacity = 0};
    EXPECT_THAT(ints::validate(bad), HasSubstr("pool 'ints': capacity = 0 is not allowed"));
    EXPECT_THAT([&] { ints{bad}; }, ThrowsMessage<std::invalid_argument>(ints::validate(bad)));
}

TEST(validate, looks_at_a_raw_type_before_the_options) {
    const pool_options bad{.name = "raw", .capacity = 0};
    const pool_options good{.name = "raw", .capacity = 10};
    const raw_type no_type{.size = 0, .alignment = 4};
    const raw_type four_bytes{.size = 4, .alignment = 4};
    EXPECT_EQ(raw_pool<>::validate(good, four_bytes), "");
    EXPECT_THAT(raw_pool<>::validate(bad, four_bytes), HasSubstr("capacity = 0"));
    EXPECT_THAT(raw_pool<>::validate(bad, no_type), HasSubstr("size of the type is 0"));
    EXPECT_THAT([&] { raw_pool<>(good, no_type); },
                ThrowsMessage<std::invalid_argument>(raw_pool<>::validate(good, no_type)));
}

} // namespace
} // namespace handlepool::test
