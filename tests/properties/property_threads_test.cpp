// SPDX-License-Identifier: MIT

// What threads may do at the same time: read one bag, change bags of their own, use one table.

#include "collisions.hpp"

#include <handlepool/property_json.hpp>

#include <gtest/gtest.h>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;

constexpr std::size_t readers_and_writers = 4;

TEST(property_threads_test, threads_read_one_bag) {
    property_bag bag;
    for (int i = 0; i != 50; ++i) {
        bag.set(property_path(std::to_string(i)), std::to_string(i));
    }
    in_threads(readers_and_writers, [&](std::size_t) {
        const property_bag copy = bag;
        for (int i = 0; i != 50; ++i) {
            EXPECT_EQ(bag.at<std::string_view>(property_path(std::to_string(i))), std::to_string(i));
        }
        EXPECT_EQ(copy, bag);
        EXPECT_TRUE(diff(copy, bag).empty());
    });
}

TEST(property_threads_test, threads_change_bags_of_one_table) {
    key_table names;
    std::vector<property_bag> bags(readers_and_writers, property_bag(names));
    in_threads(readers_and_writers, [&](std::size_t thread) {
        for (int i = 0; i != 200; ++i) {
            const std::string key = std::to_string(i);
            bags[thread].set(property_path("mine"), i);
            bags[thread].set(names.add({"shared", key}), i);
            EXPECT_EQ(names.keys_of("shared"_key / key).size(), 2U);
        }
    });
    EXPECT_EQ(names.size(), 201U);
    for (const property_bag& bag : bags) {
        EXPECT_EQ(bag, bags.front());
    }
}

TEST(property_threads_test, of_two_paths_that_collide_one_is_known) {
    for (int round = 0; round != 200; ++round) {
        key_table names;
        std::atomic<int> refused = 0;
        in_threads(2, [&](std::size_t thread) {
            std::string error;
            const std::string_view key = colliding_keys[thread];
            refused += names.try_add(std::span(&key, 1), error) ? 0 : 1;
        });
        EXPECT_EQ(refused, 1);
        EXPECT_EQ(names.size(), 1U);
    }
}

TEST(property_threads_test, threads_read_json_into_one_table) {
    key_table names;
    in_threads(readers_and_writers, [&](std::size_t thread) {
        const std::string own = std::to_string(thread);
        for (int i = 0; i != 50; ++i) {
            const property_bag bag =
                bag_from_json(R"({"shared": {"a": 1, "b": 2}, ")" + own + R"(": true})", own, &names);
            EXPECT_EQ(bag.size(), 3U);
            EXPECT_FALSE(to_json(bag).empty());
        }
    });
    EXPECT_EQ(names.size(), 2 + readers_and_writers);
}

} // namespace
} // namespace handlepool::test
