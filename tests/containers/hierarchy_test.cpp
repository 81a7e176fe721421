// SPDX-License-Identifier: MIT

// Parents and children.

#include <handlepool/detail/text/message.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using bone_pool = pool<int>;
using bone = bone_pool::handle_type;
using skeleton = hierarchy<int>;

template <class Range>
std::vector<std::uint64_t> numbers_of(Range&& range) {
    std::vector<std::uint64_t> numbers;
    for (const bone each : range) {
        numbers.push_back(each.index());
    }
    return numbers;
}

/// 0 has 1, 2 and 3; 1 has 4 and 5; 3 has 6; 6 has 7.
skeleton small_tree() {
    skeleton tree;
    for (const auto& [child, parent] : {std::pair{1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}, {6, 3}, {7, 6}}) {
        tree.set_parent(made_up(static_cast<std::uint64_t>(child)),
                        made_up(static_cast<std::uint64_t>(parent)));
    }
    return tree;
}

/// What a hierarchy says of a child or a parent that can't be one.
std::string refusal_of(skeleton& tree, bone child, bone parent) {
    try {
        tree.set_parent(child, parent);
    } catch (const std::invalid_argument& refusal) {
        try {
            tree.try_set_parent(child, parent);
        } catch (const std::invalid_argument& same) {
            EXPECT_STREQ(same.what(), refusal.what());
            return refusal.what();
        }
    }
    return "no std::invalid_argument";
}
std::string refusal_of_stale(bone one) {
    return "hierarchy: " + detail::name_of_handle(one.index(), one.generation()) +
           " is stale, and can't become a child or a parent";
}

/// What must hold of a hierarchy in itself.
void expect_sound(const skeleton& tree) {
    std::size_t below = 0;
    const auto expect_in_place = [&](std::span<const bone> siblings, bone parent) {
        for (std::size_t i = 0; i != siblings.size(); ++i) {
            EXPECT_EQ(tree.parent(siblings[i]), parent);
            EXPECT_EQ(tree.place(siblings[i]), i);
        }
        below += siblings.size();
    };
    expect_in_place(tree.roots(), {});
    for (const bone each : tree.handles()) {
        expect_in_place(tree.children(each), each);
    }
    EXPECT_EQ(below, tree.size());
    std::size_t reached = 0;
    for (const bone root : tree.roots()) {
        reached += numbers_of(tree.depth_first(root)).size();
    }
    EXPECT_EQ(reached, tree.size());
}

TEST(hierarchy, relates_children_to_parents) {
    const skeleton tree = small_tree();
    EXPECT_EQ(tree.size(), 8U);
    EXPECT_THAT(numbers_of(tree.roots()), ElementsAre(0));
    EXPECT_THAT(numbers_of(tree.children(made_up(0))), ElementsAre(1, 2, 3));
    EXPECT_THAT(tree.children(made_up(2)), IsEmpty());
    EXPECT_EQ(tree.parent(made_up(7)), made_up(6));
    EXPECT_FALSE(tree.parent(made_up(0)));
    EXPECT_EQ(tree.depth(made_up(0)), 0U);
    EXPECT_EQ(tree.depth(made_up(7)), 3U);
    EXPECT_EQ(tree.root_of(made_up(7)), made_up(0));
    EXPECT_EQ(tree.root_of(made_up(0)), made_up(0));
    EXPECT_TRUE(tree.is_below(made_up(7), made_up(3)));
    EXPECT_FALSE(tree.is_below(made_up(3), made_up(7)));
    EXPECT_FALSE(tree.is_below(made_up(3), made_up(3)));
    expect_sound(tree);
}

TEST(hierarchy, knows_nothing_of_others) {
    const skeleton tree = small_tree();
    const bone stranger = made_up(99);
    EXPECT_FALSE(tree.contains(stranger));
    EXPECT_FALSE(tree.parent(stranger));
    EXPECT_FALSE(tree.root_of(stranger));
    EXPECT_THAT(tree.children(stranger), IsEmpty());
    EXPECT_EQ(tree.place(stranger), std::nullopt);
    EXPECT_EQ(tree.depth(stranger), 0U);
    EXPECT_THAT(numbers_of(tree.depth_first(stranger)), IsEmpty());
    EXPECT_THAT(numbers_of(tree.post_order(stranger)), IsEmpty());
    EXPECT_THAT(tree.breadth_first(stranger), IsEmpty());
    EXPECT_FALSE(tree.contains(made_up(1, 3))) << "a later bone of the slot";
}

TEST(hierarchy, walks) {
    const skeleton tree = small_tree();
    EXPECT_THAT(numbers_of(tree.depth_first(made_up(0))), ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
    EXPECT_THAT(numbers_of(tree.post_order(made_up(0))), ElementsAre(4, 5, 1, 2, 7, 6, 3, 0));
    EXPECT_THAT(numbers_of(tree.breadth_first(made_up(0))), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_THAT(numbers_of(tree.depth_first(made_up(3))), ElementsAre(3, 6, 7)) << "not past its own";
    EXPECT_THAT(numbers_of(tree.post_order(made_up(1))), ElementsAre(4, 5, 1));
    EXPECT_THAT(numbers_of(tree.depth_first(made_up(7))), ElementsAre(7));
    EXPECT_THAT(numbers_of(tree.post_order(made_up(7))), ElementsAre(7));
    const auto walk = tree.depth_first(made_up(0));
    static_assert(std::ranges::forward_range<decltype(walk)>);
    auto first = walk.begin();
    const auto kept = first++;
    EXPECT_EQ(*kept, made_up(0));
    EXPECT_EQ(*first, made_up(1));
    EXPECT_NE(kept, first);
}

TEST(hierarchy, detaches_and_reparents) {
    skeleton tree = small_tree();
    EXPECT_TRUE(tree.clear_parent(made_up(1)));
    EXPECT_FALSE(tree.clear_parent(made_up(1))) << "a root";
    EXPECT_FALSE(tree.clear_parent(made_up(99)));
    EXPECT_THAT(numbers_of(tree.roots()), ElementsAre(0, 1));
    EXPECT_THAT(numbers_of(tree.children(made_up(0))), ElementsAre(3, 2)) << "the last took its place";
    expect_sound(tree);
    tree.set_parent(made_up(3), made_up(5));
    EXPECT_EQ(tree.root_of(made_up(7)), made_up(1));
    expect_sound(tree);
    tree.set_parent(made_up(3), made_up(5));
    EXPECT_THAT(numbers_of(tree.children(made_up(5))), ElementsAre(3)) << "once";
    expect_sound(tree);
}

TEST(hierarchy, refuses_cycles_and_names_both) {
    skeleton tree = small_tree();
    try {
        tree.set_parent(made_up(3), made_up(7));
        FAIL() << "no exception";
    } catch (const hierarchy_cycle& refused) {
        EXPECT_THAT(refused.what(), AllOf(HasSubstr("#3 generation 1"), HasSubstr("#7 generation 1")));
    }
    EXPECT_THROW(tree.set_parent(made_up(3), made_up(3)), hierarchy_cycle);
    EXPECT_THROW(tree.set_parent(made_up(42), made_up(42)), hierarchy_cycle);
    EXPECT_FALSE(tree.try_set_parent(made_up(0), made_up(4)));
    EXPECT_TRUE(tree.try_set_parent(made_up(4), made_up(7)));
    EXPECT_EQ(tree.size(), 8U);
    expect_sound(tree);
}

TEST(hierarchy, refuses_null_foreign_and_stale_handles) {
    skeleton tree = small_tree();
    EXPECT_THROW(tree.set_parent(made_up(1), {}), std::invalid_argument);
    EXPECT_THROW(tree.set_parent({}, made_up(1)), std::invalid_argument);
    EXPECT_THROW(tree.insert(made_up(1, 1, 5)), std::invalid_argument);
    EXPECT_TRUE(tree.insert(made_up(6, 3))) << "a later bone of the slot";
    EXPECT_FALSE(tree.insert(made_up(6, 1)));
    EXPECT_THROW(tree.set_parent(made_up(6, 1), made_up(0)), std::invalid_argument);
    EXPECT_THAT(tree.roots(), UnorderedElementsAre(made_up(0), made_up(6, 3), made_up(7)));
    EXPECT_EQ(tree.size(), 8U);
    expect_sound(tree);
}

TEST(hierarchy, has_no_first_two_nodes_of_two_pools) {
    hierarchy<int> tree;
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] { tree.set_parent(made_up(1, 1, 9), made_up(2, 1, 8)); }),
        "hierarchy: an object of the pool with id 9 can't be a member beside those of the pool with id 8");
    EXPECT_TRUE(tree.empty());
}

TEST(hierarchy, says_why_a_handle_is_no_node_before_it_looks_for_cycles) {
    bone_pool pool({.name = "bones", .capacity = 10});
    bone_pool others({.name = "others", .capacity = 10});
    skeleton tree;
    tree.attach(pool);
    const auto child = pool.emplace(1);
    const auto parent = pool.emplace(2);
    tree.set_parent(child, parent);
    EXPECT_EQ(refusal_of(tree, {}, {}), "hierarchy: the null handle can't be a member");
    const auto other = others.emplace(1);
    EXPECT_EQ(refusal_of(tree, other, other),
              "hierarchy: an object of the pool with id " + std::to_string(others.id()) +
                  " can't be a member beside those of the pool with id " + std::to_string(pool.id()));
    const auto reserved = pool.reserve_handle();
    EXPECT_EQ(refusal_of(tree, reserved, reserved),
              "hierarchy: " + detail::name_of_handle(reserved.index(), reserved.generation()) +
                  " is reserved, and can't be a member of what is attached to its pool before its object is "
                  "made");
    pool.erase(child);
    EXPECT_EQ(refusal_of(tree, parent, child), refusal_of_stale(child)) << "which is below it";
    pool.erase(parent);
    EXPECT_EQ(refusal_of(tree, parent, child), refusal_of_stale(child));
    EXPECT_EQ(refusal_of(tree, parent, parent), refusal_of_stale(parent));
    EXPECT_EQ(refusal_of(tree, child, parent), refusal_of_stale(parent)) << "as it is";
    EXPECT_FALSE(tree.insert(parent));
    EXPECT_EQ(tree.parent(child), parent);
    expect_sound(tree);
}

TEST(hierarchy, a_cycle_makes_no_nodes) {
    skeleton tree;
    EXPECT_THROW(tree.set_parent(made_up(1), made_up(1)), hierarchy_cycle);
    EXPECT_FALSE(tree.try_set_parent(made_up(1), made_up(1)));
    EXPECT_TRUE(tree.empty());
}

TEST(hierarchy, an_object_is_no_child_of_the_one_before_it_in_its_slot) {
    for (const auto& [child, parent] :
         {std::pair{made_up(6, 3), made_up(6, 1)}, std::pair{made_up(6, 1), made_up(6, 3)}}) {
        skeleton tree = small_tree();
        EXPECT_THROW(tree.set_parent(child, parent), std::invalid_argument);
        EXPECT_TRUE(tree.contains(made_up(6, 3)));
        expect_sound(tree);
        skeleton empty;
        EXPECT_THROW(empty.set_parent(child, parent), std::invalid_argument);
        expect_sound(empty);
    }
}

TEST(hierarchy, ignores_user_bits) {
    using layout = handle_layout<20, 20, 8, 16>;
    pool<int, with_layout<layout>> pool({.name = "bones", .capacity = 10});
    const auto parent = pool.emplace(1);
    const auto child = pool.emplace(2);
    hierarchy<int, layout> tree;
    tree.set_parent(child.with_user(3), parent.with_user(4));
    EXPECT_THAT(tree.children(parent), ElementsAre(child));
    EXPECT_EQ(tree.parent(child.with_user(9)), parent);
    EXPECT_FALSE(tree.try_set_parent(parent.with_user(1), child.with_user(2)));
    EXPECT_EQ(std::ranges::distance(tree.depth_first(parent.with_user(7))), 2);
    const auto sibling = pool.emplace(3);
    const auto grandchild = pool.emplace(4);
    tree.set_parent(sibling, parent);
    tree.set_parent(grandchild, child);
    EXPECT_EQ(tree.erase_subtree(pool, child.with_user(5)), 2U);
    EXPECT_THAT(tree.children(parent), ElementsAre(sibling)) << "what is above stays";
    EXPECT_EQ(tree.erase_subtree(pool, parent.with_user(1)), 2U);
}

TEST(hierarchy, an_erased_node_leaves_its_children_as_roots) {
    skeleton tree = small_tree();
    EXPECT_TRUE(tree.erase(made_up(1)));
    EXPECT_FALSE(tree.erase(made_up(1)));
    EXPECT_THAT(numbers_of(tree.roots()), UnorderedElementsAre(0, 4, 5));
    EXPECT_EQ(tree.size(), 7U);
    expect_sound(tree);
    tree.clear();
    EXPECT_TRUE(tree.empty());
    EXPECT_THAT(tree.roots(), IsEmpty());
    EXPECT_TRUE(tree.insert(made_up(1, 1, 9))) << "of another pool";
}

TEST(hierarchy, erases_subtrees) {
    bone_pool pool({.name = "bones", .capacity = 100});
    skeleton tree;
    std::vector<bone> bones;
    for (int i = 0; i != 10; ++i) {
        bones.push_back(pool.emplace(i));
        if (i != 0) {
            tree.set_parent(bones.back(), bones[static_cast<std::size_t>((i - 1) / 2)]);
        }
    }
    pool.erase(bones[8]);
    EXPECT_EQ(tree.erase_subtree(pool, bones[1]), 5U) << "1, 3, 4, 7, 9; 8 is dead already";
    EXPECT_EQ(tree.size(), 4U);
    EXPECT_EQ(pool.size(), 4U);
    EXPECT_EQ(tree.erase_subtree(pool, bones[1]), 0U);
    EXPECT_THAT(tree.children(bones[0]), ElementsAre(bones[2]));
    expect_sound(tree);
}

// ---- Attached

TEST(hierarchy, the_death_of_a_parent_orphans_its_children) {
    bone_pool pool({.name = "bones", .capacity = 100});
    skeleton tree;
    tree.attach(pool);
    const auto top = pool.emplace(0);
    const auto middle = pool.emplace(1);
    const auto low = pool.emplace(2);
    tree.set_parent(middle, top);
    tree.set_parent(low, middle);
    pool.erase(middle);
    EXPECT_EQ(tree.parent(low), middle) << "until the compaction";
    pool.compact();
    EXPECT_FALSE(tree.contains(middle));
    EXPECT_FALSE(tree.parent(low));
    EXPECT_THAT(tree.children(top), IsEmpty());
    EXPECT_TRUE(pool.contains(low));
    expect_sound(tree);
}

TEST(hierarchy, a_parent_whose_handle_was_revoked_ends_with_its_object) {
    for (const orphans option : {orphans::become_roots, orphans::are_erased}) {
        bone_pool pool({.name = "bones", .capacity = 10});
        skeleton tree(option);
        tree.attach(pool);
        const auto top = pool.emplace(0);
        const auto middle = pool.emplace(1);
        const auto low = pool.emplace(2);
        tree.set_parent(middle, top);
        tree.set_parent(low, middle);
        const auto revoked = pool.revoke(middle);
        pool.compact();
        EXPECT_EQ(tree.parent(low), middle);
        EXPECT_FALSE(tree.contains(revoked));
        pool.erase(revoked);
        pool.compact();
        const bool lives = option == orphans::become_roots;
        EXPECT_EQ(pool.contains(low), lives);
        EXPECT_THAT(tree.roots(),
                    testing::ElementsAreArray(lives ? std::vector{top, low} : std::vector{top}));
        EXPECT_EQ(tree.size(), tree.roots().size());
        expect_sound(tree);
    }
}

// The hierarchy has only the handle that it was given, which is stale: the object is out of its reach.
TEST(hierarchy, a_child_whose_handle_was_revoked_outlives_its_parent_but_what_is_below_does_not) {
    bone_pool pool({.name = "bones", .capacity = 10});
    skeleton tree(orphans::are_erased);
    tree.attach(pool);
    const auto top = pool.emplace(0);
    const auto middle = pool.emplace(1);
    const auto low = pool.emplace(2);
    tree.set_parent(middle, top);
    tree.set_parent(low, middle);
    const auto revoked = pool.revoke(middle);
    pool.erase(top);
    pool.compact();
    EXPECT_TRUE(pool.contains(revoked));
    EXPECT_EQ(pool.size(), 1U);
    EXPECT_TRUE(tree.empty());
    expect_sound(tree);
    EXPECT_TRUE(tree.insert(revoked));
    EXPECT_THAT(tree.roots(), ElementsAre(revoked));
}

template <class Pool>
class hierarchy_of : public testing::Test {};
using both_placements = testing::Types<pool<int>, stable_pool<int>>;
TYPED_TEST_SUITE(hierarchy_of, both_placements);

TYPED_TEST(hierarchy_of, the_death_of_a_parent_erases_all_below_at_once) {
    TypeParam pool({.name = "bones", .capacity = 30'000});
    skeleton tree(orphans::are_erased);
    tree.attach(pool);
    std::vector<bone> chain;
    for (int i = 0; i != 20'000; ++i) { // deeper than a stack of calls
        chain.push_back(pool.emplace(i));
        if (i != 0) {
            tree.set_parent(chain.back(), chain[chain.size() - 2]);
        }
    }
    const auto aside = pool.emplace(-1);
    tree.set_parent(aside, chain[5]);
    pool.compact();
    pool.erase(chain[10]);
    pool.compact();
    EXPECT_EQ(tree.size(), 11U);
    EXPECT_EQ(pool.size(), 11U);
    EXPECT_FALSE(pool.contains(chain[11]));
    EXPECT_TRUE(pool.contains(aside));
    EXPECT_EQ(pool.compact().removed, 20'000U - 11U);
    pool.erase(chain[0]);
    pool.erase(chain[7]);
    pool.compact();
    EXPECT_TRUE(tree.empty());
    EXPECT_EQ(pool.size(), 0U);
}

TEST(hierarchy, attached_refuses_nodes_that_were_erased) {
    for (const orphans option : {orphans::become_roots, orphans::are_erased}) {
        bone_pool pool({.name = "bones", .capacity = 10});
        skeleton tree(option);
        tree.attach(pool);
        const auto dead = pool.emplace(1);
        const auto alive = pool.emplace(2);
        const auto other = pool.emplace(3);
        const auto no_node = pool.emplace(4);
        tree.insert(dead);
        tree.set_parent(other, alive);
        pool.erase(dead);
        pool.erase(no_node);
        for (const bone each : {dead, no_node}) {
            EXPECT_EQ(refusal_of(tree, alive, each), refusal_of_stale(each));
            EXPECT_EQ(refusal_of(tree, each, alive), refusal_of_stale(each));
            EXPECT_EQ(refusal_of(tree, other, each), refusal_of_stale(each));
        }
        EXPECT_FALSE(tree.contains(no_node));
        EXPECT_EQ(tree.parent(other), alive) << "still";
        expect_sound(tree);
        pool.compact();
        EXPECT_TRUE(pool.contains(alive)) << "not erased with a parent that was dead already";
        EXPECT_THAT(tree.handles(), UnorderedElementsAre(alive, other));
        expect_sound(tree);
    }
}

TEST(hierarchy, prunes_when_attached_and_on_demand) {
    for (const orphans option : {orphans::become_roots, orphans::are_erased}) {
        bone_pool pool({.name = "bones", .capacity = 1000, .reuse_delay = 0});
        skeleton tree(option);
        std::vector<bone> bones;
        for (int i = 0; i != 500; ++i) {
            bones.push_back(pool.emplace(i));
            if (i % 7 != 0) {
                tree.set_parent(bones.back(), bones[static_cast<std::size_t>(i / 7 * 7)]);
            } else {
                tree.insert(bones.back());
            }
        }
        for (std::size_t i = 0; i < bones.size(); i += 21) {
            pool.erase(bones[i]);
        }
        const std::size_t before = tree.size();
        const std::size_t pruned = tree.prune(pool);
        EXPECT_EQ(tree.size(), before - pruned);
        EXPECT_EQ(pruned, option == orphans::become_roots ? 24U : 24U * 7);
        for (const bone each : tree.handles()) {
            EXPECT_TRUE(pool.contains(each));
        }
        EXPECT_EQ(pool.size(), tree.size());
        expect_sound(tree);
        pool.erase(tree.handles()[3]);
        tree.attach(pool);
        EXPECT_EQ(pool.size(), tree.size());
    }
}

TEST(hierarchy, gives_its_memory_back) {
    skeleton tree;
    for (std::uint64_t i = 1; i != 1000; ++i) {
        tree.set_parent(made_up(i), made_up(0));
    }
    const std::size_t before = tree.memory();
    for (std::uint64_t i = 500; i != 1000; ++i) {
        tree.erase(made_up(i));
    }
    tree.shrink_to_fit();
    EXPECT_LT(tree.memory(), before * 3 / 4);
    for (std::uint64_t i = 1; i != 500; ++i) { // no memory is needed for roots
        EXPECT_TRUE(tree.clear_parent(made_up(i)));
    }
    expect_sound(tree);
    tree.clear();
    tree.shrink_to_fit();
    EXPECT_EQ(tree.memory(), 0U);
}

TEST(hierarchy, does_what_a_map_of_parents_does) {
    for (const orphans option : {orphans::become_roots, orphans::are_erased}) {
        random_source random(31);
        bone_pool pool({.name = "bones", .capacity = 200, .reuse_delay = 0});
        skeleton tree(option);
        tree.attach(pool);
        std::map<bone, bone> parents; // null for roots
        std::vector<bone> all{pool.emplace(0)};
        const auto any = [&] { return all[random.below(all.size())]; };
        const auto is_below = [&](bone node, bone ancestor) {
            for (bone up = parents[node]; up; up = parents[up]) {
                if (up == ancestor) {
                    return true;
                }
            }
            return false;
        };
        for (int step = 0; step != 5000; ++step) {
            const bone one = any();
            const bone other = any();
            switch (random.below(8)) {
            case 0:
            case 1:
                if (const auto made = pool.try_emplace(step)) {
                    all.push_back(made);
                }
                break;
            case 2:
            case 3:
            case 4:
                if (pool.contains(one) && pool.contains(other)) {
                    const bool refused = one == other || (parents.contains(one) && parents.contains(other) &&
                                                          is_below(other, one));
                    ASSERT_EQ(tree.try_set_parent(one, other), !refused);
                    if (!refused) {
                        parents.try_emplace(other);
                        parents[one] = other;
                    }
                }
                break;
            case 5:
                if (tree.clear_parent(one)) {
                    ASSERT_TRUE(parents.at(one));
                    parents[one] = {};
                }
                break;
            case 6:
                pool.erase(one);
                break;
            default:
                if (random.one_in(5)) {
                    const auto is_dead = [&](bone each) { return !pool.contains(each); };
                    // As the option says, of the dead from before.
                    std::set<bone> dead;
                    for (const auto& [node, parent] : parents) {
                        if (is_dead(node)) {
                            dead.insert(node);
                        }
                    }
                    std::set<bone> gone = dead;
                    if (option == orphans::are_erased) {
                        for (const auto& [node, parent] : parents) {
                            if (std::ranges::any_of(dead, [&](bone each) { return is_below(node, each); })) {
                                gone.insert(node);
                            }
                        }
                    }
                    pool.compact();
                    for (auto& [node, parent] : parents) {
                        parent = gone.contains(parent) ? bone() : parent;
                    }
                    for (const bone each : gone) {
                        ASSERT_FALSE(pool.contains(each));
                        parents.erase(each);
                    }
                    std::map<bone, bone> found;
                    for (const bone each : tree.handles()) {
                        found.emplace(each, tree.parent(each));
                    }
                    ASSERT_EQ(found, parents);
                    expect_sound(tree);
                }
                break;
            }
            if (all.size() > 400) {
                all.erase(all.begin(), all.begin() + 200);
            }
        }
    }
}

TEST(hierarchy, that_is_attached_loses_a_subtree_by_who_has_exclusive_access) {
    bone_pool pool({.name = "bones", .capacity = 10});
    skeleton tree;
    tree.attach(pool);
    auto alone = pool.exclusive_access();
    const bone root = alone.emplace(0);
    const bone child = alone.emplace(1);
    const bone leaf = alone.emplace(2);
    tree.set_parent(child, root);
    tree.set_parent(leaf, child);
    EXPECT_EQ(tree.erase_subtree(alone, root), 3U);
    EXPECT_EQ(alone.size(), 0U);
    EXPECT_TRUE(tree.empty());
}

} // namespace
} // namespace handlepool::test
