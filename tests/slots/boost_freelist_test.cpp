// SPDX-License-Identifier: MIT
#include <handlepool/boost_freelist.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/freelist_suite.hpp>

namespace handlepool::test {
namespace {

using with_boost = testing::Types<boost_freelist<default_policy>>;
INSTANTIATE_TYPED_TEST_SUITE_P(boost, freelist_suite, with_boost);

static_assert(freelist<boost_freelist<default_policy>>);

} // namespace
} // namespace handlepool::test
