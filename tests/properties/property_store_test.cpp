// SPDX-License-Identifier: MIT

// The bags of many objects, by their handles.

#include "collisions.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <sstream>
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
using testing::ThrowsMessage;

using ship_pool = pool<int>;
using ship_handle = ship_pool::handle_type;
using ship_store = property_store<int>;

constexpr auto hull = "stats"_key / "hull";
constexpr auto title = "title"_key;

std::vector<ship_handle> owners(const ship_store& store) {
    std::vector<ship_handle> all;
    store.for_each([&](ship_handle each, property_view) { all.push_back(each); });
    return all;
}

// ---- One bag ---------------------------------------------------------------------------------------------

TEST(property_store_test, has_a_bag_for_each_object_that_was_given_one) {
    ship_store store;
    const auto titan = made_up(0, 1);
    const auto argo = made_up(70'000, 5);
    EXPECT_TRUE(store.set(titan, hull, 10));
    EXPECT_TRUE(store.set(titan, title, "Titan"));
    EXPECT_TRUE(store.set(argo, title, std::string(1000, 'a')));
    EXPECT_TRUE(store.set(argo, "holds"_key, {1.0F, 2.0F}));
    EXPECT_EQ(store.size(), 2U);
    EXPECT_EQ(store.view(titan).at<float>(hull), 10);
    EXPECT_EQ(store.view(titan).at<std::string_view>(title), "Titan");
    EXPECT_EQ(store.view(argo).at<std::string_view>(title), std::string(1000, 'a'));
    EXPECT_THAT(store.view(argo).at<std::span<const float>>("holds"_key), ElementsAre(1, 2));
    EXPECT_THAT(owners(store), ElementsAre(titan, argo));
    EXPECT_TRUE(store.contains(titan));
    EXPECT_FALSE(store.contains(made_up(1, 1)));
    EXPECT_TRUE(store.view(made_up(1, 1)).empty());
    EXPECT_TRUE(store.view(made_up(0xffff'fff0, 1)).empty()) << "beyond all slots";
    EXPECT_TRUE(store.view({}).empty());
    EXPECT_FALSE(store.contains({}));
    EXPECT_FALSE(store.erase({}));
    EXPECT_FALSE(store.erase_property({}, hull));
    EXPECT_FALSE(ship_store().contains(made_up(0, 0)));
}

TEST(property_store_test, erases_properties_and_bags) {
    ship_store store;
    const auto titan = made_up(3, 1);
    store.set(titan, hull, 10);
    store.set(titan, title, "Titan");
    EXPECT_TRUE(store.erase_property(titan, hull));
    EXPECT_FALSE(store.erase_property(titan, hull));
    EXPECT_FALSE(store.erase_property(made_up(4, 1), title));
    EXPECT_TRUE(store.erase_property(titan, title));
    EXPECT_TRUE(store.contains(titan)) << "a bag without properties";
    EXPECT_TRUE(store.erase(titan));
    EXPECT_FALSE(store.erase(titan));
    EXPECT_FALSE(store.erase(made_up(0xffff'fff0, 1)));
    EXPECT_TRUE(store.empty());
    EXPECT_THAT(owners(store), ElementsAre());
}

TEST(property_store_test, a_stale_handle_has_no_bag_whatever_its_slot_has) {
    ship_store store;
    const auto before = made_up(3, 1);
    const auto now = made_up(3, 3);
    store.set(before, hull, 1);
    EXPECT_TRUE(store.set(now, title, "Now")) << "instead of the other, which is stale";
    EXPECT_FALSE(store.contains(before));
    EXPECT_FALSE(store.view(now).contains(hull));
    EXPECT_EQ(store.size(), 1U);
    EXPECT_FALSE(store.set(before, hull, 2));
    EXPECT_FALSE(store.try_set(before, hull, 2));
    EXPECT_FALSE(store.assign(before, property_bag()));
    EXPECT_FALSE(store.merge(before, property_bag()));
    EXPECT_FALSE(store.erase_property(before, title));
    EXPECT_FALSE(store.erase(before));
    EXPECT_EQ(store.view(now).at<std::string_view>(title), "Now");
}

TEST(property_store_test, ignores_user_bits) {
    using layout = handle_layout<20, 20, 10, 14>;
    property_store<int, layout> store;
    const auto plain = made_up<handle<int, layout>>(5);
    store.set(plain.with_user(77), hull, 4);
    EXPECT_EQ(store.view(plain).at<float>(hull), 4);
    store.for_each([&](auto each, property_view) { EXPECT_EQ(each, plain); });
}

TEST(property_store_test, takes_no_bits_that_handles_do_not_have) {
    using owner = handle<int, script_layout>; // of 53 bits
    property_store<int, script_layout> store;
    const auto sound = made_up<owner>(5);
    const auto other = owner::from_value(sound.value() | std::uint64_t{1} << 60);
    EXPECT_THROW(store.set(other, hull, 1), std::invalid_argument);
    EXPECT_TRUE(store.set(sound, hull, 1));
    EXPECT_FALSE(store.contains(other));
    EXPECT_TRUE(store.view(other).empty());
    EXPECT_FALSE(store.erase(other));
}

TEST(property_store_test, refuses_handles_that_can_have_no_bag) {
    ship_store store;
    EXPECT_THROW(store.set({}, hull, 1), std::invalid_argument);
    EXPECT_THROW(store.set(made_up(1, 2), hull, 1), std::invalid_argument);
    EXPECT_THROW(store.assign({}, property_bag()), std::invalid_argument);
    store.set(made_up(1, 1, 4), hull, 1);
    EXPECT_THAT([&] { store.set(made_up(2, 1, 5), hull, 1); },
                ThrowsMessage<std::invalid_argument>(
                    AllOf(HasSubstr("property_store"), HasSubstr("id 5"), HasSubstr("id 4"))));
    EXPECT_THROW(store.merge(made_up(2, 1, 5), property_bag()), std::invalid_argument);
    EXPECT_EQ(store.size(), 1U);
    store.clear();
    EXPECT_TRUE(store.set(made_up(2, 1, 5), hull, 1)) << "an empty store takes another pool's";
}

TEST(property_store_test, assigns_whole_bags) {
    ship_store store;
    property_bag bag;
    bag.set(hull, 3);
    bag.set(title, "a name");
    EXPECT_TRUE(store.assign(made_up(1, 1), bag));
    EXPECT_EQ(store.view(made_up(1, 1)), bag);
    EXPECT_TRUE(store.assign(made_up(2, 1), store.view(made_up(1, 1))));
    EXPECT_TRUE(store.assign(made_up(2, 1), store.view(made_up(2, 1)))) << "its own";
    EXPECT_EQ(store.view(made_up(2, 1)), bag);
    EXPECT_TRUE(store.assign(made_up(1, 1), property_bag()));
    EXPECT_TRUE(store.contains(made_up(1, 1)));
    EXPECT_TRUE(store.view(made_up(1, 1)).empty());
}

TEST(property_store_test, merges_as_bags_do) {
    property_bag earlier;
    earlier.set(hull, 3);
    earlier.set(title, "Titan");
    property_bag later;
    later.set(title, "Titanic");
    later.set("sunk"_key, true);
    later.set_removed(hull);
    for (const removals how : {removals::apply, removals::keep}) {
        ship_store store;
        store.assign(made_up(1, 1), earlier);
        EXPECT_TRUE(store.merge(made_up(1, 1), later, how));
        property_bag merged = earlier;
        merged.merge(later, how);
        EXPECT_EQ(store.view(made_up(1, 1)), merged);
        EXPECT_TRUE(store.merge(made_up(2, 1), later)) << "into none";
        EXPECT_EQ(store.view(made_up(2, 1)).size(), 2U);
        EXPECT_TRUE(store.merge(made_up(2, 1), store.view(made_up(2, 1)))) << "itself";
        EXPECT_EQ(store.view(made_up(2, 1)).size(), 2U);
    }
}

TEST(property_store_test, takes_a_value_from_the_bag_that_it_grows) {
    ship_store store;
    store.set(made_up(1, 1), "0"_key, std::string(50, 'x'));
    for (int i = 1; i != 100; ++i) {
        const auto text = store.view(made_up(1, 1)).at<std::string_view>("0"_key);
        ASSERT_TRUE(store.set(made_up(1, 1), property_path(std::to_string(i)), text));
    }
    for (const property each : store.view(made_up(1, 1))) {
        EXPECT_EQ(each.get<std::string_view>(), std::string(50, 'x'));
    }
}

TEST(property_store_test, a_bag_has_the_next_size_with_room_for_it) {
    ship_store store;
    const auto ship = made_up(1, 1);
    store.set(ship, hull, 1);
    EXPECT_EQ(store.view(ship).capacity(), 24U);
    store.set(ship, title, std::string(40, 'x'));
    EXPECT_EQ(store.view(ship).capacity(), 96U) << "8 + 2 * 9, rounded, and 40";
    store.set(ship, title, std::string(1000, 'x'));
    EXPECT_EQ(store.view(ship).capacity(), 1536U);
    store.set(ship, title, "x");
    EXPECT_EQ(store.view(ship).capacity(), 1536U) << "for what comes next";
    store.erase_property(ship, title);
    EXPECT_EQ(store.view(ship).capacity(), 24U);
    EXPECT_EQ(store.view(ship).at<float>(hull), 1);
}

TEST(property_store_test, what_a_bag_leaves_is_as_large_as_what_it_had) {
    ship_store store({.slot_limit = 10, .bytes = 65'536});
    const std::string text(1000, 'x');
    for (int round = 0; round != 1000; ++round) {
        ASSERT_TRUE(store.try_set(made_up(1, 1), title, text)) << round;
        ASSERT_TRUE(store.try_set(made_up(1, 1), title, "x"));
        if (round % 2 == 0) {
            store.erase(made_up(1, 1)); // now it has far more than it needs
        } else {
            store.assign(made_up(1, 1), property_bag());
        }
    }
}

TEST(property_store_test, a_bag_that_would_be_too_large_stays_as_it_is) {
    ship_store store;
    const auto ship = made_up(1, 1);
    store.set(ship, title, std::string(60'000, 'x'));
    EXPECT_THAT([&] { store.set(ship, "more"_key, std::string(10'000, 'y')); },
                ThrowsMessage<bag_too_large>(AllOf(HasSubstr("10000"), HasSubstr("65536"))));
    EXPECT_FALSE(store.try_set(ship, "more"_key, std::string(10'000, 'y')));
    property_bag other;
    other.set("more"_key, std::string(10'000, 'y'));
    EXPECT_THROW(store.merge(ship, other), bag_too_large);
    EXPECT_EQ(store.view(ship).size(), 1U);
    EXPECT_TRUE(store.set(ship, "more"_key, std::string(5'000, 'y')));
    EXPECT_EQ(store.view(ship).capacity(), 65'536U);
}

TEST(property_store_test, a_full_store_says_so_and_changes_nothing) {
    ship_store store({.slot_limit = 1000, .bytes = 1000});
    std::uint64_t count = 0;
    while (store.try_set(made_up(count, 1), hull, count)) {
        ++count;
    }
    EXPECT_EQ(count, 41U);
    EXPECT_THAT([&] { store.set(made_up(count, 1), hull, 0); },
                ThrowsMessage<property_store_full>(AllOf(HasSubstr("1000"), HasSubstr("bytes"))));
    EXPECT_THROW(store.set(made_up(0, 1), title, std::string(100, 'x')), std::bad_alloc);
    EXPECT_THROW(store.merge(made_up(0, 1), store.view(made_up(1, 1))), property_store_full);
    EXPECT_EQ(store.size(), count);
    for (std::uint64_t i = 0; i != count; ++i) {
        EXPECT_EQ(store.view(made_up(i, 1)).at<float>(hull), static_cast<float>(i));
    }
    store.erase(made_up(7, 1));
    EXPECT_TRUE(store.set(made_up(count, 1), hull, 0));
}

TEST(property_store_test, a_slot_beyond_its_own_is_refused) {
    ship_store store({.slot_limit = 100});
    EXPECT_TRUE(store.set(made_up(99, 1), hull, 1));
    EXPECT_THAT([&] { store.set(made_up(100, 1), hull, 1); },
                ThrowsMessage<std::length_error>(
                    "property_store: slot 100 is beyond the 100 that its option `slot_limit` allows"));
    EXPECT_FALSE(store.try_set(made_up(100, 1), hull, 1));
    EXPECT_THROW(store.assign(made_up(100, 1), property_bag()), std::length_error);
    EXPECT_THROW(ship_store({.slot_limit = 0}).set(made_up(0, 1), hull, 1), std::length_error);
}

TEST(property_store_test, has_slots_up_to_the_last_one) {
    ship_store store({.slot_limit = 1500});
    EXPECT_TRUE(store.set(made_up(1499, 1), hull, 1));
    EXPECT_TRUE(store.set(made_up(3, 1), hull, 1));
    EXPECT_THAT(owners(store), ElementsAre(made_up(3, 1), made_up(1499, 1)));
    store.shrink_to_fit();
    store.clear();
    EXPECT_THAT(owners(store), ElementsAre());
}

TEST(property_store_test, a_bag_may_have_all_of_its_64_kibibytes) {
    ship_store store;
    const auto ship = made_up(1, 1);
    const std::string text(65'536 - 8 - 9 - 3, 'x');
    EXPECT_TRUE(store.set(ship, title, text));
    EXPECT_EQ(store.view(ship).at<std::string_view>(title), text);
    EXPECT_FALSE(store.try_set(ship, title, text + 'x'));
}

TEST(property_store_test, refuses_generations_that_no_object_has) {
    ship_store store;
    EXPECT_THROW(store.set(made_up(5, default_layout::generation_mask), hull, 1), std::invalid_argument);
    EXPECT_TRUE(store.set(made_up(5, default_layout::last_generation), hull, 1));
    using narrow = handle_layout<16, 12, 4>;
    property_store<int, narrow> small;
    EXPECT_THROW(small.set(handle<int, narrow>::from_value(~0U), hull, 1), std::invalid_argument);
}

TEST(property_store_test, a_visitor_may_change_bags_and_even_end_all) {
    ship_store store;
    for (std::uint64_t i = 0; i != 2000; ++i) {
        store.set(made_up(i, 1), hull, i);
    }
    int visited = 0;
    store.for_each([&](ship_handle each, property_view) {
        ++visited;
        store.set(each, title, std::string(100, 'x'));
        if (each.index() % 2 == 0) {
            store.erase(made_up(each.index() + 1, 1));
        }
    });
    EXPECT_EQ(visited, 1000);
    visited = 0;
    store.for_each([&](ship_handle, property_view) {
        ++visited;
        store.clear();
    });
    EXPECT_EQ(visited, 1);
}

// ---- Names -----------------------------------------------------------------------------------------------

TEST(property_store_test, a_table_names_the_paths_and_refuses_collisions) {
    key_table names;
    ship_store store;
    store.set_names(names);
    EXPECT_EQ(store.names(), &names);
    const auto ship = made_up(1, 1);
    store.set(ship, names.add({"stats", "hull"}), 10);
    EXPECT_THAT(describe(store.view(ship)), HasSubstr(R"("stats" / "hull")"));
    store.set(ship, property_path(colliding_keys[0]), 1);
    EXPECT_THROW(store.set(ship, property_path(colliding_keys[1]), 1), path_collision);
    EXPECT_FALSE(store.try_set(ship, property_path(colliding_keys[1]), 1));
    EXPECT_EQ(store.view(ship).size(), 2U);
    key_table others;
    property_bag other(others);
    other.set(others.add({"crew", "captain"}), "Ahab");
    store.merge(ship, other);
    EXPECT_THAT(describe(store.view(ship)), HasSubstr(R"("crew" / "captain": "Ahab")"));
    EXPECT_EQ(store.view(made_up(2, 1)).names(), &names) << "also of no bag";
}

// ---- All bags --------------------------------------------------------------------------------------------

TEST(property_store_test, erases_the_bags_that_a_predicate_names) {
    ship_store store;
    for (std::uint64_t i = 0; i != 100; ++i) {
        store.set(made_up(i * 50, 1), hull, i);
    }
    EXPECT_EQ(erase_if(store, [](ship_handle, property_view bag) { return bag.value_or(hull, 0.0F) < 90; }),
              90U);
    EXPECT_EQ(store.size(), 10U);
    EXPECT_EQ(owners(store).front(), made_up(4500, 1));
}

TEST(property_store_test, bags_move_together_when_it_shrinks) {
    constexpr std::uint64_t count = 20'000;
    ship_store store;
    for (std::uint64_t i = 0; i != count; ++i) {
        store.set(made_up(i, 1), title, std::string(500, 'x'));
        store.set(made_up(i, 1), hull, i);
    }
    for (std::uint64_t i = 0; i != count; ++i) {
        if (i % 10 != 0) {
            store.erase(made_up(i, 1));
        } else {
            store.set(made_up(i, 1), title, "x");
        }
    }
    const std::size_t before = store.memory().resident;
    store.shrink_to_fit();
    EXPECT_LT(20 * store.memory().resident, before);
    EXPECT_EQ(store.size(), count / 10);
    for (std::uint64_t i = 0; i != count; i += 10) {
        ASSERT_EQ(store.view(made_up(i, 1)).at<float>(hull), static_cast<float>(i));
        ASSERT_EQ(store.view(made_up(i, 1)).at<std::string_view>(title), "x");
    }
    erase_if(store, [](ship_handle each, property_view) { return each.index() >= 100; });
    store.shrink_to_fit();
    EXPECT_EQ(owners(store).size(), 10U);
    EXPECT_TRUE(store.set(made_up(count, 1), hull, 1)) << "and grows again";
    EXPECT_EQ(owners(store).back(), made_up(count, 1));
    store.clear();
    store.shrink_to_fit();
    EXPECT_TRUE(store.empty());
    EXPECT_THAT(owners(store), ElementsAre());
}

TEST(property_store_test, what_was_cleared_is_gone_and_the_slots_are_free) {
    ship_store store;
    store.set(made_up(5, 9), hull, 1);
    store.clear();
    EXPECT_FALSE(store.contains(made_up(5, 9)));
    EXPECT_TRUE(store.set(made_up(5, 1), hull, 2)) << "even an earlier object's";
    EXPECT_EQ(store.size(), 1U);
}

// ---- The dead --------------------------------------------------------------------------------------------

TEST(property_store_test, attached_it_loses_the_bags_of_the_dead) {
    ship_pool pool({.name = "ships", .capacity = 1000});
    ship_store store;
    std::vector<ship_handle> ships;
    for (int i = 0; i != 100; ++i) {
        ships.push_back(pool.emplace(i));
        store.set(ships.back(), hull, i);
    }
    pool.erase(ships[0]);
    store.attach(pool);
    EXPECT_TRUE(store.attached());
    EXPECT_EQ(store.size(), 99U) << "what is dead already";
    EXPECT_FALSE(store.set(ships[0], hull, 1));
    EXPECT_FALSE(store.try_set(ships[0], hull, 1));
    EXPECT_FALSE(store.assign(ships[0], property_bag()));
    for (int i = 1; i != 50; ++i) {
        pool.erase(ships[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(store.size(), 99U);
    pool.compact();
    EXPECT_EQ(store.size(), 50U);
    EXPECT_EQ(owners(store).front(), ships[50]);
    const auto next = pool.emplace(1);
    EXPECT_TRUE(store.set(next, hull, 1));
    EXPECT_THROW(store.set(made_up(1, 1, pool.id() + 1), hull, 1), std::invalid_argument);
    store.detach();
    pool.erase(next);
    pool.compact();
    EXPECT_TRUE(store.contains(next));
    EXPECT_EQ(store.prune(pool), 1U);
    EXPECT_EQ(store.size(), 50U);
}

TEST(property_store_test, takes_no_notice_of_slots_that_it_does_not_have) {
    ship_pool pool({.name = "ships", .capacity = 10'000});
    ship_store store({.slot_limit = 10});
    store.attach(pool);
    std::vector<ship_handle> ships;
    for (int i = 0; i != 5000; ++i) {
        ships.push_back(pool.emplace(i));
        store.try_set(ships.back(), hull, i);
    }
    EXPECT_LE(store.size(), 10U);
    for (const ship_handle each : ships) {
        pool.erase(each);
    }
    pool.compact();
    EXPECT_TRUE(store.empty());
}

TEST(property_store_test, an_empty_one_can_be_attached_to_another_pool) {
    ship_pool first({.name = "first", .capacity = 10});
    ship_pool second({.name = "second", .capacity = 10});
    ship_store store;
    store.attach(first);
    const auto ship = first.emplace(1);
    store.set(ship, hull, 1);
    EXPECT_THROW(store.attach(second), std::invalid_argument);
    store.erase(ship);
    store.attach(second);
    EXPECT_TRUE(store.set(second.emplace(1), hull, 1));
    EXPECT_THROW(store.set(first.emplace(1), hull, 1), std::invalid_argument);
    store.clear();
    EXPECT_THROW(store.set(first.emplace(1), hull, 1), std::invalid_argument) << "still attached";
}

TEST(property_store_test, without_bags_and_attachment_it_is_of_no_pool) {
    ship_pool first({.name = "first", .capacity = 10});
    ship_pool second({.name = "second", .capacity = 10});
    const auto of_first = first.emplace(1);
    const auto of_second = second.emplace(2);
    ship_store store;
    const auto takes_others = [&] {
        EXPECT_TRUE(store.empty());
        EXPECT_TRUE(store.set(of_second, hull, 2));
        EXPECT_TRUE(store.erase(of_second));
        EXPECT_TRUE(store.try_set(of_second, hull, 3));
        EXPECT_TRUE(store.erase(of_second));
    };
    store.set(of_first, hull, 1);
    EXPECT_THROW(store.set(of_second, hull, 1), std::invalid_argument);
    store.erase(of_first);
    takes_others();
    store.attach(first);
    EXPECT_THROW(store.set(of_second, hull, 1), std::invalid_argument);
    store.detach();
    takes_others();
    {
        ship_pool third({.name = "third", .capacity = 10});
        store.attach(third);
        store.set(third.emplace(3), hull, 3);
    }
    takes_others();
    store.set(of_first, hull, 1);
    store.clear();
    takes_others();
    std::ostringstream file;
    store.set(of_second, hull, 4);
    store.write(file);
    store.clear();
    store.attach(first);
    const std::string bytes = file.str();
    EXPECT_THROW(store.read(std::as_bytes(std::span(bytes))), std::invalid_argument);
    store.detach();
    EXPECT_EQ(store.read(std::as_bytes(std::span(bytes))), 1U);
}

TEST(property_store_test, attached_it_refuses_reserved_handles) {
    ship_pool pool({.name = "ships", .capacity = 10});
    const auto reserved = pool.reserve_handle();
    const std::string why_not =
        "property_store: " + detail::name_of_handle(reserved.index(), reserved.generation()) +
        " is reserved, and can't be a member of what is attached to its pool before "
        "its object is made";
    const auto refused = [](auto action) { return message_of<std::invalid_argument>(action); };
    ship_store store;
    EXPECT_TRUE(store.set(reserved, hull, 1));
    EXPECT_EQ(store.prune(pool), 0U);
    EXPECT_EQ(refused([&] { store.attach(pool); }), why_not);
    EXPECT_FALSE(store.attached());
    std::ostringstream file;
    store.write(file);
    const std::string bytes = file.str();
    store.clear();
    store.attach(pool);
    EXPECT_EQ(refused([&] { store.set(reserved, hull, 1); }), why_not);
    EXPECT_EQ(refused([&] { store.try_set(reserved, hull, 1); }), why_not);
    EXPECT_EQ(refused([&] { store.assign(reserved, {}); }), why_not);
    EXPECT_EQ(refused([&] { store.merge(reserved, {}); }), why_not);
    EXPECT_EQ(refused([&] { store.read(std::as_bytes(std::span(bytes))); }), why_not);
    EXPECT_TRUE(store.empty());
    pool.fulfill(reserved, 1);
    EXPECT_EQ(store.read(std::as_bytes(std::span(bytes))), 1U);
    EXPECT_EQ(store.view(reserved).value_or(hull, 0.0F), 1.0F);
}

TEST(property_store_test, stores_that_are_exchanged_both_stay_attached) {
    ship_pool first({.name = "first", .capacity = 10});
    ship_pool second({.name = "second", .capacity = 10});
    ship_store one;
    ship_store other;
    one.attach(first);
    other.attach(second);
    const auto of_first = first.emplace(1);
    const auto of_second = second.emplace(2);
    one.set(of_first, hull, 1);
    other.set(of_second, hull, 2);
    swap(one, other);
    first.erase(of_first);
    first.compact();
    EXPECT_TRUE(other.empty());
    EXPECT_EQ(one.size(), 1U);
    second.erase(of_second);
    second.compact();
    EXPECT_TRUE(one.empty());
}

TEST(property_store_test, is_not_attached_to_another_pool_than_that_of_its_bags) {
    ship_pool pool({.name = "ships", .capacity = 10});
    ship_store store;
    store.set(made_up(1, 1, pool.id() + 1), hull, 1);
    EXPECT_THROW(store.attach(pool), std::invalid_argument);
    EXPECT_FALSE(store.attached());
    EXPECT_EQ(store.size(), 1U);
}

TEST(property_store_test, store_and_pool_may_end_in_any_order) {
    ship_store store;
    {
        ship_pool pool({.name = "ships", .capacity = 10});
        store.attach(pool);
        store.set(pool.emplace(1), hull, 1);
        {
            ship_store shorter;
            shorter.attach(pool);
            shorter.set(pool.emplace(2), hull, 1);
        }
        pool.clear();
        pool.compact();
        EXPECT_TRUE(store.empty());
        store.set(pool.emplace(1), hull, 1);
    }
    EXPECT_FALSE(store.attached());
}

TEST(property_store_test, keeps_bags_for_objects_of_any_pool) {
    stable_pool<int> stable({.name = "stable", .capacity = 10});
    property_store<int> of_stable;
    of_stable.attach(stable);
    const auto one = stable.emplace(1);
    EXPECT_TRUE(of_stable.set(one, hull, 1));
    stable.erase(one);
    stable.compact();
    EXPECT_TRUE(of_stable.empty());

    using rows = columns<int, float>;
    pool<rows> table({.name = "rows", .capacity = 10});
    property_store<rows> of_rows;
    of_rows.attach(table);
    const auto row = table.emplace(1, 2.0F);
    EXPECT_TRUE(of_rows.set(row, hull, 1));
    table.erase(row);
    table.compact();
    EXPECT_TRUE(of_rows.empty());

    raw_pool<> raw({.name = "raw", .capacity = 10}, {.size = 4, .alignment = 4});
    property_store<void> of_raw;
    of_raw.attach(raw);
    const auto object = raw.emplace();
    EXPECT_TRUE(of_raw.set(object, hull, 1));
    raw.erase(object);
    raw.compact();
    EXPECT_TRUE(of_raw.empty());
}

// Slots are looked at a thousand or so at a time.
TEST(property_store_test, has_no_bag_of_its_own_when_it_was_assigned_another_store) {
    for (const std::uint64_t slot : {5U, 1'000U, 1'500U, 5'000U, 70'000U}) {
        SCOPED_TRACE(slot);
        ship_store store;
        ship_store other;
        const auto mine = made_up(slot, 1);
        const auto its = made_up(3, 1);
        store.set(mine, hull, 10);
        other.set(its, hull, 20);
        store.assign(other);
        EXPECT_FALSE(store.contains(mine));
        EXPECT_THAT(owners(store), ElementsAre(its));
        EXPECT_EQ(store.size(), 1U);
        store.assign(ship_store());
        EXPECT_TRUE(store.empty());
        EXPECT_FALSE(store.contains(its));
    }
}

} // namespace
} // namespace handlepool::test
