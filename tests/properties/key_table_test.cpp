// SPDX-License-Identifier: MIT
#include "collisions.hpp"

#include <handlepool/key_table.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(key_table_test, knows_the_keys_of_paths) {
    key_table names;
    EXPECT_EQ(names.add({"stats", "health"}), "stats"_key / "health");
    EXPECT_EQ(names.add({"name"}), "name"_key);
    EXPECT_EQ(names.size(), 2U);
    EXPECT_THAT(names.keys_of("stats"_key / "health"), ElementsAre("stats", "health"));
    EXPECT_EQ(names.path_of("name"_key), "name"_key);
    EXPECT_EQ(name_of("stats"_key / "health", &names), R"("stats" / "health")");
}

TEST(key_table_test, what_it_does_not_know_is_named_by_its_hash) {
    key_table names;
    EXPECT_THAT(names.keys_of("name"_key), IsEmpty());
    EXPECT_EQ(names.path_of("name"_key), std::nullopt);
    EXPECT_EQ(name_of(static_cast<property_hash>(0xa1b2), &names), "path #0000a1b2");
    EXPECT_EQ(name_of(static_cast<property_hash>(0xa1b2), nullptr), "path #0000a1b2");
}

TEST(key_table_test, a_path_without_keys_gets_them_later) {
    key_table names;
    names.add("stats"_key / "health");
    EXPECT_EQ(names.size(), 1U);
    EXPECT_THAT(names.keys_of("stats"_key / "health"), IsEmpty());
    names.add({"stats", "health"});
    EXPECT_EQ(names.size(), 1U);
    EXPECT_THAT(names.keys_of("stats"_key / "health"), ElementsAre("stats", "health"));
    names.add("stats"_key / "health");
    EXPECT_THAT(names.keys_of("stats"_key / "health"), ElementsAre("stats", "health")) << "and keeps them";
}

TEST(key_table_test, refuses_a_path_that_collides_with_another_and_names_both) {
    key_table names;
    names.add({colliding_keys[0]});
    const auto add = [&] { names.add({colliding_keys[1]}); };
    EXPECT_THAT(
        add, ThrowsMessage<path_collision>(AllOf(HasSubstr(colliding_keys[0]), HasSubstr(colliding_keys[1]),
                                                 HasSubstr("have the same hash"))));
    EXPECT_THROW(names.add(property_path(colliding_keys[1])), path_collision);
    EXPECT_EQ(names.size(), 1U);
    EXPECT_THAT(names.keys_of(property_path(colliding_keys[0])), ElementsAre(colliding_keys[0]));

    std::string error;
    EXPECT_FALSE(names.try_add(property_path(colliding_keys[1]), error));
    EXPECT_THAT(error, HasSubstr("have the same hash"));
}

TEST(key_table_test, refuses_a_path_without_keys) {
    key_table names;
    EXPECT_THAT([&] { names.add(std::vector<std::string_view>()); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("a path has no keys")));
    std::string error;
    EXPECT_EQ(names.try_add(std::vector<std::string_view>(), error), std::nullopt);
    EXPECT_EQ(names.size(), 0U);
}

TEST(key_table_test, takes_over_another_table) {
    key_table one;
    key_table other;
    one.add({"a"});
    one.add("c"_key);
    other.add({"b"});
    other.add({"c"});
    one.add(other);
    EXPECT_EQ(one.size(), 3U);
    EXPECT_THAT(one.keys_of("b"_key), ElementsAre("b"));
    EXPECT_THAT(one.keys_of("c"_key), ElementsAre("c"));
    EXPECT_EQ(other.size(), 2U);
    one.add(one);
    EXPECT_EQ(one.size(), 3U);
}

TEST(key_table_test, keeps_keys_that_another_table_does_not_know) {
    key_table one;
    key_table other;
    one.add({"a"});
    other.add("a"_key);
    one.add(other);
    EXPECT_EQ(one.size(), 1U);
    EXPECT_THAT(one.keys_of("a"_key), ElementsAre("a"));
    EXPECT_THAT(other.keys_of("a"_key), IsEmpty());
}

TEST(key_table_test, takes_over_nothing_of_a_table_that_collides) {
    key_table one;
    key_table other;
    one.add({colliding_keys[0]});
    other.add({"b"});
    other.add({colliding_keys[1]});
    EXPECT_THROW(one.add(other), path_collision);
    EXPECT_EQ(one.size(), 1U);
    std::string error;
    EXPECT_FALSE(one.try_add(other, error));
    EXPECT_THAT(error, HasSubstr(colliding_keys[1]));
}

} // namespace
} // namespace handlepool::test
