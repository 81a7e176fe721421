// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/saved_containers/saved_members.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/hierarchy.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace handlepool::detail {

/// Of a hierarchy also the parent of each node, and its place among the children of that, or the roots.
template <class T, class Layout>
class container_contents<hierarchy<T, Layout>> {
public:
    using container_type = hierarchy<T, Layout>;
    using value_type = void;
    static constexpr container_form form = container_form::hierarchy;

    static auto& members(container_type& nodes) noexcept { return nodes.members_; }
    static auto& link(container_type& nodes) noexcept { return nodes.link_; }

    static container_type make(std::uint32_t option) noexcept {
        return container_type(option == 0 ? orphans::become_roots : orphans::are_erased);
    }
    static std::uint32_t option(const container_type& nodes) noexcept {
        return nodes.when_parent_ends_ == orphans::become_roots ? 0 : 1;
    }

    void prepare(const container_type& nodes) noexcept { count_ = nodes.size(); }
    std::uint64_t bytes() const noexcept { return std::uint64_t{count_} * 2 * sizeof(std::uint32_t); }
    void write(snapshot_writer& to, const container_type& nodes) const {
        for (const auto& each : nodes.nodes_) {
            to.number(each.parent ? static_cast<std::uint32_t>(*nodes.members_.find(each.parent) + 1) : root);
        }
        for (const auto& each : nodes.nodes_) {
            to.number(static_cast<std::uint32_t>(each.place));
        }
    }

    template <class Values>
    static void read(block_reader& from, const saved_container& container, Values&, container_type& nodes) {
        const std::size_t count = container.members;
        std::vector<std::uint32_t> parents; // 1 more than their positions
        from.numbers(count, parents);
        std::vector<std::uint32_t> children(count + 1); // how many, by such a number
        for (std::size_t i = 0; i != count; ++i) {
            if (parents[i] > count) {
                refuse(from, nodes, i,
                       "has the parent " + std::to_string(parents[i]) + "; allowed are 0 to " +
                           std::to_string(count));
            }
            ++children[parents[i]];
        }
        require_no_cycle(from, nodes, parents);

        nodes.nodes_.resize(count);
        nodes.roots_.reserve(count); // see there
        nodes.roots_.resize(children[root]);
        for (std::size_t i = 0; i != count; ++i) {
            nodes.nodes_[i].children.resize(children[i + 1]);
        }
        std::vector<std::uint32_t> places;
        from.numbers(count, places);
        for (std::size_t i = 0; i != count; ++i) {
            auto& siblings = parents[i] == root ? nodes.roots_ : nodes.nodes_[parents[i] - 1].children;
            if (places[i] >= siblings.size() || siblings[places[i]]) {
                refuse(from, nodes, i,
                       "has place " + std::to_string(places[i]) + " among " +
                           std::to_string(siblings.size()) +
                           (places[i] < siblings.size() ? ", as another one has" : ""));
            }
            siblings[places[i]] = nodes.handles()[i];
            nodes.nodes_[i].place = places[i];
            if (parents[i] != root) {
                nodes.nodes_[i].parent = nodes.handles()[parents[i] - 1];
            }
        }
    }

    /// A node whose parent is not merged becomes a root.
    void merge(const container_type& read, const handle_mapper& map, container_type& to) const {
        for (const auto top : read.roots()) {
            for (const auto each : read.depth_first(top)) {
                const auto now = map.find(each);
                const auto parent = map.find(read.parent(each));
                if (now && parent) {
                    to.set_parent(now, parent);
                } else if (now) {
                    to.insert(now);
                }
            }
        }
    }

private:
    static constexpr std::uint32_t root = 0;

    /// Something about this node, in the list that was read last.
    [[noreturn]] static void refuse(block_reader& from, const container_type& nodes, std::size_t i,
                                    const std::string& problem) {
        const auto handle = nodes.handles()[i];
        from.refuse((nodes.size() - i) * sizeof(std::uint32_t),
                    problem_of_member("node", i, handle.index(), handle.generation(), problem));
    }

    static void require_no_cycle(block_reader& from, const container_type& nodes,
                                 const std::vector<std::uint32_t>& parents) {
        std::vector<std::uint32_t> climbed(parents.size()); // from whom, and 1 more
        for (std::size_t i = 0; i != parents.size(); ++i) {
            const auto from_here = static_cast<std::uint32_t>(i + 1);
            std::size_t up = i + 1;
            while (up != root && climbed[up - 1] == 0) {
                climbed[up - 1] = from_here;
                up = parents[up - 1];
            }
            if (up != root && climbed[up - 1] == from_here) {
                refuse(from, nodes, up - 1, "is below itself");
            }
        }
    }

    std::size_t count_ = 0;
};

} // namespace handlepool::detail
