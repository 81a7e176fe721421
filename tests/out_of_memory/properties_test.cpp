// SPDX-License-Identifier: MIT

// When an allocation fails, bags and tables are as before; what promises not to throw needs no memory.

#include <handlepool/property_json.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <new>
#include <string_view>
#include <utility>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;

// Longer than what a string holds in itself.
constexpr std::string_view long_key = "a key of more characters than a string has room for";

/// What a round works on, and what it may not change.
struct bags {
    key_table names;
    property_bag bag{names};
    property_bag before;
    std::size_t named = 0;

    bags() {
        bag.set(names.add({"first", long_key}), "a value of more characters than a string has room for");
        bag.set(names.add({"second"}), {1.0F, 2.0F});
        bag.shrink_to_fit();
        before = bag;
        named = names.size();
    }
};

/// Calls `round(bags)` with another allocation failing each time. After a failure nothing has changed.
/// Returns how many allocations there are.
template <class Round>
std::size_t with_bags(Round round) {
    return with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& memory) {
        bags work;
        if (memory.hits([&] { round(work); })) {
            EXPECT_EQ(work.bag, work.before);
            EXPECT_EQ(work.bag.names(), &work.names);
        }
        EXPECT_EQ(property_bag::from_bytes(work.bag.bytes()), work.bag);
    });
}

TEST(properties_without_memory, set_changes_nothing) {
    EXPECT_EQ(with_bags([](bags& work) { work.bag.set("second"_key, true); }), 0U) << "there is room";
    EXPECT_EQ(
        with_bags([](bags& work) { work.bag.set("second"_key, std::string_view("longer than it was")); }),
        1U);
    EXPECT_EQ(with_bags([](bags& work) { work.bag.set("third"_key, 3); }), 2U)
        << "the table's entry, and the bag's buffer";
    EXPECT_EQ(with_bags([](bags& work) { work.bag.try_set("third"_key, 3); }), 2U);
    EXPECT_EQ(with_bags([](bags& work) { work.bag.set_removed("third"_key); }), 2U);
}

TEST(properties_without_memory, what_makes_another_buffer_changes_nothing) {
    EXPECT_EQ(with_bags([](bags& work) { work.bag.reserve(1000); }), 1U);
    EXPECT_EQ(with_bags([](bags& work) {
                  work.bag.reserve(1000);
                  work.bag.shrink_to_fit();
              }),
              2U);
    EXPECT_EQ(with_bags([](bags& work) { const property_bag copy = work.bag; }), 1U);
    EXPECT_EQ(with_bags([](bags& work) {
                  property_bag other;
                  other = work.bag;
              }),
              1U);
    EXPECT_EQ(with_bags([](bags& work) { property_bag::from_bytes(work.bag.bytes()); }), 1U);
}

TEST(properties_without_memory, merge_and_diff_change_nothing) {
    EXPECT_EQ(with_bags([](bags& work) { work.bag.merge(work.before); }), 1U);
    EXPECT_EQ(with_bags([](bags& work) { EXPECT_FALSE(diff(work.bag, property_bag()).empty()); }), 1U);
    EXPECT_GT(with_bags([](bags& work) {
                  key_table others;
                  property_bag other(others);
                  other.set(others.add({"third", long_key}), 3);
                  work.bag.merge(other);
              }),
              6U);
}

TEST(properties_without_memory, a_table_knows_all_or_nothing) {
    EXPECT_GT(with_bags([](bags& work) {
                  key_table others;
                  others.add({"third", long_key});
                  others.add({"fourth", long_key});
                  try {
                      work.names.add(others);
                  } catch (const std::bad_alloc&) {
                      EXPECT_EQ(work.names.size(), work.named);
                      throw;
                  }
              }),
              8U);
}

TEST(properties_without_memory, a_text_that_is_not_read_leaves_the_table) {
    EXPECT_GT(with_bags([](bags& work) {
                  try {
                      bag_from_json(R"({"third": {"a": [1, 2, 3], "b": "c"}, "fourth": 4})", "sheet",
                                    &work.names);
                  } catch (const std::bad_alloc&) {
                      EXPECT_EQ(work.names.size(), work.named);
                      throw;
                  }
                  EXPECT_EQ(work.names.size(), work.named + 3);
              }),
              20U);
}

TEST(properties_without_memory, writing_json_changes_nothing) {
    EXPECT_GT(with_bags([](bags& work) { EXPECT_FALSE(to_json(work.bag).empty()); }), 10U);
    EXPECT_GT(with_bags([](bags& work) { EXPECT_FALSE(describe(work.bag).empty()); }), 3U);
}

TEST(properties_without_memory, what_never_throws_needs_none) {
    EXPECT_EQ(with_bags([](bags& work) {
                  property_bag moved = std::move(work.bag);
                  work.bag = std::move(moved);
                  swap(moved, work.bag);
                  swap(moved, work.bag);
                  work.bag.set_names(work.names);
                  EXPECT_TRUE(work.bag.erase("second"_key));
                  EXPECT_TRUE(work.bag.contains(property_path("first") / long_key));
                  EXPECT_EQ(work.bag, property_view(work.bag));
                  work.bag.clear();
              }),
              0U);
}

} // namespace
} // namespace handlepool::test
