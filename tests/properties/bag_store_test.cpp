// What a property_store asks for only when threads race: it looks for foreign handles first.

#include <handlepool/detail/bag_store.hpp>
#include <handlepool/detail/entry_of.hpp>
#include <handlepool/property_bag.hpp>

#include <gtest/gtest.h>

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

} // namespace
} // namespace handlepool::detail
