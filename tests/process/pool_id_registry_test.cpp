// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <src/core/process/pool_id_registry.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint32_t last_id = 7;
constexpr std::uint32_t last_generation = 13;

class pool_id_registry_test : public testing::Test {
protected:
    std::uint32_t any() { return registry.acquire(std::nullopt, "any").id; }

    template <class Error>
    std::string refusal(std::optional<unsigned> wanted) {
        return message_of<Error>([&] { registry.acquire(wanted, "asking"); });
    }

    pool_id_registry registry{last_id, last_generation};
};

TEST_F(pool_id_registry_test, living_pools_have_different_ids_until_none_is_left) {
    std::set<std::uint32_t> ids;
    for (std::uint32_t i = 0; i <= last_id; ++i) {
        ids.insert(any());
    }
    EXPECT_EQ(ids.size(), last_id + 1);
    EXPECT_LE(*ids.rbegin(), last_id);
    EXPECT_THAT(refusal<std::runtime_error>(std::nullopt),
                AllOf(HasSubstr("pool 'asking'"), HasSubstr("has 8")));
}

TEST_F(pool_id_registry_test, an_explicit_id_is_given_and_skipped_for_others) {
    EXPECT_EQ(registry.acquire(0U, "a").id, 0U);
    EXPECT_EQ(registry.acquire(3U, "b").id, 3U);
    std::set<std::uint32_t> others;
    for (int i = 0; i != 6; ++i) {
        others.insert(any());
    }
    EXPECT_EQ(others, (std::set<std::uint32_t>{1, 2, 4, 5, 6, 7}));
}

TEST_F(pool_id_registry_test, an_id_in_use_is_refused_and_its_user_named) {
    registry.acquire(3U, "ships");
    EXPECT_THAT(refusal<std::invalid_argument>(3U),
                AllOf(HasSubstr("pool 'asking'"), HasSubstr("pool_id 3"), HasSubstr("pool 'ships'")));
    registry.release(3, 0);
    EXPECT_EQ(registry.acquire(3U, "planes").id, 3U);
    EXPECT_THAT(refusal<std::invalid_argument>(3U), HasSubstr("pool 'planes'"));
}

TEST_F(pool_id_registry_test, an_id_out_of_range_is_refused_with_the_range) {
    EXPECT_THAT(refusal<std::invalid_argument>(8U),
                AllOf(HasSubstr("pool 'asking'"), HasSubstr("pool_id 8"), HasSubstr("0 to 7")));
    EXPECT_THAT(refusal<std::invalid_argument>(~0U), HasSubstr("pool_id 4294967295"));
    EXPECT_EQ(registry.acquire(last_id, "last").id, last_id);
}

TEST_F(pool_id_registry_test, an_id_that_is_used_again_starts_above_its_former_generations) {
    EXPECT_EQ(registry.acquire(2U, "first").first_generation, 0U);
    registry.release(2, 6);
    EXPECT_EQ(registry.acquire(2U, "second").first_generation, 6U);
    registry.release(2, 10);
    EXPECT_EQ(registry.acquire(2U, "third").first_generation, 10U);
}

TEST_F(pool_id_registry_test, fresh_ids_go_out_before_used_ones_and_those_in_the_order_of_their_return) {
    const std::uint32_t first = any();
    const std::uint32_t second = any();
    registry.release(second, 2);
    registry.release(first, 4);
    std::set<std::uint32_t> fresh;
    for (std::uint32_t i = 2; i <= last_id; ++i) {
        fresh.insert(any());
    }
    EXPECT_FALSE(fresh.contains(first) || fresh.contains(second));
    EXPECT_EQ(fresh.size(), last_id - 1);
    EXPECT_EQ(any(), second);
    EXPECT_EQ(registry.acquire(std::nullopt, "any").first_generation, 4U); // `first`
}

TEST_F(pool_id_registry_test, a_returned_id_that_was_asked_for_is_not_given_out_twice) {
    for (std::uint32_t i = 0; i <= last_id; ++i) {
        any();
    }
    registry.release(5, 2);
    EXPECT_EQ(registry.acquire(5U, "explicit").id, 5U);
    EXPECT_THAT(refusal<std::runtime_error>(std::nullopt), HasSubstr("no pool id is left"));
}

TEST_F(pool_id_registry_test, a_returned_id_that_was_asked_for_leaves_the_others_in_their_order) {
    for (std::uint32_t i = 0; i <= last_id; ++i) {
        any();
    }
    for (const std::uint32_t returned : {2U, 5U, 3U}) {
        registry.release(returned, 2);
    }
    EXPECT_EQ(registry.acquire(5U, "explicit").id, 5U);
    EXPECT_EQ(any(), 2U);
    registry.release(5, 4);
    EXPECT_EQ(any(), 3U);
    EXPECT_EQ(any(), 5U);
    EXPECT_EQ(refusal<std::runtime_error>(std::nullopt),
              "pool 'asking': no pool id is left; the handle's layout has 8, each taken by a living pool or "
              "used up");
}

TEST_F(pool_id_registry_test, an_id_whose_generations_are_used_up_is_not_given_again) {
    for (std::uint32_t i = 0; i <= last_id; ++i) {
        any();
    }
    registry.release(4, 12); // one object can still be made: generation 13
    EXPECT_EQ(registry.acquire(std::nullopt, "last").first_generation, 12U);
    registry.release(4, 14);
    EXPECT_THAT(refusal<std::runtime_error>(std::nullopt), HasSubstr("used up"));
    EXPECT_THAT(refusal<std::invalid_argument>(4U),
                AllOf(HasSubstr("pool 'asking'"), HasSubstr("pool_id 4"), HasSubstr("used up")));
}

TEST_F(pool_id_registry_test, an_explicit_fresh_id_that_comes_back_used_up_is_not_given_either) {
    registry.acquire(4U, "explicit");
    registry.release(4, 14);
    for (std::uint32_t i = 0; i != last_id; ++i) {
        EXPECT_NE(any(), 4U);
    }
    EXPECT_THAT(refusal<std::runtime_error>(std::nullopt), HasSubstr("no pool id is left"));
}

TEST_F(pool_id_registry_test, a_holder_returns_its_id_with_the_generation_it_was_told) {
    {
        pool_id_holder holder(registry, 6, "ships");
        EXPECT_EQ(holder.id(), 6U);
        EXPECT_EQ(holder.first_generation(), 0U);
        EXPECT_THROW(pool_id_holder(registry, 6, "planes"), std::invalid_argument);
        holder.set_next_generation(8);
    }
    const pool_id_holder again(registry, 6, "planes");
    EXPECT_EQ(again.first_generation(), 8U);
}

TEST_F(pool_id_registry_test, a_holder_that_made_no_object_uses_up_no_generation) {
    for (int i = 0; i != 100; ++i) {
        EXPECT_EQ(pool_id_holder(registry, 6, "ships").first_generation(), 0U);
    }
}

TEST_F(pool_id_registry_test, threads_that_take_and_return_ids_never_share_one) {
    std::vector<std::atomic<bool>> taken(last_id + 1);
    std::atomic<int> shared{0};
    in_threads(4, [&](std::size_t) {
        for (int round = 0; round != 2000; ++round) {
            const pool_id_holder holder(registry, std::nullopt, "short");
            shared += taken[holder.id()].exchange(true) ? 1 : 0;
            taken[holder.id()] = false;
        }
    });
    EXPECT_EQ(shared, 0);
}

TEST(pool_id_registries_test, equal_layouts_share_a_registry_and_others_do_not) {
    auto& one = pool_ids_of_layout(50, 9, 5);
    EXPECT_EQ(&one, &pool_ids_of_layout(50, 9, 5));
    EXPECT_NE(&one, &pool_ids_of_layout(49, 10, 5));
    EXPECT_NE(&one, &pool_ids_of_layout(50, 10, 4));
}

TEST(pool_id_registries_test, the_registry_of_a_layout_knows_its_widths) {
    auto& registry = pool_ids_of_layout(58, 4, 2);
    const pool_id_holder last(registry, 3, "last");
    EXPECT_THROW(pool_id_holder(registry, 4, "past the end"), std::invalid_argument);
    {
        pool_id_holder almost(registry, 0, "a");
        almost.set_next_generation(12); // the last generation is 2^4 - 3 = 13
    }
    {
        pool_id_holder used(registry, 0, "a");
        used.set_next_generation(14);
    }
    EXPECT_THROW(pool_id_holder(registry, 0, "a"), std::invalid_argument);
}

} // namespace
} // namespace handlepool::test
