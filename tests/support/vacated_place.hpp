// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>

#include <cstddef>

namespace handlepool::test {

/// Makes objects at all positions of a chunk of a new pool's nursery but the last, which it leaves vacated:
/// its constructor fails after another one, for which a new chunk was begun, has failed.
template <class Pool>
void vacate_last_place(Pool& pool) {
    const re_entrant::callback nothing = [] {};
    const re_entrant::callback fail = [] { throw construction_failure(); };
    const re_entrant::callback fail_in_another_chunk = [&] { pool.emplace(fail); };
    for (std::size_t i = 1; i != default_policy::nursery_chunk; ++i) {
        pool.emplace(nothing);
    }
    EXPECT_THROW(pool.emplace(fail_in_another_chunk), construction_failure);
}

} // namespace handlepool::test
