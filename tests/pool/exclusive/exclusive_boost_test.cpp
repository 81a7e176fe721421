// SPDX-License-Identifier: MIT

// A view of a pool whose freelist is another: its slots are claimed and freed as always.

#include <handlepool/boost_freelist.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>

#include <cstddef>
#include <vector>

namespace handlepool::test {
namespace {

TEST(exclusive_boost, gives_the_handles_of_a_pool_that_is_compacted_after_each_step) {
    using boost_pool = pool<std::size_t, with_freelist<boost_freelist>>;
    const pool_options options{.name = "pool", .capacity = 200, .reuse_delay = 5};
    boost_pool model(options);
    boost_pool pool(options);
    {
        auto alone = pool.exclusive_access();
        std::vector<boost_pool::handle_type> made;
        std::vector<boost_pool::handle_type> expected;
        for (std::size_t i = 0; i != 2000; ++i) {
            if (made.size() == 150 || (i % 3 == 0 && !made.empty())) {
                const auto victim = static_cast<std::ptrdiff_t>(i * 7 % made.size());
                EXPECT_TRUE(alone.erase(made[static_cast<std::size_t>(victim)]));
                EXPECT_TRUE(model.erase(expected[static_cast<std::size_t>(victim)]));
                model.compact();
                made.erase(made.begin() + victim);
                expected.erase(expected.begin() + victim);
            }
            made.push_back(alone.emplace(i));
            expected.push_back(model.emplace(i));
            model.compact();
            ASSERT_EQ(made.back().index(), expected.back().index());
            ASSERT_EQ(alone.items().size(), model.items().size());
        }
        EXPECT_EQ(alone.stats().smallest_reuse_distance, model.stats().smallest_reuse_distance);
    }
    expect_consistent(pool);
}

} // namespace
} // namespace handlepool::test
