// SPDX-License-Identifier: MIT
#pragma once

#include "container_states.hpp"

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/property_store.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// How each kind of container gets another value of each of its members than its default.
namespace handlepool::test {

using namespace property_literals;

template <>
struct states_of<handle_set<int>> {
    using container = handle_set<int>;
    static constexpr const char* header = "handle_set.hpp";
    static constexpr const char* name = "handle_set";
    static constexpr bool is_told_of_births = false;

    static container empty() { return {}; }
    static void attach(container& set, auto& pool) { set.attach(pool); }
    static void fill(container& set, fleet&, const std::vector<ship>& with) {
        for (const ship each : with) {
            set.insert(each);
        }
    }
    static bool add(container& set, ship each, int) { return set.insert(each); }
    static void expect_filled(const container& set, const std::vector<ship>& with) {
        EXPECT_EQ(set.size(), with.size());
        for (const ship each : with) {
            EXPECT_TRUE(set.contains(each));
        }
    }
    static std::vector<named_state<container>> members() { return states_of_members<container>({}); }
};

template <>
struct states_of<handle_map<int, std::string>> {
    using container = handle_map<int, std::string>;
    static constexpr const char* header = "handle_map.hpp";
    static constexpr const char* name = "handle_map";
    static constexpr bool is_told_of_births = false;

    static container empty() { return {}; }
    static void attach(container& map, auto& pool) { map.attach(pool); }
    static void fill(container& map, fleet&, const std::vector<ship>& with) {
        for (std::size_t i = 0; i != with.size(); ++i) {
            map.try_emplace(with[i], long_text(static_cast<int>(i)));
        }
    }
    static bool add(container& map, ship each, int number) {
        return map.try_emplace(each, long_text(number)).inserted;
    }
    static void expect_filled(const container& map, const std::vector<ship>& with) {
        EXPECT_EQ(map.size(), with.size());
        EXPECT_EQ(map.values().size(), with.size());
        for (std::size_t i = 0; i != with.size(); ++i) {
            const std::string* const value = map.find(with[i]);
            ASSERT_NE(value, nullptr);
            EXPECT_EQ(*value, long_text(static_cast<int>(i)));
        }
    }
    static std::vector<named_state<container>> members() {
        return states_of_members<container>(
            {{"values_", [](container& map, fleet&) { return !map.values().empty(); }}});
    }
};

template <>
struct states_of<handle_index<int, std::string>> {
    using container = handle_index<int, std::string>;
    static constexpr const char* header = "handle_index.hpp";
    static constexpr const char* name = "handle_index";
    static constexpr bool is_told_of_births = true;

    static container empty() { return container(duplicate_keys::refuse); }
    /// The numbers 3 and 4 share a key.
    static std::string name_of_ship(int number) {
        if (number == fleet::nameless) {
            throw std::runtime_error("a ship without a name");
        }
        return long_text(number == 4 ? 3 : number);
    }
    static void attach(container& index, auto& pool) { index.attach(pool, name_of_ship); }
    static void fill(container& index, fleet& in, const std::vector<ship>& with) {
        container full(duplicate_keys::allow);
        full.attach(with == in.alive ? in.ships : in.others, name_of_ship);
        index = std::move(full);
    }
    static bool add(container& index, ship each, int number) {
        return index.insert(each, name_of_ship(number));
    }
    static void expect_filled(const container& index, const std::vector<ship>& with) {
        EXPECT_EQ(index.size(), with.size() - 1);
        EXPECT_EQ(std::ranges::distance(index.find_all(name_of_ship(3))), 2);
        for (int i = 0; i != fleet::nameless; ++i) {
            const ship each = with[static_cast<std::size_t>(i)];
            const std::string* const key = index.key_of(each);
            ASSERT_NE(key, nullptr);
            EXPECT_EQ(*key, name_of_ship(i));
            EXPECT_NE(std::ranges::find(index.find_all(*key), each), index.find_all(*key).end());
        }
        EXPECT_EQ(std::vector(index.refused().begin(), index.refused().end()),
                  std::vector{with[fleet::nameless]});
    }
    static std::vector<named_state<container>> members() {
        return states_of_members<container>(
            {{"duplicates_",
              [](container& index, fleet& in) {
                  const ship one = in.ships.emplace(200);
                  const ship other = in.ships.emplace(200);
                  in.ships.compact();
                  bool both = true;
                  for (const ship each : {one, other}) {
                      both = (index.contains(each) || add(index, each, 200)) && both;
                      in.ships.erase(each);
                  }
                  in.ships.compact();
                  index.prune(in.ships); // unless it is attached
                  return both;
              },
              true},
             {"keys_",
              [](container& index, fleet&) {
                  return !index.empty() && index.key_of(index.handles().front()) != nullptr;
              }},
             {"chains_", [](container& index, fleet&) { return bool(index.find(name_of_ship(0))); }},
             {"refused_", [](container& index, fleet&) { return !index.refused().empty(); }, true}});
    }
};

template <>
struct states_of<hierarchy<int>> {
    using container = hierarchy<int>;
    static constexpr const char* header = "hierarchy.hpp";
    static constexpr const char* name = "hierarchy";
    static constexpr bool is_told_of_births = false;

    static container empty() { return container(orphans::become_roots); }
    static void attach(container& tree, auto& pool) { tree.attach(pool); }
    static void fill(container& tree, fleet& in, const std::vector<ship>& with) {
        container full(orphans::are_erased);
        full.attach(with == in.alive ? in.ships : in.others);
        for (std::size_t i = 1; i != with.size(); ++i) {
            full.set_parent(with[i], with[(i - 1) / 2]);
        }
        full.clear_parent(with[5]);
        tree = std::move(full);
    }
    static bool add(container& tree, ship each, int) { return tree.insert(each); }
    static void expect_filled(const container& tree, const std::vector<ship>& with) {
        EXPECT_EQ(tree.size(), with.size());
        EXPECT_THAT(tree.roots(), testing::UnorderedElementsAre(with[0], with[5]));
        for (std::size_t i = 0; i != tree.roots().size(); ++i) {
            EXPECT_EQ(tree.place(tree.roots()[i]), i);
        }
        EXPECT_EQ(tree.root_of(with[4]), with[0]);
        EXPECT_EQ(tree.root_of(with[5]), with[5]);
        for (std::size_t i = 1; i != 5; ++i) {
            EXPECT_EQ(tree.parent(with[i]), with[(i - 1) / 2]);
        }
        EXPECT_EQ(std::ranges::distance(tree.depth_first(with[0])), 5);
    }
    static std::vector<named_state<container>> members() {
        return states_of_members<container>(
            {{"when_parent_ends_",
              [](container& tree, fleet& in) {
                  const ship parent = in.ships.emplace(200);
                  const ship child = in.ships.emplace(201);
                  tree.set_parent(child, parent);
                  in.ships.erase(parent);
                  in.ships.compact();
                  tree.prune(in.ships); // unless it is attached
                  const bool lives = !in.ships.erase(child);
                  in.ships.compact();
                  tree.prune(in.ships);
                  return lives;
              },
              true},
             {"nodes_",
              [](container& tree, fleet&) {
                  return std::ranges::any_of(tree.handles(),
                                             [&](ship each) { return !tree.children(each).empty(); });
              }},
             {"roots_", [](container& tree, fleet&) { return !tree.roots().empty(); }}});
    }
};

template <>
struct states_of<property_store<int>> {
    using container = property_store<int>;
    static constexpr const char* header = "property_store.hpp";
    static constexpr const char* name = "property_store";
    static constexpr bool is_told_of_births = false;
    static constexpr property_path path = "text"_key;

    static container empty() { return container({.slot_limit = 1U << 12, .bytes = 1U << 20}); }
    static void attach(container& store, auto& pool) { store.attach(pool); }
    static void fill(container& store, fleet& in, const std::vector<ship>& with) {
        container full({.slot_limit = 1U << 13, .bytes = 1U << 21});
        full.attach(with == in.alive ? in.ships : in.others);
        full.set_names(in.names);
        for (std::size_t i = 0; i != with.size(); ++i) {
            full.set(with[i], path, long_text(static_cast<int>(i)));
        }
        store = std::move(full);
    }
    static bool add(container& store, ship each, int number) {
        return !store.contains(each) && store.set(each, path, long_text(number));
    }
    static void expect_filled(const container& store, const std::vector<ship>& with) {
        EXPECT_EQ(store.size(), with.size());
        for (std::size_t i = 0; i != with.size(); ++i) {
            EXPECT_EQ(store.view(with[i]).value_or(path, std::string_view()), long_text(static_cast<int>(i)));
        }
    }
    static std::vector<named_state<container>> members() {
        return {
            {"bags_", has_members<container>},
            {"bags_.table_",
             [](container& store, fleet&) {
                 return store.memory().reserved >= 2 * empty().memory().reserved;
             },
             true},
            {"bags_.names_", [](container& store, fleet& in) { return store.names() == &in.names; }, true},
            {"bags_.slots_end_",
             [](container& store, fleet&) {
                 std::size_t visited = 0;
                 store.for_each([&](ship, property_view) { ++visited; });
                 return visited != 0;
             }},
            {"bags_.pool_id_", refuses_others<container>},
            {"link_", is_attached<container>},
            {"link_.state_", asks_the_pool<container>}};
    }
};

} // namespace handlepool::test
