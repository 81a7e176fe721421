// SPDX-License-Identifier: MIT

// Newborns of the C interface, whose memory is the program's until they are published or cancelled.

#include <handlepool/handlepool.h>

#include <gtest/gtest.h>

#include <cstdint>

namespace handlepool::test {
namespace {

handlepool_pool* pool_of(const char* name) {
    handlepool_description description{};
    description.name = name;
    description.size = sizeof(std::uint64_t);
    description.capacity = 10;
    handlepool_pool* made = nullptr;
    EXPECT_EQ(handlepool_pool_create(&description, &made), HANDLEPOOL_OK) << handlepool_last_error();
    return made;
}

TEST(c_newborns, stay_as_they_are_when_another_pool_refuses_them) {
    handlepool_pool* const ships = pool_of("ships");
    handlepool_pool* const rockets = pool_of("rockets");
    handlepool_newborn newborn{};
    ASSERT_EQ(handlepool_emplace(ships, &newborn), HANDLEPOOL_OK);
    void* const memory = newborn.memory;
    *static_cast<std::uint64_t*>(memory) = 7;

    EXPECT_EQ(handlepool_cancel(rockets, &newborn), HANDLEPOOL_ERROR_NOT_RESERVED);
    EXPECT_STREQ(handlepool_last_error(), "pool 'rockets': the newborn is not one of the pool");
    ASSERT_EQ(newborn.memory, memory);
    EXPECT_EQ(handlepool_publish(rockets, &newborn), HANDLEPOOL_ERROR_NOT_RESERVED);
    ASSERT_EQ(newborn.memory, memory);

    EXPECT_EQ(handlepool_publish(ships, &newborn), HANDLEPOOL_OK);
    EXPECT_EQ(newborn.memory, nullptr);
    const auto* const published = static_cast<std::uint64_t*>(handlepool_find(ships, newborn.handle));
    ASSERT_NE(published, nullptr);
    EXPECT_EQ(*published, 7U);
    EXPECT_EQ(handlepool_pool_destroy(ships), HANDLEPOOL_OK);
    EXPECT_EQ(handlepool_pool_destroy(rockets), HANDLEPOOL_OK);
}

} // namespace
} // namespace handlepool::test
