// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>

namespace handlepool::test {

/// How the steps of a compaction are tested: with batches of different sizes, and either in one pass or in
/// the two steps that an executor takes.
template <class Policy, bool OnePass>
struct compaction_setup {
    using policy = Policy;
    static constexpr bool one_pass = OnePass;
};

using compaction_setups = testing::Types<
    compaction_setup<default_policy, true>, compaction_setup<default_policy, false>,
    compaction_setup<support::tiny_policy<1>, true>, compaction_setup<support::tiny_policy<1>, false>,
    compaction_setup<support::tiny_policy<2>, true>, compaction_setup<support::tiny_policy<2>, false>>;

} // namespace handlepool::test
