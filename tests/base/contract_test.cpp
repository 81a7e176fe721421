// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/contract.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace handlepool::test {
namespace {

using namespace detail;

TEST(contract_death_test, a_violation_names_pool_and_contract_and_aborts) {
    EXPECT_DEATH(contract_violated("ships", "it sank"), "handlepool: pool 'ships': it sank");
}

TEST(contract_death_test, a_broken_condition_is_reported_in_checked_builds_only) {
    if constexpr (checked) {
        EXPECT_DEATH(expects(false, "ships", "it sank"), "pool 'ships': it sank");
    } else {
        EXPECT_EXIT((expects(false, "ships", "it sank"), std::exit(0)), testing::ExitedWithCode(0), "^$");
    }
}

TEST(contract_death_test, a_condition_that_holds_says_nothing) {
    EXPECT_EXIT((expects(true, "ships", "it sank"), std::exit(0)), testing::ExitedWithCode(0), "^$");
}

} // namespace
} // namespace handlepool::test
