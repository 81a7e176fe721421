// SPDX-License-Identifier: MIT
#include "address_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace handlepool::coherence {
namespace {

struct address_map_test : testing::Test {
    std::string name_at(const void* address) {
        const address_map::range* const found = map.find(address);
        return found == nullptr
                   ? "nowhere"
                   : map.text(address_map::name_of(*found, reinterpret_cast<std::uintptr_t>(address)));
    }

    alignas(line_size) std::array<std::byte, 4 * line_size> bytes{};
    int header = 0;
    address_map map;
};

TEST_F(address_map_test, FindsWhatWasAddedAndNothingElse) {
    map.add_array(&header, sizeof(header), bytes.data(), 2 * line_size, "a");
    EXPECT_EQ(name_at(bytes.data()), "a");
    EXPECT_EQ(name_at(&bytes[2 * line_size - 1]), "a");
    EXPECT_EQ(name_at(&bytes[2 * line_size]), "nowhere");
    map.remove(bytes.data());
    EXPECT_EQ(name_at(bytes.data()), "nowhere");
}

TEST_F(address_map_test, FieldsRepeatWithTheElements) {
    map.name_fields({.array = "slots", .element_size = 8, .fields = {{0, "tags"}, {4, "locations"}}});
    map.add_array(&header, sizeof(header), bytes.data(), bytes.size(), "slots");
    EXPECT_EQ(name_at(&bytes[0]), "tags");
    EXPECT_EQ(name_at(&bytes[4]), "locations");
    EXPECT_EQ(name_at(&bytes[80]), "tags");
    EXPECT_EQ(name_at(&bytes[84]), "locations");
}

TEST_F(address_map_test, ASecondArrayOfANameGetsANumber) {
    map.add_array(&header, sizeof(header), &bytes[0], line_size, "a");
    map.rename("a 2", "the other");
    map.add_array(&header, sizeof(header), &bytes[line_size], line_size, "a");
    EXPECT_EQ(name_at(&bytes[0]), "a");
    EXPECT_EQ(name_at(&bytes[line_size]), "the other");
}

TEST_F(address_map_test, MembersAreCalledAfterTheFileThatAccessesThem) {
    map.add_object(bytes.data(), bytes.size(), "object");
    map.name_member(&bytes[8], 8, "folder/counters.hpp");
    EXPECT_EQ(name_at(&bytes[0]), "object");
    EXPECT_EQ(name_at(&bytes[8]), "counters");
    EXPECT_EQ(name_at(&bytes[12]), "counters");
    EXPECT_EQ(name_at(&bytes[16]), "object");
}

TEST_F(address_map_test, LinesAreNumberedFromTheBeginningOfTheirArray) {
    map.add_array(&header, sizeof(header), &bytes[0], line_size, "a");
    map.add_array(&header, sizeof(header), &bytes[line_size], 3 * line_size, "b");
    const address_map::range* const second = map.find(&bytes[line_size]);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(map.describe(second->first_line + 2), "b, line 2");
}

TEST_F(address_map_test, WhatBeginsWithinALineIsRefused) {
    EXPECT_THROW(map.add_object(&bytes[4], line_size, "askew"), std::invalid_argument);
}

} // namespace
} // namespace handlepool::coherence
