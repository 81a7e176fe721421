// SPDX-License-Identifier: MIT

// From the keys of objects to their handles.

#include <handlepool/columns.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct player {
    std::string name;
};
using player_pool = pool<player>;
using player_handle = player_pool::handle_type;
using name_index = handle_index<player, std::string>;

const auto name_of_player = [](const player& one) { return one.name; };

std::set<player_handle> all_of(const name_index& index, const std::string& key) {
    std::set<player_handle> found;
    for (const player_handle each : index.find_all(key)) {
        found.insert(each);
    }
    return found;
}

TEST(handle_index, finds_by_hand_made_keys) {
    name_index index;
    EXPECT_FALSE(index.find("ann"));
    EXPECT_TRUE(index.insert(made_up<player_handle>(1, 1), "ann"));
    EXPECT_FALSE(index.insert(made_up<player_handle>(1, 1), "beth")) << "it has a key";
    EXPECT_FALSE(index.insert(made_up<player_handle>(2, 1), "ann")) << "the key is taken";
    EXPECT_TRUE(index.insert(made_up<player_handle>(2, 1), "beth"));
    EXPECT_EQ(index.find("ann"), made_up<player_handle>(1, 1));
    EXPECT_EQ(*index.key_of(made_up<player_handle>(2, 1)), "beth");
    EXPECT_EQ(index.key_of(made_up<player_handle>(3, 1)), nullptr);
    EXPECT_EQ(index.size(), 2U);
    EXPECT_THAT(index.handles(),
                UnorderedElementsAre(made_up<player_handle>(1, 1), made_up<player_handle>(2, 1)));
    EXPECT_TRUE(index.erase(made_up<player_handle>(1, 1)));
    EXPECT_FALSE(index.erase(made_up<player_handle>(1, 1)));
    EXPECT_FALSE(index.find("ann"));
    EXPECT_FALSE(index.contains(made_up<player_handle>(1, 1)));
    EXPECT_EQ(index.find("beth"), made_up<player_handle>(2, 1));
}

TEST(handle_index, rekeys) {
    name_index index;
    index.insert(made_up<player_handle>(1, 1), "ann");
    index.insert(made_up<player_handle>(2, 1), "beth");
    EXPECT_TRUE(index.rekey(made_up<player_handle>(1, 1), "carol"));
    EXPECT_FALSE(index.find("ann"));
    EXPECT_EQ(index.find("carol"), made_up<player_handle>(1, 1));
    EXPECT_EQ(*index.key_of(made_up<player_handle>(1, 1)), "carol");
    EXPECT_FALSE(index.rekey(made_up<player_handle>(1, 1), "beth")) << "taken";
    EXPECT_TRUE(index.rekey(made_up<player_handle>(1, 1), "carol")) << "its own";
    EXPECT_FALSE(index.rekey(made_up<player_handle>(3, 1), "dora")) << "not in the index";
    EXPECT_EQ(index.size(), 2U);
}

TEST(handle_index, allows_duplicates_when_told_to) {
    name_index index(duplicate_keys::allow);
    for (std::uint64_t i = 0; i != 5; ++i) {
        EXPECT_TRUE(index.insert(made_up<player_handle>(i, 1), i == 4 ? "beth" : "ann"));
    }
    EXPECT_EQ(all_of(index, "ann").size(), 4U);
    EXPECT_TRUE(index.rekey(made_up<player_handle>(2, 1), "beth"));
    EXPECT_EQ(all_of(index, "beth"), (std::set{made_up<player_handle>(2, 1), made_up<player_handle>(4, 1)}));
    EXPECT_TRUE(index.erase(made_up<player_handle>(0, 1)));
    EXPECT_EQ(all_of(index, "ann"), (std::set{made_up<player_handle>(1, 1), made_up<player_handle>(3, 1)}));
    EXPECT_TRUE(index.find("ann"));
    EXPECT_THAT(all_of(index, "carol"), IsEmpty());
}

std::vector<player_handle> in_order(const name_index& index, const std::string& key) {
    const auto found = index.find_all(key);
    return std::vector(found.begin(), found.end());
}

TEST(handle_index, finds_objects_with_one_key_in_the_order_in_which_they_got_it) {
    name_index index(duplicate_keys::allow);
    std::vector<player_handle> anns;
    for (std::uint64_t i = 0; i != 100; ++i) { // so many that the table grows a few times
        index.insert(made_up<player_handle>(i, 1), i % 3 == 0 ? "ann" : std::to_string(i));
        if (i % 3 == 0) {
            anns.push_back(made_up<player_handle>(i, 1));
        }
        ASSERT_EQ(in_order(index, "ann"), anns);
    }
    const auto move = [&](std::size_t from) {
        const player_handle each = anns[from];
        anns.erase(anns.begin() + static_cast<std::ptrdiff_t>(from));
        return each;
    };
    index.erase(move(0));
    index.erase(move(5));
    index.erase(move(anns.size() - 1));
    EXPECT_EQ(in_order(index, "ann"), anns);
    EXPECT_EQ(index.find("ann"), anns.front());
    const player_handle other = move(3);
    EXPECT_TRUE(index.rekey(other, "beth"));
    EXPECT_TRUE(index.rekey(other, "ann"));
    anns.push_back(other);
    EXPECT_EQ(in_order(index, "ann"), anns) << "it got the key last";
    EXPECT_EQ(in_order(name_index(index), "ann"), anns) << "of a copy, too";
}

TEST(handle_index, a_later_object_of_the_slot_takes_its_place) {
    name_index index;
    index.insert(made_up<player_handle>(1, 1), "ann");
    EXPECT_TRUE(index.insert(made_up<player_handle>(1, 3), "ann")) << "the one before is stale";
    EXPECT_EQ(index.find("ann"), made_up<player_handle>(1, 3));
    EXPECT_FALSE(index.insert(made_up<player_handle>(1, 1), "old"));
    EXPECT_EQ(index.size(), 1U);
    EXPECT_THROW(index.insert({}, "null"), std::invalid_argument);
    EXPECT_THROW(index.insert(made_up<player_handle>(2, 1, 9), "foreign"), std::invalid_argument);
    EXPECT_EQ(index.size(), 1U);
}

struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

TEST(handle_index, looks_up_by_what_compares_with_keys) {
    handle_index<player, std::string, default_layout, text_hash, std::equal_to<>> index;
    index.insert(made_up<player_handle>(1, 1), "ann");
    EXPECT_EQ(index.find(std::string_view("ann")), made_up<player_handle>(1, 1));
    EXPECT_EQ(index.find("ann"), made_up<player_handle>(1, 1));
    EXPECT_FALSE(index.find_all(std::string_view("ann")).empty());
}

TEST(handle_index, attached_follows_births_and_deaths) {
    player_pool pool({.name = "players", .capacity = 10, .reuse_delay = 0});
    pool.emplace("early");
    pool.compact();
    const auto newborn = pool.emplace("newborn");
    name_index index;
    index.attach(pool, name_of_player);
    EXPECT_TRUE(index.find("early"));
    EXPECT_FALSE(index.find("newborn")) << "with the compaction";
    pool.compact();
    EXPECT_EQ(index.find("newborn"), newborn);
    pool.erase(newborn);
    EXPECT_EQ(index.find("newborn"), newborn) << "until the compaction";
    const auto successor = pool.emplace("newborn");
    pool.compact();
    EXPECT_EQ(index.find("newborn"), successor) << "a key is free as its object is destroyed";
    EXPECT_THAT(index.refused(), IsEmpty());
    pool.find(successor)->name = "changed";
    pool.erase(successor);
    pool.compact();
    EXPECT_FALSE(index.find("newborn")) << "the index knows the key that it was given";
    EXPECT_EQ(index.size(), 1U);
    index.detach();
    pool.emplace("late");
    pool.compact();
    EXPECT_FALSE(index.find("late"));
    pool.clear();
    pool.compact();
    EXPECT_EQ(index.prune(pool), 1U);
    EXPECT_TRUE(index.empty());
}

TEST(handle_index, lists_whom_it_refuses) {
    player_pool pool({.name = "players", .capacity = 10});
    const auto first = pool.emplace("ann");
    const auto second = pool.emplace("ann");
    pool.compact();
    name_index index;
    index.attach(pool, name_of_player);
    EXPECT_EQ(index.size(), 1U);
    EXPECT_THAT(index.refused(), ElementsAre(index.find("ann") == first ? second : first));
    index.clear_refused();
    const auto third = pool.emplace("ann");
    pool.compact();
    EXPECT_THAT(index.refused(), ElementsAre(third));
    EXPECT_TRUE(index.insert(third, "ann the third"));
}

TEST(handle_index, a_key_that_was_given_before_the_birth_stays) {
    for (const duplicate_keys duplicates : {duplicate_keys::refuse, duplicate_keys::allow}) {
        player_pool pool({.name = "players", .capacity = 10});
        name_index index(duplicates);
        index.attach(pool, name_of_player);
        const auto queen = pool.emplace("ann");
        const auto second = pool.emplace("beth");
        const auto taken = pool.emplace("queen");
        EXPECT_TRUE(index.insert(queen, "queen"));
        EXPECT_TRUE(index.insert(second, "beth")) << "the one that it would have got";
        pool.compact();
        EXPECT_EQ(*index.key_of(queen), "queen");
        EXPECT_EQ(*index.key_of(second), "beth");
        EXPECT_FALSE(index.find("ann"));
        const bool refuses = duplicates == duplicate_keys::refuse;
        EXPECT_THAT(index.handles(),
                    testing::UnorderedElementsAreArray(refuses ? std::vector{queen, second}
                                                               : std::vector{queen, second, taken}));
        EXPECT_THAT(index.refused(),
                    testing::ElementsAreArray(std::vector<player_handle>(refuses ? 1 : 0, taken)));
    }
}

std::string shouted_name_of(const player& object) {
    return name_of_player(object) + "!";
}

// Of a pointer to a function, compilers say when it shadows a member function.
TEST(handle_index, gets_its_keys_from_a_function) {
    player_pool pool({.name = "players", .capacity = 10});
    name_index index;
    index.attach(pool, shouted_name_of);
    const auto ann = pool.emplace("ann");
    pool.compact();
    EXPECT_EQ(index.find("ann!"), ann);
}

TEST(handle_index, of_rows_and_of_raw_objects) {
    pool<columns<int, char>> rows({.name = "rows", .capacity = 10});
    handle_index<columns<int, char>, int> by_number;
    by_number.attach(rows, [](auto one) {
        auto [number, letter] = one;
        return number;
    });
    raw_pool<> raw({.name = "raw", .capacity = 10}, {.size = sizeof(int), .alignment = alignof(int)});
    handle_index<void, int> by_value;
    by_value.attach(raw, [](void* object) { return *static_cast<int*>(object); });
    const auto row = rows.emplace(5, 'x');
    const auto object = raw.emplace();
    *static_cast<int*>(raw.find(object)) = 9;
    rows.compact();
    raw.compact();
    EXPECT_EQ(by_number.find(5), row);
    EXPECT_EQ(by_value.find(9), object);
}

/// Throws when it has been called so often.
struct throwing_hash {
    static inline int calls_left = 0;
    std::size_t operator()(int key) const {
        if (calls_left-- == 0) {
            throw std::runtime_error("hash");
        }
        return static_cast<std::size_t>(key);
    }
};

TEST(handle_index, keeps_the_old_key_whenever_hashing_throws) {
    const auto one = made_up<player_handle>(1);
    bool done = false;
    for (int calls = 0; !done; ++calls) {
        handle_index<player, int, default_layout, throwing_hash> index;
        throwing_hash::calls_left = 1000;
        index.insert(one, 10);
        throwing_hash::calls_left = calls;
        try {
            done = index.rekey(one, 11);
        } catch (const std::runtime_error&) {
        }
        throwing_hash::calls_left = 1000;
        EXPECT_EQ(index.find(10) == one, !done);
        EXPECT_EQ(index.find(11) == one, done);
        EXPECT_EQ(*index.key_of(one), done ? 11 : 10);
        index.erase(one);
        EXPECT_FALSE(index.find(10));
        EXPECT_FALSE(index.find(11));
    }
}

TEST(handle_index, refuses_keys_that_would_never_be_found) {
    const auto one = made_up<player_handle>(1);
    const double none = std::numeric_limits<double>::quiet_NaN();
    handle_index<player, double> index;
    EXPECT_THROW(index.insert(one, none), std::invalid_argument);
    index.insert(one, 1.5);
    EXPECT_THROW(index.rekey(one, none), std::invalid_argument);
    EXPECT_EQ(index.find(1.5), one);
}

TEST(handle_index, does_what_a_std_multimap_does) {
    random_source random(11);
    player_pool pool({.name = "players", .capacity = 300, .reuse_delay = 0});
    name_index index(duplicate_keys::allow);
    index.attach(pool, name_of_player);
    std::map<player_handle, std::string> oracle;
    std::vector<player_handle> newborn;
    std::vector<player_handle> all;
    for (int step = 0; step != 10'000; ++step) {
        const std::string name = "player " + std::to_string(random.below(40));
        if (const auto made = pool.try_emplace(name)) {
            newborn.push_back(made);
            all.push_back(made);
        }
        const auto any = all[random.below(all.size())];
        switch (random.below(4)) {
        case 0:
            pool.erase(any);
            break;
        case 1:
            if (oracle.contains(any)) {
                EXPECT_TRUE(index.rekey(any, name));
                oracle[any] = name;
            }
            break;
        case 2:
            EXPECT_EQ(index.erase(any), oracle.erase(any) == 1);
            break;
        default:
            if (random.one_in(10)) {
                pool.compact();
                for (const player_handle each : newborn) {
                    if (pool.contains(each)) {
                        oracle.emplace(each, pool.find(each)->name);
                    }
                }
                newborn.clear();
                std::erase_if(oracle, [&](const auto& each) { return !pool.contains(each.first); });
                ASSERT_EQ(index.size(), oracle.size());
            }
            break;
        }
        std::set<player_handle> expected;
        for (const auto& [handle, key] : oracle) {
            if (key == name) {
                expected.insert(handle);
            }
        }
        ASSERT_EQ(all_of(index, name), expected);
    }
}

TEST(handle_index, takes_its_refusals_along) {
    pool<int> ships({.name = "ships", .capacity = 10});
    pool<int> ports({.name = "ports", .capacity = 10});
    using number_index = handle_index<int, int>;
    const auto itself = [](int object) { return object; };
    number_index of_ships;
    number_index of_ports(duplicate_keys::allow);
    of_ships.attach(ships, itself);
    of_ports.attach(ports, itself);
    ships.emplace(1);
    const auto twin = ships.emplace(1);
    ships.compact();
    const auto port = ports.emplace(1);
    const auto same_port = ports.emplace(1);
    ports.compact();
    EXPECT_THAT(of_ships.refused(), ElementsAre(twin));
    EXPECT_THAT(of_ports.refused(), IsEmpty());

    number_index moved = std::move(of_ships);
    EXPECT_THAT(moved.refused(), ElementsAre(twin));
    EXPECT_THAT(of_ships.refused(), IsEmpty());
    EXPECT_FALSE(of_ships.attached());
    swap(moved, of_ports);
    EXPECT_THAT(of_ports.refused(), ElementsAre(twin));
    EXPECT_THAT(moved.refused(), IsEmpty());

    const auto triplet = ships.emplace(1);
    ships.compact();
    EXPECT_THAT(of_ports.refused(), ElementsAre(twin, triplet)) << "it is that of the ships now";
    EXPECT_THAT(moved.refused(), IsEmpty());
    const auto with_key = moved.find_all(1);
    EXPECT_THAT(std::vector(with_key.begin(), with_key.end()), UnorderedElementsAre(port, same_port))
        << "duplicates are allowed still";
    EXPECT_TRUE(of_ships.insert(port, 1)) << "one that was moved away is empty, of any pool";

    of_ships = std::move(of_ports);
    EXPECT_THAT(of_ships.refused(), ElementsAre(twin, triplet));
    EXPECT_FALSE(of_ports.attached());
    EXPECT_THAT(of_ports.refused(), IsEmpty());
    of_ships.clear_refused();
    const auto fourth = ships.emplace(1);
    ships.compact();
    EXPECT_THAT(of_ships.refused(), ElementsAre(fourth));
}

TEST(handle_index, refuses_nobody_whom_an_earlier_hook_has_erased) {
    player_pool pool({.name = "players", .capacity = 10});
    const scoped_hook hook =
        pool.on_birth([&pool](player_pool::handle_type born, const auto&) { pool.erase(born); });
    name_index index;
    index.attach(pool, name_of_player);
    pool.emplace("ann");
    pool.compact();
    EXPECT_TRUE(index.empty());
    EXPECT_THAT(index.refused(), IsEmpty());
}

} // namespace
} // namespace handlepool::test
