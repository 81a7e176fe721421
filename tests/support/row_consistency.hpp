// SPDX-License-Identifier: MIT
#pragma once

#include "consistency.hpp"

#include <handlepool/columns.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

namespace handlepool::test {

/// Expects that the column's elements are those of the rows at the same positions.
template <std::size_t I, class Pool>
void expect_consistent_column(Pool& pool) {
    const auto items = pool.template items<I>();
    ASSERT_EQ(items.size(), pool.size());
    for (std::size_t position = 0; position != items.size(); ++position) {
        const auto handle = pool.handle_at(position);
        const auto found = pool.find(handle);
        ASSERT_TRUE(found);
        ASSERT_EQ(&found->template get<I>(), &items[position]);
        ASSERT_EQ(pool.handle_of(items[position]), handle);
    }
}

/// Compacts, and expects what must hold at every quiescent point: the dense store is exactly the living rows,
/// no row and no slot is lost, and the elements of a row have the same position in all columns.
template <class... Cs, class Traits>
void expect_consistent_rows(pool<columns<Cs...>, Traits>& pool) {
    expect_counts_agree(pool);
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
        (expect_consistent_column<Is>(pool), ...);
    }(std::index_sequence_for<Cs...>());
    std::size_t visited = 0;
    for (auto row : pool) {
        ASSERT_EQ(&row.template get<0>(), &pool.template items<0>()[visited]);
        ++visited;
    }
    EXPECT_EQ(visited, pool.size());
}

} // namespace handlepool::test
