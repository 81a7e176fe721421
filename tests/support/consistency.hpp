// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace handlepool::test {

/// Compacts, and expects the counts to agree: no object and no slot is lost.
template <class Pool>
void expect_counts_agree(Pool& pool) {
    pool.compact();
    const pool_stats stats = pool.stats();
    EXPECT_EQ(stats.created, stats.alive + stats.destroyed);
    EXPECT_EQ(stats.dense, stats.alive);
    EXPECT_EQ(stats.newborn, 0U);
    EXPECT_EQ(stats.waiting_removals, 0U);
    EXPECT_EQ(stats.slots_in_service, stats.alive + stats.slots_free + stats.slots_claimed +
                                          stats.slots_reserved + stats.slots_retired);
}

/// Compacts, and expects what must hold at every quiescent point: the dense store is exactly the living
/// objects, owners and slots agree both ways, no object and no slot is lost.
template <class Pool>
void expect_consistent(Pool& pool) {
    expect_counts_agree(pool);
    std::size_t visited = 0;
    for (auto& object : pool) {
        const auto handle = pool.handle_of(object);
        EXPECT_EQ(pool.find(handle), &object);
        if constexpr (requires { pool.items(); }) {
            EXPECT_EQ(pool.handle_at(visited), handle);
        }
        ++visited;
    }
    EXPECT_EQ(visited, pool.size());
    if constexpr (requires { pool.items(); }) {
        EXPECT_EQ(pool.items().size(), pool.size());
    }
}

} // namespace handlepool::test
