// SPDX-License-Identifier: MIT
#include <handlepool/detail/process/pool_listing.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/threads.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace handlepool {
namespace {

using small_layout = handle_layout<16, 11, 5>;

/// Names of the living pools of small_layout, the last one first.
std::vector<std::string> listed() {
    std::vector<std::string> names;
    for (const detail::living_pool* pool = detail::living_pools; pool != nullptr; pool = pool->next) {
        if (pool->next != nullptr) {
            EXPECT_EQ(pool->next->previous, pool);
        }
        if (pool->index_bits == small_layout::index_bits) {
            names.emplace_back(pool->name);
        }
    }
    return names;
}

using names = std::vector<std::string>;

TEST(pool_listing, has_a_pool_for_its_life) {
    std::optional<pool<int, with_layout<small_layout>>> first(pool_options{.name = "first", .capacity = 10});
    std::optional<pool<int, with_layout<small_layout>>> second(
        pool_options{.name = "second", .capacity = 10});
    std::optional<pool<int, with_layout<small_layout>>> third(pool_options{.name = "third", .capacity = 10});
    EXPECT_EQ(listed(), (names{"third", "second", "first"}));
    second.reset();
    EXPECT_EQ(listed(), (names{"third", "first"}));
    third.reset();
    EXPECT_EQ(listed(), names{"first"});
    first.reset();
    EXPECT_EQ(listed(), names{});
}

TEST(pool_listing, tells_pools_of_different_types_apart) {
    const pool<int, with_layout<small_layout>> numbers({.name = "numbers", .capacity = 10, .pool_id = 7});
    const pool<float, with_layout<small_layout>> others({.name = "others", .capacity = 10, .pool_id = 9});
    const detail::living_pool& last = *detail::living_pools;
    EXPECT_EQ(last.id, 9U);
    EXPECT_EQ(last.generation_bits, small_layout::generation_bits);
    EXPECT_EQ(last.pool_id_bits, small_layout::pool_id_bits);
    EXPECT_EQ(last.core, static_cast<const void*>(&others)); // the core is all that a pool has
    EXPECT_NE(last.function_of_type, last.next->function_of_type);
}

TEST(pool_listing, takes_pools_of_several_threads) {
    test::in_threads(4, [](std::size_t) {
        for (int j = 0; j != 50; ++j) {
            const pool<int, with_layout<small_layout>> one({.name = "one", .capacity = 10});
            const pool<int, with_layout<small_layout>> two({.name = "two", .capacity = 10});
        }
    });
    EXPECT_EQ(listed(), names{});
}

TEST(service_listing, has_a_service_for_its_life) {
    const auto gates = [] {
        std::vector<const void*> states;
        for (const detail::living_service* each = detail::living_services; each != nullptr;
             each = each->next) {
            EXPECT_TRUE(each->next == nullptr || each->next->previous == each);
            states.push_back(each->gate.state);
        }
        return states;
    };
    const int states[3] = {};
    const auto gate = [&states](int i) {
        detail::described_gate one;
        one.state = &states[i];
        return one;
    };
    using pointers = std::vector<const void*>;
    std::optional<detail::service_listing> first(gate(0));
    std::optional<detail::service_listing> second(gate(1));
    std::optional<detail::service_listing> third(gate(2));
    EXPECT_EQ(gates(), (pointers{&states[2], &states[1], &states[0]}));
    EXPECT_EQ(detail::living_services->number, detail::living_services->next->number + 1);
    second.reset();
    EXPECT_EQ(gates(), (pointers{&states[2], &states[0]}));
    third.reset();
    first.reset();
    EXPECT_EQ(gates(), pointers{});
}

} // namespace
} // namespace handlepool
