// SPDX-License-Identifier: MIT

// Layouts that docs/layouts.md offers, each of its numbers computed; and what pools promise with them.

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/random.hpp>
#include <tests/support/threads.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using offered =
    testing::Types<default_layout, script_layout, handle_layout<24, 20, 9, 11>, handle_layout<32, 20, 4, 8>,
                   handle_layout<20, 10, 2>, handle_layout<16, 12, 4>, handle_layout<12, 18, 2>,
                   handle_layout<16, 10, 2, 4>, handle_layout<22, 9, 1>>;
constexpr int layouts_offered = 9;

const std::string& document() {
    static const std::string text =
        support::read_file(std::string(support::paths::sources) + "/docs/layouts.md");
    return text;
}

std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t end = text.size(); end > 3; end -= 3) {
        text.insert(end - 3, ",");
    }
    return text;
}

template <class Layout>
class offered_layout : public testing::Test {};
TYPED_TEST_SUITE(offered_layout, offered);

TYPED_TEST(offered_layout, has_the_numbers_of_its_row) {
    using layout = TypeParam;
    std::string name = "handle_layout<" + std::to_string(layout::index_bits) + ", " +
                       std::to_string(layout::generation_bits) + ", " + std::to_string(layout::pool_id_bits);
    name += layout::user_bits == 0 ? ">`" : ", " + std::to_string(layout::user_bits) + ">`";
    // Counted, not taken from the layout: odd generations up to the last one.
    std::uint64_t objects = 0;
    for (std::uint64_t generation = 1; generation <= layout::last_generation; generation += 2) {
        ++objects;
    }
    const std::string row =
        name + " | " + std::to_string(layout::bits) + " | " +
        with_commas(std::uint64_t{layout::index_mask} + 1) + " | " + with_commas(objects) + " | " +
        with_commas(std::uint64_t{layout::pool_id_mask} + 1) + " | " +
        (layout::user_bits == 0 ? "-" : with_commas(std::uint64_t{layout::user_mask} + 1)) + " | ";
    EXPECT_THAT(document(), testing::HasSubstr(row));
    EXPECT_EQ(layout::slot_count, std::uint64_t{layout::index_mask} + 1);
    EXPECT_EQ(layout::pool_count, std::uint64_t{layout::pool_id_mask} + 1);
    EXPECT_EQ(layout::objects_per_slot, objects);
    EXPECT_EQ(layout::objects_after(0), objects);
    EXPECT_EQ(layout::objects_after(2), objects - 1);
    EXPECT_EQ(layout::objects_after(layout::last_generation - 1), 1U);
    EXPECT_EQ(layout::objects_after(layout::last_generation + 1), 0U);
}

TEST(table_of_layouts, has_a_row_for_each_that_is_tested_and_no_other) {
    int rows = 0;
    for (std::size_t at = 0; (at = document().find("handle_layout<", at)) != std::string::npos; ++at) {
        const std::size_t line = document().rfind('\n', at) + 1;
        rows += document()[line] == '|' ? 1 : 0;
    }
    EXPECT_EQ(rows, layouts_offered);
}

TEST(table_of_layouts, computes_the_lifetime_of_its_example) {
    const pool<int, with_layout<handle_layout<16, 12, 4>>> pool(
        {.name = "example", .capacity = 1000, .reuse_delay = 1024, .slot_limit = 65'536});
    EXPECT_EQ(pool.stats().handle_limit, (65'536U - 1'024U) * 2'047U);
    EXPECT_THAT(document(), testing::HasSubstr(with_commas(pool.stats().handle_limit)));
    EXPECT_EQ(pool.stats().reuse_delay, 1024U);
}

TYPED_TEST(offered_layout, works_in_pools_of_all_kinds) {
    using layout = TypeParam;
    static_assert(sizeof(handle<int, layout>) == (layout::bits > 32 ? 8 : 4));
    pool<std::uint32_t, with_layout<layout, with_policy<support::tiny_policy<2>>>> typed(
        {.name = "typed", .capacity = 300, .reuse_delay = 7, .max_threads = 16});
    raw_pool<with_layout<layout>> raw({.name = "raw", .capacity = 300, .max_threads = 16},
                                      {.size = 4, .alignment = 4});
    random_source random;
    std::vector<handle<std::uint32_t, layout>> handles;
    std::vector<handle<void, layout>> raw_handles;
    for (std::uint32_t step = 0; step != 3000; ++step) {
        if (handles.size() < 250 && !random.one_in(3)) {
            handles.push_back(typed.emplace(step));
            EXPECT_EQ(typed.at(handles.back()), step);
            raw_handles.push_back(raw.emplace());
            EXPECT_TRUE(raw.contains(raw_handles.back()));
            EXPECT_FALSE(
                typed.contains(handle<std::uint32_t, layout>::from_value(raw_handles.back().value())));
        } else if (!handles.empty()) {
            const std::size_t which = random.below(handles.size());
            EXPECT_TRUE(typed.erase(handles[which]));
            EXPECT_FALSE(typed.contains(handles[which]));
            EXPECT_TRUE(raw.erase(raw_handles[which]));
            handles[which] = handles.back();
            handles.pop_back();
            raw_handles[which] = raw_handles.back();
            raw_handles.pop_back();
        }
        if (step % 100 == 0) {
            expect_consistent(typed);
            raw.compact();
            EXPECT_EQ(raw.items().size(), raw_handles.size());
        }
    }
}

TYPED_TEST(offered_layout, works_in_many_threads) {
    pool<std::uint32_t, with_layout<TypeParam>> pool({.name = "shared", .capacity = 2000, .max_threads = 16});
    in_threads(4, [&](std::size_t thread) {
        std::vector<handle<std::uint32_t, TypeParam>> mine;
        for (std::uint32_t i = 0; i != 2000; ++i) {
            mine.push_back(pool.try_emplace(i));
            if (mine.back()) {
                EXPECT_TRUE(pool.contains(mine.back()));
            } else {
                mine.pop_back();
            }
            if (i % 2 == 1 && !mine.empty()) {
                EXPECT_TRUE(pool.erase(mine.back()));
                mine.pop_back();
            }
            if (thread == 0 && i % 50 == 0) {
                pool.compact();
            }
        }
    });
    expect_consistent(pool);
}

// ---- What is promised is kept

using narrow = handle_layout<16, 4, 12>;
static_assert(narrow::objects_per_slot == 7);

struct promise {
    std::size_t capacity;
    std::size_t reuse_delay;
    std::size_t slot_limit;
};
class promised_lifetime : public testing::TestWithParam<promise> {};
INSTANTIATE_TEST_SUITE_P(of_a_pool, promised_lifetime,
                         testing::Values(promise{1, 0, 1}, promise{1, 0, 5}, promise{1, 4, 5},
                                         promise{4, 3, 20}, promise{16, 0, 64}, promise{100, 50, 300}));

template <class Policy, class Step>
std::uint64_t handles_until_used_up(const promise& of, Step step) {
    pool<int, with_layout<narrow, with_policy<Policy>>> pool({.name = "narrow",
                                                              .capacity = of.capacity,
                                                              .reuse_delay = of.reuse_delay,
                                                              .slot_limit = of.slot_limit,
                                                              .max_threads = 2});
    EXPECT_EQ(pool.stats().handle_limit, (of.slot_limit - of.reuse_delay) * 7);
    EXPECT_EQ(pool.stats().reuse_delay, of.reuse_delay);
    std::uint64_t given = 0;
    while (const std::uint64_t more = step(pool)) {
        given += more;
    }
    EXPECT_THROW(pool.emplace(1), pool_used_up);
    EXPECT_GE(given, (of.slot_limit - of.reuse_delay) * 7);
    // Each slot that the reuse delay holds back may have had all its objects but one.
    EXPECT_LE(given, of.slot_limit * 7);
    return given;
}

TEST_P(promised_lifetime, is_kept_when_objects_come_and_go) {
    const auto churn = [](auto& pool) -> std::uint64_t {
        const auto made = pool.try_emplace(1);
        pool.erase(made);
        pool.compact();
        return made ? 1 : 0;
    };
    handles_until_used_up<support::tiny_policy<1>>(GetParam(), churn);
    handles_until_used_up<default_policy>(GetParam(), churn);
}

TEST_P(promised_lifetime, counts_cancelled_and_revoked_handles) {
    handles_until_used_up<support::tiny_policy<1>>(GetParam(), [](auto& pool) -> std::uint64_t {
        std::uint64_t given = 0;
        const auto reserved = pool.try_reserve_handle();
        given += pool.cancel(reserved) ? 1 : 0;
        auto made = pool.try_emplace(1);
        given += made ? 1 : 0;
        if (const auto next = pool.revoke(made)) {
            ++given;
            made = next;
        }
        pool.erase(made);
        pool.compact();
        return given;
    });
}

TEST(lifetime_test, is_what_is_left_after_a_reset) {
    pool<int, with_layout<narrow>> pool(
        {.name = "narrow", .capacity = 2, .reuse_delay = 0, .slot_limit = 10, .max_threads = 1});
    for (std::uint64_t left = 7; left != 0; --left) {
        EXPECT_EQ(pool.stats().handle_limit, 10 * left);
        pool.emplace(1);
        pool.reset(); // above the highest generation of any slot
    }
    EXPECT_EQ(pool.stats().handle_limit, 0U);
    EXPECT_THROW(pool.emplace(1), pool_used_up);
}

TEST(lifetime_test, is_right_for_the_largest_numbers) {
    // 31 bits of generation and all slots that there can be: less than 2^63.
    using wide = handle_layout<32, 31, 1>;
    static_assert(wide::objects_per_slot == (std::uint64_t{1} << 30) - 1);
    const pool<char, with_layout<wide>> pool(
        {.name = "wide", .capacity = 1000, .reuse_delay = 0, .slot_limit = 0xffff'fffe, .max_threads = 1});
    EXPECT_EQ(pool.stats().handle_limit, std::uint64_t{0xffff'fffe} * wide::objects_per_slot);
    static_assert(std::uint64_t{0xffff'fffe} <=
                  std::numeric_limits<std::uint64_t>::max() / wide::objects_per_slot);
}

TEST(reuse_guarantee_test, is_kept) {
    random_source random;
    for (const std::size_t delay : {0U, 1U, 5U, 100U}) {
        constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
        std::vector<std::uint64_t> died(1000, never); // by slot, counted in destructions
        std::uint64_t destroyed = 0;
        pool<int, with_policy<support::tiny_policy<1>>> pool(
            {.name = "ships", .capacity = 20, .reuse_delay = delay, .max_threads = 1});
        ASSERT_EQ(pool.stats().reuse_delay, delay);
        std::vector<handle<int>> alive;
        pool.on_destroy([&](handle<int> handle, int&) { died.at(handle.index()) = destroyed++; }).release();
        int reused = 0;
        for (int step = 0; step != 3000; ++step) {
            if (const auto made = random.one_in(2) ? pool.try_emplace(1) : handle<int>()) {
                if (const std::uint64_t then = died.at(made.index()); then != never) {
                    EXPECT_GE(destroyed - then - 1, delay);
                    ++reused;
                }
                alive.push_back(made);
            } else if (!alive.empty()) {
                pool.erase(alive.back());
                alive.pop_back();
                if (random.one_in(3)) {
                    pool.compact();
                }
            }
        }
        EXPECT_GT(reused, 100);
    }
}

} // namespace
} // namespace handlepool::test
