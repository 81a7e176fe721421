// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/hashes/object_hash.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>

#include <cstdint>
#include <span>
#include <string_view>

// What counts of a container: its members in their order, in which a loop over them goes, and what it knows
// of each. These functions are found as those of the program are.
namespace handlepool {

template <class T, class Layout>
class property_store;

template <class T, class Layout>
void for_each_hashed(const handle_set<T, Layout>& set, detail::object_hash& hash) {
    hash(set.handles());
}

template <class T, class V, class Layout>
void for_each_hashed(const handle_map<T, V, Layout>& map, detail::object_hash& hash) {
    hash(map.handles());
    hash(map.values());
}

template <class T, class Key, class Layout, class Hash, class Equal>
void for_each_hashed(const handle_index<T, Key, Layout, Hash, Equal>& index, detail::object_hash& hash) {
    hash(index.handles());
    for (const auto each : index.handles()) {
        const Key& key = *index.key_of(each);
        hash(key);
        if (index.find(key) == each) { // in which order objects have got this key
            for (const auto same : index.find_all(key)) {
                hash(same);
            }
        }
    }
    hash(index.refused());
}

template <class T, class Layout>
void for_each_hashed(const hierarchy<T, Layout>& tree, detail::object_hash& hash) {
    hash(tree.handles());
    hash(tree.roots());
    for (const auto each : tree.handles()) {
        hash(tree.children(each));
    }
}

/// Of a store the bags in the order of their slots, and of a bag the properties in that of their hashes.
template <class T, class Layout>
void for_each_hashed(const property_store<T, Layout>& store, detail::object_hash& hash) {
    store.for_each([&hash](const auto handle, const auto& bag) {
        hash(handle);
        hash(std::uint64_t{bag.size()});
        for (const auto property : bag) {
            hash(property.hash());
            hash(property.kind());
            const auto add_if = [&hash](const auto& value) {
                if (value) {
                    hash(*value);
                }
            };
            add_if(property.template get<bool>());
            add_if(property.template get<float>());
            add_if(property.template get<std::string_view>());
            add_if(property.template get<std::span<const float>>());
        }
    });
    hash(std::uint64_t{store.size()});
}

} // namespace handlepool
