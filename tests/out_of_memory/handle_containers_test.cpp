// SPDX-License-Identifier: MIT

// Containers of handles that need more memory than there is.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>
#include <tests/support/made_up.hpp>
#include <tests/support/tabulate.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using object_pool = pool<int>;
using object_handle = object_pool::handle_type;

/// Calls `change(container)`, of a container from `make()`, while each of its allocations fails, one after
/// the other: when it throws, `expect_unchanged(container)` is called. Returns how many allocations there
/// are.
template <class Make, class Change, class Unchanged>
std::size_t expect_all_or_nothing(Make make, Change change, Unchanged expect_unchanged) {
    return with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
        auto container = make();
        if (when.hits([&] { change(container); })) {
            expect_unchanged(container);
            change(container);
        }
    });
}

TEST(containers_without_memory, set_inserts_or_does_not) {
    EXPECT_GE(expect_all_or_nothing(
                  [] {
                      handle_set<int> set;
                      set.insert(made_up(1));
                      return set;
                  },
                  [](handle_set<int>& set) { set.insert(made_up(100'000)); },
                  [](const handle_set<int>& set) {
                      EXPECT_EQ(set.size(), 1U);
                      EXPECT_TRUE(set.contains(made_up(1)));
                      EXPECT_FALSE(set.contains(made_up(100'000)));
                  }),
              2U);
}

TEST(containers_without_memory, set_collects_all_or_nothing_of_what_tasks_find) {
    EXPECT_GE(expect_all_or_nothing([] { return handle_set<int>(); },
                                    [](handle_set<int>& set) {
                                        set.collect(3, [](std::size_t i, auto add) { add(made_up(i)); });
                                    },
                                    [](const handle_set<int>& set) { EXPECT_LT(set.size(), 3U); }),
              4U);
}

TEST(containers_without_memory, set_is_attached_or_not) {
    object_pool pool({.name = "objects", .capacity = 10});
    const auto object = pool.emplace(1);
    EXPECT_GE(expect_all_or_nothing(
                  [&] {
                      handle_set<int> set;
                      set.insert(object);
                      return set;
                  },
                  [&](handle_set<int>& set) { set.attach(pool); },
                  [&](const handle_set<int>& set) {
                      EXPECT_FALSE(set.attached());
                      EXPECT_TRUE(set.contains(object));
                  }),
              2U);
}

TEST(containers_without_memory, map_inserts_or_does_not) {
    using texts = handle_map<int, std::string>;
    const std::string text(100, 'x');
    EXPECT_GE(expect_all_or_nothing(
                  [&] {
                      texts map;
                      map.try_emplace(made_up(1), text);
                      return map;
                  },
                  [&](texts& map) { map.try_emplace(made_up(100'000), text); },
                  [&](const texts& map) {
                      EXPECT_EQ(map.size(), 1U);
                      EXPECT_EQ(map.values().size(), 1U);
                      EXPECT_EQ(map.at(made_up(1)), text);
                  }),
              3U);
}

TEST(containers_without_memory, map_replaces_or_keeps_what_is_stale) {
    using texts = handle_map<int, std::string>;
    const std::string text(100, 'x');
    expect_all_or_nothing(
        [&] {
            texts map;
            map.try_emplace(made_up(1), "stale");
            return map;
        },
        [&](texts& map) { map.try_emplace(made_up(1, 3), text); },
        [&](const texts& map) {
            EXPECT_EQ(map.at(made_up(1)), "stale");
            EXPECT_EQ(map.size(), 1U);
        });
}

TEST(containers_without_memory, index_takes_a_key_or_does_not) {
    using index_type = handle_index<int, std::string>;
    const std::string before(50, 'a');
    const std::string after(50, 'b');
    const auto make = [&] {
        index_type index;
        index.insert(made_up(1), before);
        return index;
    };
    const auto unchanged = [&](const index_type& index) {
        EXPECT_EQ(index.size(), 1U);
        EXPECT_EQ(index.find(before), made_up(1));
        EXPECT_FALSE(index.find(after));
    };
    EXPECT_GE(expect_all_or_nothing(
                  make, [&](index_type& index) { index.insert(made_up(100'000), after); }, unchanged),
              4U);
    EXPECT_GE(expect_all_or_nothing(
                  make, [&](index_type& index) { index.rekey(made_up(1), after); }, unchanged),
              2U);
}

TEST(containers_without_memory, index_refuses_births_it_has_no_memory_for) {
    with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
        object_pool pool({.name = "objects", .capacity = 10});
        handle_index<int, int> index;
        index.attach(pool, [](int value) { return value; });
        const auto object = pool.emplace(5);
        when.begin();
        pool.compact();
        when.end();
        EXPECT_EQ(index.contains(object), !when.came());
        EXPECT_EQ(index.refused().size(), when.came() ? 1U : 0U);
    });
}

TEST(containers_without_memory, index_gets_its_keys_memory_by_doubling) {
    handle_index<int, int> index;
    constexpr int keys = 2000;
    for (int i = 0; i != keys / 2; ++i) {
        index.insert(made_up(static_cast<std::uint64_t>(i)), i);
    }
    // One for each key, a page and some larger arrays.
    memory_shortage when(shortage::from_one_allocation_on, keys / 2 + 20);
    when.begin();
    for (int i = keys / 2; i != keys; ++i) {
        index.insert(made_up(static_cast<std::uint64_t>(i)), i);
    }
    when.end();
    EXPECT_FALSE(when.came());
    EXPECT_EQ(index.size(), static_cast<std::size_t>(keys));
}

TEST(containers_without_memory, clear_needs_none) {
    handle_index<int, std::string> index;
    handle_map<int, std::string> map;
    index.insert(made_up(1), std::string(100, 'x'));
    map.try_emplace(made_up(1), std::string(100, 'x'));
    expect_no_allocation([&] {
        index.clear();
        map.clear();
    });
    EXPECT_TRUE(index.empty() && map.empty());
}

// One that is attached already, to the same pool or another one, with objects that get keys.
/// A hash whose copies need memory, as one with a large seed behind a std::function does.
struct hash_on_the_heap {
    std::size_t operator()(int key) const { return static_cast<std::size_t>(key + seed.front()); }
    std::vector<int> seed = std::vector<int>(100, 7);
};
struct equal_on_the_heap {
    bool operator()(int a, int b) const { return a + seed.front() == b + seed.front(); }
    std::vector<int> seed = std::vector<int>(100, 7);
};

TEST(containers_without_memory, index_moves_is_cleared_and_ends_whatever_its_functions_are) {
    using index = handle_index<int, int, default_layout, hash_on_the_heap, equal_on_the_heap>;
    std::optional<index> one(std::in_place);
    for (std::uint64_t i = 0; i != 100; ++i) {
        one->insert(made_up(i), static_cast<int>(i));
    }
    std::size_t moved = 0;
    expect_no_allocation([&] {
        index other(std::move(*one));
        one->swap(other);
        other = std::move(*one);
        moved = other.size();
        other.clear();
        one.reset();
        const index last(std::move(other));
    });
    EXPECT_EQ(moved, 100U);
}

TEST(containers_without_memory, index_is_attached_again_or_as_it_was) {
    for (const bool to_another : {false, true}) {
        EXPECT_GE(with_each_allocation_failing(shortage::of_one_allocation,
                                               [&](memory_shortage& when) {
                                                   object_pool pool({.name = "objects", .capacity = 10});
                                                   object_pool other({.name = "others", .capacity = 10});
                                                   const auto objects =
                                                       tabulate(4, [&](int i) { return pool.emplace(i); });
                                                   pool.compact();
                                                   handle_index<int, int> index;
                                                   index.attach(pool, [](int value) { return value; });
                                                   if (to_another) {
                                                       index.clear();
                                                   }
                                                   const bool attached = !when.hits([&] {
                                                       index.attach(to_another ? other : pool,
                                                                    [](int value) { return 10 + value; });
                                                   });
                                                   EXPECT_TRUE(index.attached());
                                                   // Whichever pool it is attached to: what ends there
                                                   // leaves, and what is born there comes.
                                                   const bool in_other = attached && to_another;
                                                   object_pool& now = in_other ? other : pool;
                                                   const int key = attached ? 15 : 5;
                                                   const auto born = now.emplace(5);
                                                   pool.erase(objects[1]);
                                                   pool.compact();
                                                   other.compact();
                                                   EXPECT_EQ(index.find(key), born);
                                                   EXPECT_FALSE(index.contains(objects[1]));
                                                   EXPECT_EQ(index.size(), to_another ? 1U : 4U);
                                                   EXPECT_TRUE(index.refused().empty());
                                                   now.clear();
                                                   now.compact();
                                                   EXPECT_TRUE(index.empty());
                                               }),
                  3U);
    }
}

TEST(containers_without_memory, hierarchy_relates_or_does_not) {
    const auto make = [] {
        hierarchy<int> tree;
        tree.set_parent(made_up(1), made_up(0));
        return tree;
    };
    const auto unchanged = [](const hierarchy<int>& tree) {
        EXPECT_EQ(tree.parent(made_up(1)), made_up(0));
        EXPECT_FALSE(tree.parent(made_up(100'000)));
        EXPECT_EQ(tree.children(made_up(0)).size(), 1U);
        EXPECT_EQ(tree.children(made_up(1)).size(), 0U);
    };
    EXPECT_GE(
        expect_all_or_nothing(
            make, [](hierarchy<int>& tree) { tree.set_parent(made_up(100'000), made_up(1)); }, unchanged),
        3U);
    EXPECT_GE(expect_all_or_nothing(
                  make, [](hierarchy<int>& tree) { tree.insert(made_up(100'000)); }, unchanged),
              2U);
}

TEST(containers_without_memory, hierarchy_gives_a_child_another_parent_or_leaves_it_where_it_is) {
    const auto make = [] {
        hierarchy<int> tree;
        tree.set_parent(made_up(1), made_up(0));
        tree.set_parent(made_up(2), made_up(0));
        tree.insert(made_up(3));
        return tree;
    };
    const auto unchanged = [](hierarchy<int>& tree) {
        EXPECT_EQ(tree.parent(made_up(1)), made_up(0));
        EXPECT_EQ(tree.place(made_up(1)), 0U);
        EXPECT_EQ(tree.breadth_first(made_up(0)), (std::vector{made_up(0), made_up(1), made_up(2)}));
        EXPECT_TRUE(tree.children(made_up(3)).empty());
        EXPECT_EQ(std::vector(tree.roots().begin(), tree.roots().end()),
                  (std::vector{made_up(0), made_up(3)}));
    };
    for (const std::uint64_t child : {1U, 3U}) { // of a parent, and a root
        const std::uint64_t parent = child == 1 ? 3 : 1;
        EXPECT_EQ(expect_all_or_nothing(
                      make, [&](hierarchy<int>& tree) { tree.set_parent(made_up(child), made_up(parent)); },
                      unchanged),
                  1U);
    }
}

TEST(containers_without_memory, hierarchy_that_could_not_insert_knows_whose_children_are_whose) {
    EXPECT_GE(expect_all_or_nothing(
                  [] {
                      hierarchy<int> tree;
                      tree.set_parent(made_up(1), made_up(0));
                      tree.set_parent(made_up(3), made_up(2));
                      return tree;
                  },
                  [](hierarchy<int>& tree) { tree.insert(made_up(100'000)); },
                  [](hierarchy<int> tree) {
                      EXPECT_TRUE(tree.erase(made_up(0)));
                      EXPECT_EQ(tree.parent(made_up(3)), made_up(2));
                      EXPECT_EQ(std::vector(tree.roots().begin(), tree.roots().end()),
                                (std::vector{made_up(2), made_up(1)}));
                      EXPECT_EQ(tree.place(made_up(2)), 0U);
                      EXPECT_EQ(tree.place(made_up(1)), 1U);
                  }),
              2U);
}

TEST(containers_without_memory, hierarchy_orphans_without_memory) {
    object_pool pool({.name = "objects", .capacity = 2000});
    const auto parent = pool.emplace(0);
    hierarchy<int> tree;
    tree.attach(pool);
    for (int i = 0; i != 1000; ++i) {
        tree.set_parent(pool.emplace(i), parent);
    }
    hierarchy<int> copy = tree;
    pool.erase(parent);
    memory_shortage when(shortage::from_one_allocation_on, 0);
    when.begin();
    pool.compact();
    copy.erase(parent);
    when.end();
    EXPECT_EQ(tree.roots().size(), 1000U);
    EXPECT_EQ(copy.roots().size(), 1000U);
    copy.shrink_to_fit();
}

TEST(containers_without_memory, hierarchy_detaches_without_memory_after_it_has_shrunk) {
    hierarchy<int> tree;
    constexpr std::uint64_t children = 1000;
    for (std::uint64_t i = 1; i != children + 1; ++i) {
        tree.set_parent(made_up(i), made_up(0));
    }
    hierarchy<int> copy = tree;
    tree.shrink_to_fit();
    expect_no_allocation([&] {
        for (std::uint64_t i = 1; i != children + 1; ++i) {
            tree.clear_parent(made_up(i));
            copy.clear_parent(made_up(i));
        }
    });
    for (const hierarchy<int>* each : {&tree, &copy}) {
        EXPECT_EQ(each->roots().size(), children + 1);
        EXPECT_TRUE(each->children(made_up(0)).empty());
        EXPECT_EQ(each->place(made_up(children)), children) << "the last of the roots";
    }
}

TEST(containers_without_memory, hierarchy_orphans_without_memory_after_it_has_shrunk) {
    hierarchy<int> tree;
    std::vector<object_handle> children;
    for (std::uint64_t i = 1; i != 1001; ++i) {
        children.push_back(made_up(i));
        tree.set_parent(children.back(), made_up(0));
    }
    tree.shrink_to_fit();
    expect_no_allocation([&] { tree.erase(made_up(0)); });
    EXPECT_EQ(std::vector(tree.roots().begin(), tree.roots().end()), children);
}

TEST(containers_without_memory, hierarchy_that_was_assigned_orphans_without_memory) {
    hierarchy<int> from;
    std::vector<object_handle> children;
    for (std::uint64_t i = 1; i != 1001; ++i) {
        children.push_back(made_up(i));
        from.set_parent(children.back(), made_up(0));
    }
    hierarchy<int> tree;
    tree.assign(from);
    expect_no_allocation([&] { tree.erase(made_up(0)); });
    EXPECT_EQ(std::vector(tree.roots().begin(), tree.roots().end()), children);
}

} // namespace
} // namespace handlepool::test
