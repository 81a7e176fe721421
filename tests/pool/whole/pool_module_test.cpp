// SPDX-License-Identifier: MIT

// A pool that is used by code under another numbering of threads, as a plug-in with a copy of the library is.

#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/chosen_module.hpp>

#include <iterator>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

class pool_of_another_module : public testing::Test {
protected:
    using pool_type = pool<int, with_policy<chosen_module>>;

    pool_of_another_module() {
        chosen_module::chosen = 1;
        objects.emplace(1);
        handle = objects.emplace(2);
        objects.compact();
        chosen_module::chosen = 2;
    }
    ~pool_of_another_module() override { chosen_module::chosen = 1; }

    pool_type objects{{.name = "ships", .capacity = 10}};
    pool_type::handle_type handle;
};

TEST_F(pool_of_another_module, refuses_what_needs_a_shard) {
    const auto refused =
        testing::ThrowsMessage<foreign_module>(testing::HasSubstr("pool 'ships' was made by another copy"));
    EXPECT_THAT([&] { objects.emplace(3); }, refused);
    EXPECT_FALSE(objects.try_emplace(3));
    std::vector<pool_type::handle_type> made;
    EXPECT_THAT([&] { objects.emplace_n(2, std::back_inserter(made), 3); }, refused);
    EXPECT_THAT([&] { static_cast<void>(objects.access()); }, refused);
    EXPECT_FALSE(objects.try_access());
    EXPECT_EQ(objects.size(), 2U);
}

TEST_F(pool_of_another_module, lets_handles_be_looked_up_and_erased) {
    EXPECT_TRUE(objects.contains(handle));
    EXPECT_EQ(objects.at(handle), 2);
    EXPECT_TRUE(objects.erase(handle));
    EXPECT_FALSE(objects.contains(handle));
    EXPECT_EQ(objects.compact().removed, 1U) << "found by a sweep";
    EXPECT_EQ(objects.size(), 1U);
    EXPECT_EQ(objects.items().size(), 1U);
}

} // namespace
} // namespace handlepool::test
