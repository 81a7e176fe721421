// SPDX-License-Identifier: MIT
#include <handlepool/detail/time/number_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace handlepool::detail {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(number_list, has_its_own_numbers_or_those_elsewhere) {
    number_list list = {1, 2, 3};
    EXPECT_THAT(list, ElementsAre(1U, 2U, 3U));
    const std::vector<std::uint32_t> elsewhere = {4, 5};
    list.refer_to(elsewhere);
    EXPECT_THAT(list, ElementsAre(4U, 5U));
    EXPECT_EQ(list.all().data(), elsewhere.data());
    EXPECT_EQ(list.size(), 2U);
    EXPECT_EQ(list[1], 5U);
    EXPECT_FALSE(list.empty());
    list.refer_to({});
    EXPECT_TRUE(list.empty());
    list.own().push_back(6); // its memory is still there
    EXPECT_THAT(list, ElementsAre(1U, 2U, 3U, 6U));
    list.own().clear();
    EXPECT_THAT(list, IsEmpty());
}

TEST(number_list, equals_one_of_the_same_numbers_wherever_these_are) {
    const number_list owner = {7, 8};
    const std::vector<std::uint32_t> elsewhere = {7, 8, 9};
    number_list other;
    other.refer_to({elsewhere.data(), 2});
    EXPECT_EQ(owner, other);
    other.refer_to(elsewhere);
    EXPECT_NE(owner, other);
}

TEST(number_list, copies_what_it_has_and_what_it_refers_to) {
    const std::vector<std::uint32_t> elsewhere = {4, 5};
    number_list list = {1};
    const number_list of_its_own = list;
    list.refer_to(elsewhere);
    const number_list of_others = list;
    list.own() = {2};
    EXPECT_THAT(of_its_own, ElementsAre(1U));
    EXPECT_THAT(of_others, ElementsAre(4U, 5U));
    EXPECT_THAT(list, ElementsAre(2U));
}

} // namespace

} // namespace handlepool::detail
