// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/handle_container.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/snapshots/handle_renaming.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// Of each container a snapshot has its members, a value for each of them, if the container has any, and how
/// they belong together, if they do.
template <class Container>
concept savable_container = requires {
    { container_contents<Container>::form } -> std::convertible_to<container_form>;
};

template <class T, class Layout>
class container_contents<handle_set<T, Layout>> {
public:
    using container_type = handle_set<T, Layout>;
    using value_type = void;
    static constexpr container_form form = container_form::set;

    static auto& members(container_type& set) noexcept { return set.members_; }
    static auto& link(container_type& set) noexcept { return set.link_; }

    /// An empty one.
    static container_type make(std::uint32_t) noexcept { return {}; }
    static std::uint32_t option(const container_type&) noexcept { return 0; }

    /// How the members belong together, which is looked at, and then written.
    void prepare(const container_type&) noexcept {}
    std::uint64_t bytes() const noexcept { return 0; }
    void write(snapshot_writer&, const container_type&) const noexcept {}

    /// Adds the values of the members, which were read, and all else. Throws invalid_snapshot and
    /// std::bad_alloc. Then the container can be destroyed.
    template <class Values>
    static void read(block_reader&, const saved_container&, Values&, container_type&) noexcept {}

    /// Adds what was read, with the handles that its members have now; those of others stay away. Throws what
    /// the container throws.
    void merge(const container_type& read, const handle_mapper& map, container_type& to) const {
        for (const auto each : read.handles()) {
            if (const auto now = map.find(each)) {
                to.insert(now);
            }
        }
    }
};

template <class T, class V, class Layout>
class container_contents<handle_map<T, V, Layout>> {
public:
    using container_type = handle_map<T, V, Layout>;
    using value_type = V;
    static constexpr container_form form = container_form::map;

    static auto& members(container_type& map) noexcept { return map.members_; }
    static auto& link(container_type& map) noexcept { return map.link_; }
    static const V& value_at(const container_type& map, std::size_t i) noexcept { return map.values_[i]; }
    static element_names value_names() { return element_names::of_values(); }

    static container_type make(std::uint32_t) noexcept { return {}; }
    static std::uint32_t option(const container_type&) noexcept { return 0; }

    void prepare(const container_type&) noexcept {}
    std::uint64_t bytes() const noexcept { return 0; }
    void write(snapshot_writer&, const container_type&) const noexcept {}

    template <class Values>
    static void read(block_reader&, const saved_container& container, Values& values, container_type& map) {
        map.values_.reserve(container.members);
        for (std::size_t i = 0; i != container.members; ++i) {
            map.values_.push_back(values.take(i));
        }
    }

    void merge(container_type& read, const handle_mapper& map, container_type& to) const {
        read.for_each([&](auto each, V& value) {
            if (const auto now = map.find(each)) {
                map_handles(value, map);
                to.try_emplace(now, std::move(value));
            }
        });
    }
};

} // namespace handlepool::detail
