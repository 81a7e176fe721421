// SPDX-License-Identifier: MIT
#pragma once

#include "kinds.hpp"

#include <handlepool/handle.hpp>
#include <handlepool/recorded_life.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

/// What is true in the game, by code that is slow and plain.
namespace handlepool::test {

using id_type = std::uint64_t;

/// An object that was made, until it is destroyed.
template <class Handle>
struct object_truth {
    Handle handle = {}; ///< null until it is known
    std::uint64_t value = 0;
    std::uint64_t turn = 0;    ///< ascends in the order in which objects are made
    bool ended = false;        ///< and waits for its destruction
    bool is_extracted = false; ///< it goes to a sink before
    bool birth_was_told = false;
    /// Between which frames of the pool it came into the store.
    std::uint64_t taken_in_from = ~std::uint64_t{0};
    std::uint64_t taken_in_until = ~std::uint64_t{0};
    const void* address = nullptr;

    friend bool operator==(const object_truth&, const object_truth&) = default;
};

/// What was marked of an object as edited: a bit for each column, and all of them for a mark of the whole.
using edit_truth = unsigned;
inline constexpr edit_truth edited_as_a_whole = ~0U;

/// How a handle has ended, and in which frame.
struct end_truth {
    life_event event = life_event::none;
    std::uint64_t frame = 0;
};

/// The pool: all that a restore takes back.
template <class Handle>
class pool_truth {
public:
    std::map<id_type, object_truth<Handle>> objects;
    std::map<Handle, id_type> living;
    std::set<Handle> reserved;
    std::vector<id_type> store; ///< in its order, as of the last look
    std::map<Handle, end_truth> ends;
    std::map<std::uint64_t, Handle> last_of_slot;

    handle_state state(Handle handle) const {
        return living.contains(handle)     ? handle_state::alive
               : reserved.contains(handle) ? handle_state::reserved
                                           : handle_state::stale;
    }
    std::size_t waiting() const { return objects.size() - living.size(); }

    void name(id_type id, Handle handle) {
        objects.at(id).handle = handle;
        living[handle] = id;
        last_of_slot[handle.index()] = handle;
    }
    void reserve(Handle handle) {
        reserved.insert(handle);
        last_of_slot[handle.index()] = handle;
    }
    void cancel(Handle handle, std::uint64_t frame) {
        reserved.erase(handle);
        ends[handle] = {life_event::cancelled, frame};
    }
    void end(Handle handle, life_event event, std::uint64_t frame) {
        objects.at(living.at(handle)).ended = true;
        living.erase(handle);
        ends[handle] = {event, frame};
    }
    void revoke(Handle handle, Handle given, std::uint64_t frame) {
        const id_type id = living.at(handle);
        living.erase(handle);
        ends[handle] = {life_event::revoked, frame};
        name(id, given);
    }
    /// What a reset does.
    void forget_all() {
        objects.clear();
        living.clear();
        reserved.clear();
        store.clear();
        ends.clear();
        last_of_slot.clear();
    }
};

/// A property's value, and those of an object by the numbers of their paths.
using property_truth = std::variant<bool, float, std::string, std::vector<float>>;
using bag_truth = std::map<std::uint64_t, property_truth>;

/// The containers, as far as they follow the pool and are told of members. Each has one handle of a slot at
/// the most, the latest.
template <class Handle>
class members_truth {
public:
    struct key_truth {
        std::uint64_t key;
        std::uint64_t turn; ///< those that came first are found first
    };
    struct followers {
        bool set = true;
        bool map = true;
        bool index = true;
        bool family = true;
        bool bags = true;

        bool all() const { return set && map && index && family && bags; }
    };

    std::set<Handle> set;
    std::map<Handle, std::uint64_t> map;
    std::map<Handle, key_truth> index;
    std::map<Handle, Handle> family; ///< parents; null for roots
    std::map<Handle, bag_truth> bags;
    followers attached;

    std::size_t count() const { return set.size() + map.size() + index.size() + family.size() + bags.size(); }

    static std::uint64_t key_of(id_type id) { return id % 17; }

    void give_key(Handle handle, std::uint64_t key) {
        take(index, handle);
        index[handle] = {key, ++turns_};
    }
    std::vector<Handle> with_key(std::uint64_t key) const {
        std::map<std::uint64_t, Handle> by_turn;
        for (const auto& [handle, given] : index) {
            if (given.key == key) {
                by_turn[given.turn] = handle;
            }
        }
        std::vector<Handle> found;
        for (const auto& [turn, handle] : by_turn) {
            found.push_back(handle);
        }
        return found;
    }

    std::vector<Handle> children(Handle parent) const {
        std::vector<Handle> found;
        for (const auto& [child, its_parent] : family) {
            if (its_parent == parent) {
                found.push_back(child);
            }
        }
        return found;
    }
    /// A node with all that is below it.
    std::vector<Handle> subtree(Handle root) const {
        std::vector<Handle> found;
        if (family.contains(root)) {
            found.push_back(root);
        }
        for (std::size_t i = 0; i != found.size(); ++i) {
            const std::vector<Handle> below = children(found[i]);
            found.insert(found.end(), below.begin(), below.end());
        }
        return found;
    }
    /// Its children become roots.
    void erase_node(Handle handle) {
        for (const Handle each : children(handle)) {
            family[each] = {};
        }
        family.erase(handle);
    }

    /// The member of the same slot.
    template <class Members>
    static std::optional<Handle> rival(const Members& members, Handle handle) {
        for (const auto& each : members) {
            if (handle_in(each).index() == handle.index()) {
                return handle_in(each);
            }
        }
        return std::nullopt;
    }
    /// Removes a member of the same slot.
    template <class Members>
    static void take(Members& members, Handle handle) {
        if (const auto found = rival(members, handle)) {
            members.erase(*found);
        }
    }
    /// Whether it can become a member: it is none, and none of its slot is later.
    template <class Members>
    static bool admits(const Members& members, Handle handle) {
        const auto found = rival(members, handle);
        return !found || found->generation() < handle.generation();
    }
    /// The node of the object with this handle, which may have an earlier one.
    template <class Members>
    static std::optional<Handle> until(const Members& members, Handle handle) {
        const auto found = rival(members, handle);
        return found && found->generation() <= handle.generation() ? found : std::nullopt;
    }

private:
    static Handle handle_in(Handle each) { return each; }
    template <class Value>
    static Handle handle_in(const std::pair<const Handle, Value>& each) {
        return each.first;
    }

    std::uint64_t turns_ = 0;
};

} // namespace handlepool::test
