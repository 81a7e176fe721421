// SPDX-License-Identifier: MIT

// What a property_store asks for only when threads race, as it looks for foreign handles first; and the
// blocks in which bags lie, which it doesn't show.

#include <handlepool/detail/properties/bag_buffer.hpp>
#include <handlepool/detail/properties/bag_store.hpp>
#include <handlepool/detail/properties/block_arena.hpp>
#include <handlepool/detail/properties/entry_of.hpp>
#include <handlepool/property_bag.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>

namespace handlepool::detail {
namespace {

using namespace handlepool::property_literals;

TEST(bag_store_test, a_bag_of_another_pool_is_refused_and_leaves_no_block) {
    bag_store store(10, 65'536);
    const bag_entry value = entry_of("value"_key, 1.0F);
    const bag_owner own{.slot = 1, .tag = 1, .pool_id = 1};
    const bag_owner foreign{.slot = 2, .tag = 1, .pool_id = 2};
    property_bag bag;
    bag.set("text"_key, std::string(1000, 'x'));
    std::string error;
    ASSERT_EQ(store.put(own, "value"_key, value, error), bag_store::outcome::done);
    for (int round = 0; round != 100; ++round) { // more than there is room for
        ASSERT_EQ(store.put(foreign, "value"_key, value, error), bag_store::outcome::foreign);
        ASSERT_THROW(store.assign(foreign, bag), std::invalid_argument);
        ASSERT_THROW(store.merge(foreign, bag, removals::apply), std::invalid_argument);
    }
    EXPECT_EQ(store.size(), 1U);
    EXPECT_FALSE(store.has(foreign));
    EXPECT_TRUE(store.assign(own, bag));
    EXPECT_EQ(store.find(own).size(), 1U);
}

constexpr bag_owner owner{.slot = 1, .tag = 1, .pool_id = 1};

void put_text(bag_store& store, property_path path, std::size_t length) {
    const std::string text(length, 'x');
    std::string error;
    ASSERT_EQ(store.put(owner, path, entry_of(path, text), error), bag_store::outcome::done);
}

bag_reader bag_of_owner(const bag_store& store) {
    return bag_reader(store.find(owner).bytes().data());
}

TEST(bag_store_test, a_bag_that_fits_into_half_of_its_block_moves_when_it_loses_a_property) {
    int exactly_half = 0;
    int stayed = 0;
    for (std::size_t kept = 0; kept != 300; ++kept) {
        for (const std::size_t lost : {10U, 100U, 300U}) {
            bag_store store(10, 65'536);
            put_text(store, "kept"_key, kept);
            put_text(store, "lost"_key, lost);
            const std::size_t before = bag_of_owner(store).capacity();
            ASSERT_TRUE(store.erase(owner, "lost"_key));
            const std::size_t smallest = block_class::of(bag_of_owner(store).compact_size()).bytes();
            const bool moves = smallest <= before / 2;
            EXPECT_EQ(bag_of_owner(store).capacity(), moves ? smallest : before) << kept << " and " << lost;
            exactly_half += smallest == before / 2 ? 1 : 0;
            stayed += moves ? 0 : 1;
        }
    }
    EXPECT_GT(exactly_half, 0);
    EXPECT_GT(stayed, 0);
}

TEST(bag_store_test, a_bag_to_which_properties_are_given_moves_to_no_smaller_block) {
    bag_store store(10, 1 << 20);
    std::mt19937 random(1);
    const property_path paths[] = {"a"_key, "b"_key, "c"_key, "d"_key};
    std::size_t capacity = 0;
    std::size_t with_room_to_spare = 0;
    for (int round = 0; round != 2000; ++round) {
        put_text(store, paths[random() % 4], random() % (round < 50 ? 2000 : 200));
        ASSERT_GE(bag_of_owner(store).capacity(), capacity) << round;
        capacity = bag_of_owner(store).capacity();
        with_room_to_spare += bag_of_owner(store).compact_size() <= capacity / 2 ? 1U : 0U;
    }
    EXPECT_GT(with_room_to_spare, 1000U) << "or a smaller one would not do";
}

} // namespace
} // namespace handlepool::detail
