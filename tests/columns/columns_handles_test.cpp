// SPDX-License-Identifier: MIT

// Handles of rows: in advance, of rows that know them, revoked, and with bits of the program's.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/row_consistency.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct position {
    float x = 0;
};
struct health {
    int points = 0;
};
using movers = pool<columns<position, health, std::string>>;

const pool_options ten{.name = "movers", .capacity = 10, .reuse_delay = 0};

TEST(reserved_row, resolves_when_it_is_fulfilled_and_not_before) {
    movers pool(ten);
    const auto handle = pool.reserve_handle();
    EXPECT_EQ(pool.state(handle), handle_state::reserved);
    EXPECT_FALSE(pool.contains(handle) || pool.find(handle) || pool.erase(handle) || pool.revoke(handle));
    EXPECT_EQ(pool.stats().slots_reserved, 1U);
    pool.clear();
    expect_consistent_rows(pool);

    pool.fulfill(handle, std::string("late"), health{7}); // by type
    EXPECT_EQ(pool.state(handle), handle_state::alive);
    EXPECT_EQ(pool.at(handle).get<std::string>(), "late");
    EXPECT_EQ(pool.at(handle).get<health>().points, 7);
    EXPECT_EQ(pool.at(handle).get<position>().x, 0);
    expect_consistent_rows(pool);
    EXPECT_EQ(pool.handle_at(0), handle);
    EXPECT_TRUE(pool.erase(handle));
    EXPECT_EQ(pool.state(handle), handle_state::stale);
    expect_consistent_rows(pool);
}

TEST(reserved_row, is_closed_once) {
    movers pool(ten);
    const auto kept = pool.reserve_handle();
    ASSERT_TRUE(pool.try_fulfill(kept, position{1}));
    std::string text = "a text that is longer than a string itself";
    EXPECT_FALSE(pool.try_fulfill(kept, std::move(text)));
    EXPECT_EQ(text.size(), 42U) << "arguments of a refused call are not touched";
    EXPECT_THAT([&] { pool.fulfill(kept, position{2}); }, ThrowsMessage<not_reserved>(HasSubstr("movers")));
    EXPECT_FALSE(pool.cancel(kept));
    EXPECT_EQ(pool.at(kept).get<position>().x, 1);

    const auto dropped = pool.try_reserve_handle();
    ASSERT_TRUE(dropped);
    EXPECT_TRUE(pool.cancel(dropped));
    EXPECT_FALSE(pool.cancel(dropped));
    EXPECT_FALSE(pool.try_fulfill(dropped, position{2}));
    EXPECT_EQ(pool.state(dropped), handle_state::stale);
    expect_consistent_rows(pool);
    EXPECT_EQ(pool.size(), 1U);
}

TEST(reserved_row, is_refused_by_a_full_pool) {
    pool<columns<int, char>, with_policy<support::tiny_policy<1>>> pool(
        {.name = "full", .capacity = 1, .reuse_delay = 0, .slot_limit = 1});
    const auto only = pool.reserve_handle();
    EXPECT_FALSE(pool.try_reserve_handle());
    EXPECT_THROW(pool.reserve_handle(), pool_exhausted);
    EXPECT_FALSE(pool.try_emplace(1));
    pool.fulfill(only, 1);
    EXPECT_EQ(pool.at(only).get<int>(), 1);
}

/// Throws when its fuse says so; made from one argument.
struct brittle {
    explicit brittle(std::pair<fuse*, census*> from) : inside(*from.first, *from.second, 5) {}
    throwing inside;
};

template <class Policy>
class columns_handles : public testing::Test {
protected:
    using pool_type = pool<columns<brittle, int, brittle>, with_policy<Policy>>;

    census people_;
    pool_type pool_{{.name = "brittle", .capacity = 3, .reuse_delay = 0}};
};

using policies = testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>>;
TYPED_TEST_SUITE(columns_handles, policies);

TYPED_TEST(columns_handles, whose_element_throws_stay_reserved) {
    auto& pool = this->pool_;
    const auto handle = pool.reserve_handle();
    for (int round = 0; round != 100; ++round) {
        fuse when(round % 2);
        EXPECT_THROW(
            pool.fulfill(handle, std::pair(&when, &this->people_), 1, std::pair(&when, &this->people_)),
            construction_failure);
        EXPECT_EQ(pool.state(handle), handle_state::reserved);
        EXPECT_EQ(this->people_.alive(), 0);
    }
    fuse none(1'000'000);
    const std::pair from(&none, &this->people_);
    pool.fulfill(handle, from, 1, from);
    EXPECT_EQ(pool.at(handle).template get<2>().inside.value(), 5U);
    while (pool.try_emplace(from, 1, from)) {
    }
    EXPECT_GE(pool.size(), 3U) << "no room was lost";
    expect_consistent_rows(pool);
    EXPECT_EQ(this->people_.alive(), static_cast<std::int64_t>(2 * pool.size()));
}

// What a function has seen must never name another row.
TYPED_TEST(columns_handles, seen_by_a_function_that_throws_never_resolve) {
    auto& pool = this->pool_;
    std::vector<typename TestFixture::pool_type::handle_type> seen;
    for (int round = 0; round != 100; ++round) {
        fuse when(round % 3);
        const std::pair from(&when, &this->people_);
        EXPECT_THROW(pool.emplace_with([&](auto self) {
            seen.push_back(self);
            EXPECT_EQ(pool.state(self), handle_state::reserved);
            if (round % 3 == 2) {
                throw construction_failure();
            }
            return std::tuple(from, 1, from);
        }),
                     construction_failure);
        EXPECT_EQ(this->people_.alive(), 0);
        fuse none(1'000'000);
        const std::pair good(&none, &this->people_);
        const auto made = pool.emplace(good, 1, good);
        EXPECT_EQ(std::ranges::count(seen, made), 0);
        for (const auto old : seen) {
            ASSERT_FALSE(pool.contains(old));
        }
        pool.erase(made);
        expect_consistent_rows(pool);
    }
    EXPECT_EQ(pool.stats().slots_reserved, 0U);
}

struct self {
    std::uint64_t value = 0;
};

TEST(row_made_with_its_handle, has_it) {
    pool<columns<move_only, self, int>> pool({.name = "rows", .capacity = 10});
    const auto make = [](auto handle) { return std::tuple(self{handle.value()}, 4, move_only(3)); };
    const auto one = pool.emplace_with(make);
    const auto other = pool.try_emplace_with(make);
    for (const auto handle : {one, other}) {
        EXPECT_EQ(pool.at(handle).get<self>().value, handle.value());
        EXPECT_EQ(pool.at(handle).get<move_only>().value(), 3U);
        EXPECT_EQ(pool.at(handle).get<int>(), 4);
    }
    expect_consistent_rows(pool);
    int four = 4;
    const auto referring =
        pool.emplace_with([&](auto) { return std::tuple<unsigned, self, int&>(5, {}, four); });
    EXPECT_EQ(pool.at(referring).get<int>(), 4);
}

template <class Pool, class Make>
concept can_be_made_with = requires(Pool& pool, Make make) { pool.emplace_with(make); };

TEST(row_made_with_its_handle, needs_a_tuple_that_makes_a_row) {
    using handle = movers::handle_type;
    static_assert(can_be_made_with<movers, std::tuple<> (*)(handle)>);
    static_assert(!can_be_made_with<movers, std::tuple<position, const char*> (*)(handle)>);
    static_assert(can_be_made_with<movers, std::tuple<position, health, const char*> (*)(handle)>);
    static_assert(!can_be_made_with<movers, position (*)(handle)>);
    static_assert(!can_be_made_with<movers, std::tuple<health, health> (*)(handle)>);
    static_assert(!can_be_made_with<movers, std::tuple<> (*)()>);
    static_assert(!can_be_made_with<pool<columns<move_only>>,
                                    std::tuple<move_only>& (*)(pool<columns<move_only>>::handle_type)>);
}

TEST(row_made_with_its_handle, is_refused_by_a_full_pool_which_calls_nothing) {
    pool<columns<int, char>, with_policy<support::tiny_policy<1>>> pool(
        {.name = "full", .capacity = 1, .reuse_delay = 0, .slot_limit = 1});
    pool.emplace();
    const auto make = [](auto) -> std::tuple<int> { throw construction_failure(); };
    EXPECT_FALSE(pool.try_emplace_with(make));
    EXPECT_THROW(pool.emplace_with(make), pool_exhausted);
}

TEST(revoked_row, lives_on_under_its_new_handle) {
    movers pool(ten);
    std::vector<movers::handle_type> told;
    pool.on_destroy([&](movers::handle_type handle, movers::reference) { told.push_back(handle); }).release();
    auto handle = pool.emplace(health{5}, std::string("five"));
    for (int round = 0; round != 4; ++round) {
        const auto old = handle;
        const auto place = pool.find(old);
        handle = pool.revoke(old);
        ASSERT_TRUE(handle);
        EXPECT_NE(handle, old);
        EXPECT_FALSE(pool.contains(old) || pool.find(old) || pool.erase(old) || pool.revoke(old));
        EXPECT_EQ(pool.find(handle), place);
        EXPECT_EQ(pool.handle_of(pool.at(handle).get<health>()), handle);
        EXPECT_EQ(pool.at(handle).get<std::string>(), "five");
        expect_consistent_rows(pool);
    }
    pool.erase(handle);
    EXPECT_FALSE(pool.revoke(handle));
    pool.compact();
    EXPECT_THAT(told, testing::ElementsAre(handle));
}

TEST(revoked_row, of_the_last_handle_stays) {
    using layout = handle_layout<32, 3, 29>;
    pool<columns<int, char>, with_layout<layout>> pool({.name = "narrow", .capacity = 10});
    auto handle = pool.emplace(1);
    while (const auto next = pool.revoke(handle)) {
        handle = next;
    }
    EXPECT_EQ(handle.generation(), layout::last_generation);
    EXPECT_EQ(pool.at(handle).get<int>(), 1);
}

TEST(row_handles, last_as_long_as_those_of_objects) {
    using layout = handle_layout<16, 8, 8>;
    const pool_options options{.name = "rows", .capacity = 10, .reuse_delay = 3};
    pool<columns<int, char>, with_layout<layout>> rows(options);
    pool<int, with_layout<layout>> objects(options);
    EXPECT_EQ(rows.stats().handle_limit, objects.stats().handle_limit);
    EXPECT_EQ(rows.stats().reuse_delay, 3U);
}

TEST(row_handles, may_have_bits_of_the_program) {
    using layout = handle_layout<32, 16, 8, 8>;
    pool<columns<int, char>, with_layout<layout>> pool({.name = "rows", .capacity = 10});
    const auto handle = pool.emplace(3, 'a');
    const auto marked = handle.with_user(200);
    EXPECT_EQ(pool.at(marked).get<int>(), 3);
    pool.compact();
    EXPECT_EQ(pool.handle_of(pool[marked].get<char>()), handle);
    EXPECT_EQ(pool.handle_at(0).user(), 0U);
    const auto revoked = pool.revoke(marked);
    EXPECT_EQ(revoked.user(), 0U);
    EXPECT_TRUE(pool.erase(revoked.with_user(1)));
    const auto reserved = pool.reserve_handle();
    pool.fulfill(reserved.with_user(7), 5, 'b');
    EXPECT_EQ(pool.at(reserved).get<int>(), 5);
}

} // namespace
} // namespace handlepool::test
