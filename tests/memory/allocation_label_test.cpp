// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/allocation_label.hpp>

#include <gtest/gtest.h>

#include <string>

namespace handlepool::test {
namespace {

using namespace detail;

TEST(allocation_label_test, says_what_it_was_made_from) {
    EXPECT_STREQ(allocation_label("service routes").text().c_str(), "service routes");
    EXPECT_STREQ(allocation_label("").text().c_str(), "");
    const allocation_label pool = allocation_label::of_pool("ships");
    EXPECT_STREQ(pool.text().c_str(), "pool 'ships'");
    const allocation_label nursery = pool.part(" nursery");
    const allocation_label chunks = nursery.part(" chunks");
    EXPECT_STREQ(chunks.part(" unused").text().c_str(), "pool 'ships' nursery chunks unused");
    EXPECT_STREQ(chunks.text().c_str(), "pool 'ships' nursery chunks");
}

TEST(allocation_label_test, cuts_the_beginning_of_what_is_too_long) {
    const std::string name(300, 'x');
    const allocation_label pool = allocation_label::of_pool(name);
    const std::string text = pool.part(" slots").text().c_str();
    EXPECT_LT(text.size(), 256U);
    EXPECT_GT(text.size(), 200U);
    EXPECT_EQ(text.substr(text.size() - 8), "x' slots");
}

TEST(allocation_label_test, a_part_is_used_like_the_whole_but_not_from_its_end) {
    const allocation_label pool = allocation_label::of_pool("ships");
    EXPECT_FALSE(pool.is_rarely_used());
    EXPECT_FALSE(pool.is_from_end());
    const allocation_label rare = pool.rarely();
    EXPECT_TRUE(rare.part(" records").is_rarely_used());
    const allocation_label backwards = pool.from_end();
    EXPECT_TRUE(backwards.is_from_end());
    EXPECT_TRUE(backwards.rarely().is_from_end());
    EXPECT_FALSE(backwards.part(" records").is_from_end());
}

} // namespace
} // namespace handlepool::test
