// SPDX-License-Identifier: MIT

// A hash for which memory is missing is none, and the next one is that of all.

#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/world_hash.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstdint>

namespace handlepool::test {
namespace {

class world_hash_without_memory : public testing::TestWithParam<shortage> {};

TEST_P(world_hash_without_memory, goes_on_when_there_is_some) {
    pool<std::uint64_t> numbers({.capacity = 2'000});
    change_log log(numbers);
    handle_set<std::uint64_t> odd;
    world_hash hash;
    hash.add("odd", odd);
    hash.add("numbers", log);
    std::uint64_t frame = 0;
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        for (std::uint64_t i = 0; i != 200; ++i) {
            numbers.emplace(1000 * frame + i);
        }
        for (std::uint64_t i = 0; i < numbers.items().size(); i += 3) {
            numbers.erase(numbers.handle_at(i));
        }
        numbers.compact();
        const std::uint64_t before = hash.value();
        if (when.hits([&] { hash.update(); })) {
            ASSERT_EQ(hash.value(), before);
        }
        ++frame;
        hash.update();
        world_hash anew;
        anew.add("odd", odd);
        anew.add("numbers", log);
        ASSERT_EQ(hash.value(), anew.update());
    });
    EXPECT_GT(allocations, 1U);
}

TEST_P(world_hash_without_memory, gets_a_part_or_none) {
    const int score = 7;
    world_hash hash;
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        const std::size_t parts = when.hits([&] { hash.add("score", score); }) ? 0U : 1U;
        ASSERT_EQ(hash.parts().size(), parts);
    });
    EXPECT_GT(allocations, 1U);
}

INSTANTIATE_TEST_SUITE_P(shortages, world_hash_without_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
