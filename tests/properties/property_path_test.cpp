// SPDX-License-Identifier: MIT
#include <handlepool/property_path.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;

constexpr property_path health = "stats"_key / "health";
static_assert(health == property_path("stats") / "health");
static_assert("a.b"_key != "a"_key / "b");
static_assert("a/b"_key != "a"_key / "b");

TEST(property_path_test, hashes_are_those_that_files_hold) {
    EXPECT_EQ(static_cast<std::uint32_t>("stats"_key.hash()), 0xa3c9'0855U);
    EXPECT_EQ(static_cast<std::uint32_t>(health.hash()), 0xc57c'61ceU);
    EXPECT_EQ(static_cast<std::uint32_t>(""_key.hash()), 0x6ba4'ff30U);
    EXPECT_EQ(detail::hash_of_key("foobar"), 0x8594'4171'f739'67e8U)
        << "FNV-1a, from its authors' test vectors";
}

TEST(property_path_test, where_a_key_ends_matters) {
    EXPECT_NE("ab"_key / "c", "a"_key / "bc");
    EXPECT_NE("a"_key / "", "a"_key);
    EXPECT_NE(""_key / "a", "a"_key);
    EXPECT_NE("a"_key / "b", "b"_key / "a");
    EXPECT_NE("a"_key / "a", "a"_key);
    EXPECT_NE(property_path(std::string_view("a\0", 2)), "a"_key);
}

TEST(property_path_test, a_key_may_hold_anything) {
    const std::string every_byte = [] {
        std::string bytes;
        for (int byte = 0; byte != 256; ++byte) {
            bytes.push_back(static_cast<char>(byte));
        }
        return bytes;
    }();
    EXPECT_EQ(property_path(every_byte), property_path(std::string(every_byte)));
    EXPECT_NE(property_path(every_byte), property_path(every_byte.substr(1)));
}

TEST(property_path_test, hashes_of_a_hundred_thousand_paths_spread) {
    std::set<property_hash> hashes;
    for (int group = 0; group != 100; ++group) {
        for (int name = 0; name != 1000; ++name) {
            const property_path path = property_path("group " + std::to_string(group)) / std::to_string(name);
            hashes.insert(path);
        }
    }
    // Of 32 random bits, one or two pairs of 100,000 agree.
    EXPECT_GE(hashes.size(), 99'990U);
}

} // namespace
} // namespace handlepool::test
