// SPDX-License-Identifier: MIT

// emplace_entry of each kind of pool: the handle of a new object, and the object.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace handlepool::test {
namespace {

template <class Pool>
class emplace_entry : public testing::Test {};

using kinds = testing::Types<pool<std::string>, stable_pool<std::string>, recycling_pool<std::string>>;
TYPED_TEST_SUITE(emplace_entry, kinds);

TYPED_TEST(emplace_entry, gives_the_object_that_the_handle_names) {
    TypeParam pool({.name = "strings", .capacity = 1000});
    std::vector<typename TypeParam::handle_type> handles;
    for (std::size_t i = 0; i != 100; ++i) {
        auto [handle, object] = pool.emplace_entry(std::string(i, 'x'));
        static_assert(std::is_same_v<decltype(object), std::string&>);
        EXPECT_EQ(object, std::string(i, 'x'));
        EXPECT_EQ(&object, pool.find(handle));
        object += "!";
        handles.push_back(handle);
        if (i == 50) {
            pool.compact();
        }
    }
    for (std::size_t i = 0; i != 100; ++i) {
        EXPECT_EQ(pool.at(handles[i]), std::string(i, 'x') + "!");
    }
}

TYPED_TEST(emplace_entry, throws_what_emplace_throws) {
    TypeParam pool({.name = "strings", .capacity = 1, .reuse_delay = 0, .max_threads = 1});
    pool.emplace_entry("first");
    EXPECT_THROW(pool.emplace_entry("second"), pool_exhausted);
    EXPECT_EQ(pool.size(), 1U);
}

TEST(emplace_entry_of_objects, may_be_of_a_type_that_is_neither_copied_nor_assigned) {
    pool<std::unique_ptr<int>> pool({.name = "pointers", .capacity = 10});
    const auto entry = pool.emplace_entry(std::make_unique<int>(7));
    *entry.object = 8;
    EXPECT_EQ(*pool.at(entry.handle), 8);
}

TEST(emplace_entry_of_objects, leaves_nothing_when_the_constructor_throws) {
    struct refusing {
        explicit refusing(int) { throw std::runtime_error("refused"); }
    };
    pool<refusing> pool({.name = "refusing", .capacity = 10});
    EXPECT_THROW(pool.emplace_entry(1), std::runtime_error);
    EXPECT_TRUE(pool.empty());
}

TEST(emplace_entry_of_rows, gives_the_row) {
    pool<columns<int, std::string>> pool({.name = "rows", .capacity = 10});
    auto [handle, row] = pool.emplace_entry(std::string("text"), 7);
    row.get<int>() += 1;
    pool.compact();
    EXPECT_EQ(pool.at(handle).get<int>(), 8);
    EXPECT_EQ(pool.at(handle).get<std::string>(), "text");
}

template <class Pool>
void expect_raw_entries() {
    Pool pool({.name = "raw", .capacity = 10},
              {.size = sizeof(std::uint64_t), .alignment = alignof(std::uint64_t)});
    const auto zero = pool.emplace_entry();
    EXPECT_EQ(zero.object, pool.find(zero.handle));
    EXPECT_EQ(*static_cast<std::uint64_t*>(zero.object), 0U);
    const auto seven = pool.emplace_entry([](void* memory) { ::new (memory) std::uint64_t(7); });
    EXPECT_EQ(*static_cast<std::uint64_t*>(seven.object), 7U);
    EXPECT_EQ(seven.object, pool.find(seven.handle));
}

TEST(emplace_entry_of_raw_pools, gives_the_address) {
    expect_raw_entries<raw_pool<>>();
    expect_raw_entries<raw_stable_pool<>>();
}

} // namespace
} // namespace handlepool::test
