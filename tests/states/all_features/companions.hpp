// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/property_store.hpp>

#include <cstddef>
#include <cstdint>

/// The containers that are keyed by the handles of the game's pool.
namespace handlepool::test {

template <class Kind>
class companions {
public:
    using pool_type = typename Kind::pool_type;
    using handle_type = typename pool_type::handle_type;
    using element_type = typename handle_type::element_type;
    using layout = typename handle_type::layout;
    using store_type = property_store<element_type, layout>;

    companions() { bags.set_names(names); }

    void attach_index(pool_type& pool) {
        index.attach(pool,
                     [](auto&& object) { return members_truth<handle_type>::key_of(Kind::read(object).id); });
    }
    void attach_all(pool_type& pool) {
        set.attach(pool);
        map.attach(pool);
        attach_index(pool);
        family.attach(pool);
        bags.attach(pool);
    }
    template <class To>
    void add_members_to(To& to) {
        to.add("set", set);
        to.add("map", map);
        to.add("index", index);
        to.add("family", family);
        to.add("bags", bags, names_in_file::included);
    }
    std::size_t count_members() const {
        return set.size() + map.size() + index.size() + family.size() + bags.size();
    }
    /// The path of a property, which the table of names knows from here on.
    property_path path_of(std::uint64_t number) { return names.add({"creature", std::to_string(number)}); }

    handle_set<element_type, layout> set;
    handle_map<element_type, std::uint64_t, layout> map;
    handle_index<element_type, std::uint64_t, layout> index{duplicate_keys::allow};
    hierarchy<element_type, layout> family{orphans::are_erased};
    key_table names;
    store_type bags{{.slot_limit = 60'000, .bytes = std::size_t{1} << 24}};
};

} // namespace handlepool::test
