// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace handlepool::detail {

inline constexpr std::size_t saved_handle_bytes = sizeof(std::uint64_t);

template <class T, class Layout>
void write_handles(snapshot_writer& to, std::span<const handle<T, Layout>> handles) {
    for (const auto each : handles) {
        to.number(std::uint64_t{each.value()});
    }
}

/// Reads a handle that an object can have had, without user bits. Throws invalid_snapshot.
template <class T, class Layout>
handle<T, Layout> read_handle(block_reader& from, const char* what, std::size_t number) {
    const auto there = from.number<std::uint64_t>();
    const auto value = static_cast<typename Layout::value_type>(there);
    const auto read = handle<T, Layout>::from_value(value);
    if (value != there || !Layout::fits(value) || read != read.without_user() ||
        !Layout::can_be_alive(read.tag())) {
        from.refuse(saved_handle_bytes, std::string(what) + ' ' + std::to_string(number) + ", " +
                                            std::to_string(there) + ", is the handle of no object");
    }
    return read;
}

/// Reads as many members as the container has into the empty set: objects of one pool, each slot once.
/// Throws invalid_snapshot and std::bad_alloc.
template <class T, class Layout>
void read_members(block_reader& from, const saved_container& container, sparse_set<T, Layout>& members) {
    from.require_that(from.left() / saved_handle_bytes >= container.members, 0,
                      std::to_string(container.members) + " members are expected, and " +
                          std::to_string(from.left()) + " bytes are left");
    members.reserve(container.members);
    for (std::size_t i = 0; i != container.members; ++i) {
        const handle<T, Layout> read = read_handle<T, Layout>(from, "member", i);
        const auto refuse = [&](const std::string& problem) {
            from.refuse(saved_handle_bytes,
                        problem_of_member("member", i, read.index(), read.generation(), problem));
        };
        if (read.pool_id() != container.pool_id) {
            refuse("is of the pool with id " + std::to_string(read.pool_id()) + "; expected is " +
                   std::to_string(container.pool_id));
        }
        if (const found_position rival = members.find_slot(read)) {
            refuse("has the slot of member " + std::to_string(*rival));
        }
        members.add(read);
    }
}

/// Returns the problem of a member that will not be alive when all that was read is there; empty if it will.
/// `pool` is the one that was read, or null: then the container's own, which `link` knows.
template <class Link, class T, class Layout>
std::string problem_of_life(const Link& link, const future_objects* pool, handle<T, Layout> member) {
    if (member.pool_id() != *link.pool_id()) {
        return "is of the pool with id " + std::to_string(member.pool_id()) +
               "; here the container is attached to that with id " + std::to_string(*link.pool_id());
    }
    if (pool != nullptr) {
        return pool->include(member.index(), member.generation())
                   ? std::string()
                   : "is not alive in the pool that comes with it";
    }
    return link.is_alive(member) ? std::string()
                                 : "is not alive in the pool to which the container is attached";
}

} // namespace handlepool::detail
