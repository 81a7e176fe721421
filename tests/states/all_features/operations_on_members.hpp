// SPDX-License-Identifier: MIT
#pragma once

#include "game.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

/// What is done to containers and hooks.
namespace handlepool::test {

template <class Kind>
void change_set(game<Kind>& in) {
    auto& members = in.truth.members;
    const auto handle = in.any_living();
    if (!handle) {
        return;
    }
    in.tell("set " + in.name(handle));
    if (in.random.one_in(3)) {
        EXPECT_EQ(in.set.erase(in.with_any_user(handle)), members.set.erase(handle) == 1);
    } else {
        const bool admitted = members.admits(members.set, handle);
        EXPECT_EQ(in.set.insert(in.with_any_user(handle)), admitted);
        if (admitted) {
            members.take(members.set, handle);
            members.set.insert(handle);
        }
    }
}

template <class Kind>
void change_map(game<Kind>& in) {
    auto& members = in.truth.members;
    const auto handle = in.any_living();
    if (!handle) {
        return;
    }
    const std::uint64_t value = in.random.below(1000);
    in.tell("map " + in.name(handle) + " " + std::to_string(value));
    const bool admitted = members.admits(members.map, handle);
    if (in.random.one_in(3)) {
        EXPECT_EQ(in.map.erase(in.with_any_user(handle)), members.map.erase(handle) == 1);
    } else if (in.random.one_in(2)) {
        EXPECT_EQ(in.map.try_emplace(in.with_any_user(handle), value).inserted, admitted);
        if (admitted) {
            members.take(members.map, handle);
            members.map[handle] = value;
        }
    } else {
        EXPECT_EQ(in.map.insert_or_assign(in.with_any_user(handle), value).inserted, admitted);
        if (admitted) {
            members.take(members.map, handle);
        }
        if (admitted || members.map.contains(handle)) {
            members.map[handle] = value;
        }
    }
}

template <class Kind>
void change_index(game<Kind>& in) {
    auto& members = in.truth.members;
    const auto handle = in.any_living();
    if (!handle) {
        return;
    }
    const std::uint64_t key = in.random.below(18);
    in.tell("index " + in.name(handle) + " key " + std::to_string(key));
    const auto found = members.index.find(handle);
    switch (in.random.below(3)) {
    case 0:
        EXPECT_EQ(in.index.erase(in.with_any_user(handle)), members.index.erase(handle) == 1);
        break;
    case 1:
        EXPECT_EQ(in.index.rekey(in.with_any_user(handle), key), found != members.index.end());
        if (found != members.index.end() && found->second.key != key) {
            members.give_key(handle, key);
        }
        break;
    default:
        const bool admitted = members.admits(members.index, handle);
        EXPECT_EQ(in.index.insert(in.with_any_user(handle), key), admitted);
        if (admitted) {
            members.give_key(handle, key);
        }
    }
}

/// A node that comes takes the place of one with an earlier handle of its slot.
template <class Kind>
void add_node(game<Kind>& in, typename game<Kind>::handle_type handle) {
    auto& members = in.truth.members;
    if (members.family.contains(handle)) {
        return;
    }
    if (const auto rival = members.rival(members.family, handle)) {
        members.erase_node(*rival);
    }
    members.family[handle] = {};
}

template <class Kind>
void change_family(game<Kind>& in) {
    auto& members = in.truth.members;
    const auto child = in.any_living();
    const auto parent = in.any_living();
    if (!child) {
        return;
    }
    in.tell("family " + in.name(child) + " below " + in.name(parent));
    const auto has_later = [&](auto handle) {
        const auto rival = members.rival(members.family, handle);
        return rival && rival->generation() > handle.generation();
    };
    switch (in.random.below(8)) {
    case 0: {
        const auto found = members.family.find(child);
        const bool had_parent = found != members.family.end() && found->second;
        EXPECT_EQ(in.family.clear_parent(in.with_any_user(child)), had_parent);
        if (had_parent) {
            found->second = {};
        }
        return;
    }
    case 1:
        EXPECT_EQ(in.family.erase(in.with_any_user(child)), members.family.contains(child));
        members.erase_node(child);
        return;
    default:
        if (has_later(child) || has_later(parent)) {
            return;
        }
        const auto below = members.subtree(child);
        const bool is_cycle = child == parent || std::ranges::count(below, parent) != 0;
        EXPECT_EQ(in.family.try_set_parent(in.with_any_user(child), in.with_any_user(parent)), !is_cycle);
        if (!is_cycle) {
            add_node(in, parent);
            add_node(in, child);
            members.family[child] = parent;
        }
    }
}

/// The hierarchy takes nodes out with all that is below them, which it erases from the pool.
template <class Kind>
void erase_subtree(game<Kind>& in) {
    const auto root = in.any_living();
    in.tell("erase_subtree " + in.name(root));
    const std::size_t before = in.truth.pool.living.size();
    in.end_family(root);
    const std::size_t expected = before - in.truth.pool.living.size();
    EXPECT_EQ(in.family.erase_subtree(*in.pool, in.with_any_user(root)), expected);
}

/// Removes the members whose handles are stale.
template <class Kind, class Members>
void prune(game<Kind>& in, Members& members) {
    std::erase_if(members, [&](const auto& each) {
        if constexpr (requires { each.first; }) {
            return in.truth.pool.state(each.first) == handle_state::stale;
        } else {
            return in.truth.pool.state(each) == handle_state::stale;
        }
    });
}
template <class Kind>
void prune_family(game<Kind>& in) {
    auto& members = in.truth.members;
    for (bool found = true; found;) {
        found = false;
        for (const auto& [handle, parent] : std::map(members.family)) {
            if (members.family.contains(handle) && in.truth.pool.state(handle) == handle_state::stale) {
                in.end_family(handle);
                found = true;
            }
        }
    }
}
template <class Kind>
void prune_all(game<Kind>& in) {
    in.tell("prune");
    auto& members = in.truth.members;
    const std::size_t before = members.set.size();
    prune_family(in); // first: it erases objects
    in.family.prune(*in.pool);
    prune(in, members.set);
    prune(in, members.map);
    prune(in, members.index);
    prune(in, members.bags);
    EXPECT_EQ(in.set.prune(*in.pool), before - members.set.size());
    in.map.prune(*in.pool);
    in.index.prune(*in.pool);
    in.bags.prune(*in.pool);
}

/// From all containers.
template <class Kind, class Handle>
void drop_member(game<Kind>& in, Handle handle) {
    auto& members = in.truth.members;
    EXPECT_EQ(in.set.erase(in.with_any_user(handle)), members.set.erase(handle) == 1);
    EXPECT_EQ(in.map.erase(in.with_any_user(handle)), members.map.erase(handle) == 1);
    EXPECT_EQ(in.index.erase(in.with_any_user(handle)), members.index.erase(handle) == 1);
    EXPECT_EQ(in.family.erase(in.with_any_user(handle)), members.family.contains(handle));
    members.erase_node(handle);
    EXPECT_EQ(in.bags.erase(in.with_any_user(handle)), members.bags.erase(handle) == 1);
}

/// A container that is detached can have members that a restore has made reserved ones, which it would be
/// refused for.
template <class Kind>
void drop_reserved(game<Kind>& in) {
    for (const auto handle : in.truth.pool.reserved) {
        drop_member(in, handle);
    }
}

/// What is attached again has missed what happened meanwhile.
template <class Kind>
void detach_or_attach(game<Kind>& in) {
    drop_reserved(in);
    auto& attached = in.truth.members.attached;
    const auto turn = [&](auto& container, bool& is_attached, auto& members) {
        in.tell(is_attached ? "detach" : "attach");
        if (is_attached) {
            container.detach();
        } else {
            container.attach(*in.pool);
            prune(in, members);
        }
        is_attached = !is_attached;
    };
    switch (in.random.below(5)) {
    case 0:
        turn(in.set, attached.set, in.truth.members.set);
        break;
    case 1:
        turn(in.map, attached.map, in.truth.members.map);
        break;
    case 2:
        turn(in.bags, attached.bags, in.truth.members.bags);
        break;
    case 3:
        if (attached.family) {
            in.tell("detach family");
            in.family.detach();
        } else {
            in.tell("attach family");
            in.family.attach(*in.pool);
            prune_family(in);
        }
        attached.family = !attached.family;
        break;
    default:
        if (attached.index) {
            in.tell("detach index");
            in.index.detach();
        } else {
            in.tell("attach index");
            in.attach_index(*in.pool);
            auto& members = in.truth.members;
            prune(in, members.index);
            for (const id_type id : in.truth.pool.store) {
                const auto& object = in.truth.pool.objects.at(id);
                if (!object.ended && members.admits(members.index, object.handle)) {
                    members.give_key(object.handle, members.key_of(id));
                }
            }
        }
        attached.index = !attached.index;
    }
}

/// Containers go to others and back, and stay attached.
template <class Kind>
void move_containers(game<Kind>& in) {
    in.tell("move containers");
    auto set = std::move(in.set);
    EXPECT_TRUE(in.set.empty());
    swap(in.set, set);
    auto map = std::move(in.map);
    in.map = std::move(map);
    auto index = std::move(in.index);
    in.index = std::move(index);
    auto family = std::move(in.family);
    in.family.swap(family);
    auto bags = std::move(in.bags);
    in.bags = std::move(bags);
    decltype(in.set) copy = in.set;
    EXPECT_FALSE(copy.attached());
    copy.clear();
    copy.assign(in.set);
    EXPECT_TRUE(std::ranges::equal(copy, in.set));
}

} // namespace handlepool::test
