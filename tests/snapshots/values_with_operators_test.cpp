// SPDX-License-Identifier: MIT

// Objects, values and keys whose operators & and , are not those of other types: pointers of COM and of
// bindings have such.

#include <handlepool/columns.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace handlepool::test {
namespace {

struct held {
    explicit held(int its_number = 0) : number(its_number) {}

    int before = -1; // so that the number lies elsewhere than the whole
    int number;

    int* operator&() { return &number; }
    const int* operator&() const { return &number; }
    template <class Other>
    void operator,(Other&&) const = delete;
    bool operator==(const held&) const = default;
    void clear() noexcept { number = 0; } // for recycling pools
};

struct hash_of_held {
    std::size_t operator()(const held& key) const noexcept { return std::hash<int>()(key.number); }
};

template <class Pool>
struct values_with_operators : testing::Test {
    Pool pool_{{.name = "ships", .capacity = 100, .reuse_delay = 0}};
};
using pools = testing::Types<pool<held>, stable_pool<held>, recycling_pool<held>>;
TYPED_TEST_SUITE(values_with_operators, pools);

TYPED_TEST(values_with_operators, are_objects_of_pools) {
    auto& used = this->pool_;
    std::vector<typename TypeParam::handle_type> handles(3);
    used.emplace_n(3, handles.begin());
    used.at(handles[0]).number = 4;
    used.compact();
    used.erase(handles[1]);
    used.compact();
    EXPECT_EQ(used.at(handles[0]).number, 4);
    EXPECT_EQ(used.find(handles[1]), nullptr);
    EXPECT_EQ(used.handle_of(used.at(handles[2])), handles[2]);
    for (const auto& [handle, object] : used.entries()) {
        EXPECT_EQ(object.number, handle == handles[0] ? 4 : 0);
    }
}

TEST(values_with_operators_kept, are_values_of_maps_and_keys_of_indices) {
    pool<int> used({.name = "ships", .capacity = 100});
    const auto first = used.emplace(1);
    handle_map<int, held> map;
    map.attach(used);
    EXPECT_EQ(map.try_emplace(first, held{2}).value->number, 2);
    EXPECT_EQ(map.insert_or_assign(first, held{3}).value->number, 3);
    EXPECT_EQ(map.find(first)->number, 3);
    handle_index<int, held, default_layout, hash_of_held> index;
    index.insert(first, held{5});
    EXPECT_EQ(index.key_of(first)->number, 5);
    EXPECT_EQ(index.find(held{5}), first);
}

TEST(values_with_operators_kept, are_columns) {
    pool<columns<held, int>> used({.name = "ships", .capacity = 100});
    const auto first = used.emplace(held{1}, 2);
    const auto second = used.emplace(held{3}, 4);
    used.compact();
    used.erase(first);
    used.compact();
    EXPECT_EQ(used.at(second).template get<0>().number, 3);
}

TEST(values_with_operators_kept, are_restored_and_saved) {
    pool<held> used({.name = "ships", .capacity = 100});
    held alone{7};
    std::vector<std::byte> bytes;
    const auto first = used.emplace(held{1});
    used.compact();
    {
        change_log log(used);
        capture_ring ring(log, {.frames = 4});
        ring.capture(1);
        log.edit(first)->number = 2;
        ring.restore(1);
        EXPECT_EQ(used.at(first).number, 1);
    }
    snapshot all;
    all.add("ships", used);
    all.add("alone", alone);
    all.save(bytes);
    used.at(first).number = 8;
    alone.number = 9;
    all.load(bytes);
    EXPECT_EQ(used.at(first).number, 1);
    EXPECT_EQ(alone.number, 7);
}

} // namespace
} // namespace handlepool::test
