// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/saved_containers/saved_members.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/handle_index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Of an index also the order in which objects got equal keys, where these are allowed, and whom it refused.
/// Hashes are made anew: they may be others in another build.
template <class T, class Key, class Layout, class Hash, class Equal>
class container_contents<handle_index<T, Key, Layout, Hash, Equal>> {
public:
    using container_type = handle_index<T, Key, Layout, Hash, Equal>;
    using value_type = Key;
    static constexpr container_form form = container_form::index;

    static auto& members(container_type& index) noexcept { return index.members_; }
    static auto& link(container_type& index) noexcept { return index.link_; }
    static const Key& value_at(const container_type& index, std::size_t i) noexcept {
        return index.keys_[i]->key;
    }
    static element_names value_names() { return element_names::of_keys(); }

    static container_type make(std::uint32_t option) noexcept {
        return container_type(option == 0 ? duplicate_keys::refuse : duplicate_keys::allow);
    }
    static std::uint32_t option(const container_type& index) noexcept {
        return index.duplicates_ == duplicate_keys::refuse ? 0 : 1;
    }
    static std::span<const typename container_type::handle_type>
    refused(const container_type& index) noexcept {
        return index.refused_;
    }

    void prepare(const container_type& index) {
        order_.clear();
        refused_ = index.refused_.size();
        if (option(index) == 0) {
            return;
        }
        order_.reserve(index.size());
        std::vector<bool> seen(index.size());
        for (const auto& each : index.keys_) { // the order of the chains is that of this build's hashes
            if (!seen[*index.members_.find(each->handle)]) {
                for (const auto same : index.find_all(each->key)) {
                    const std::size_t position = *index.members_.find(same);
                    if (!seen[position]) {
                        seen[position] = true;
                        order_.push_back(static_cast<std::uint32_t>(position));
                    }
                }
            }
        }
    }
    std::uint64_t bytes() const noexcept {
        return std::uint64_t{order_.size()} * sizeof(std::uint32_t) +
               std::uint64_t{refused_} * saved_handle_bytes;
    }
    void write(snapshot_writer& to, const container_type& index) const {
        to.numbers(order_);
        write_handles(to, index.refused());
    }

    template <class Values>
    static void read(block_reader& from, const saved_container& container, Values& keys,
                     container_type& index) {
        const bool unique = container.option == 0;
        index.keys_.reserve(container.members);
        index.chains_.reserve(container.members);
        for (std::size_t i = 0; i != container.members; ++i) {
            Key key = keys.take(i);
            from.require_that(Equal()(key, key), container.value_bytes,
                              "key " + std::to_string(i) + " doesn't equal itself");
            const std::size_t hash = Hash()(key);
            from.require_that(!unique || index.first_of(key, hash) == nullptr, container.value_bytes,
                              "key " + std::to_string(i) +
                                  " is that of a member before, and the index has none twice");
            index.keys_.push_back(std::make_unique<entry>(std::move(key), index.handles()[i], hash));
            if (unique) {
                index.chains_.append(*index.keys_.back());
            }
        }
        if (!unique) {
            read_order(from, index);
        }
        from.require_that(from.left() / saved_handle_bytes >= container.refused, 0,
                          std::to_string(container.refused) + " refused objects are expected, and " +
                              std::to_string(from.left()) + " bytes are left");
        index.refused_.reserve(container.refused);
        for (std::size_t i = 0; i != container.refused; ++i) {
            index.refused_.push_back(read_handle<T, Layout>(from, "refused object", i));
        }
    }

    /// A key that another object has is given to no second one, where that is refused.
    void merge(container_type& read, const handle_mapper& map, container_type& to) {
        prepare(read);
        for (std::size_t i = 0; i != read.keys_.size(); ++i) {
            entry& each = *read.keys_[order_.empty() ? i : order_[i]];
            if (const auto now = map.find(each.handle)) {
                map_handles(each.key, map);
                to.insert(now, std::move(each.key));
            }
        }
    }

private:
    using entry = typename container_type::entry;

    static void read_order(block_reader& from, container_type& index) {
        std::vector<std::uint32_t> order;
        from.numbers(index.size(), order);
        std::vector<bool> seen(index.size());
        for (std::size_t i = 0; i != order.size(); ++i) {
            const std::uint32_t position = order[i];
            if (position >= seen.size() || seen[position]) {
                from.refuse((order.size() - i) * sizeof position,
                            "member " + std::to_string(position) + " got its key " +
                                (position >= seen.size() ? "and is none of the " + std::to_string(seen.size())
                                                         : std::string("twice")));
            }
            seen[position] = true;
            index.chains_.append(*index.keys_[position]);
        }
    }

    std::vector<std::uint32_t> order_; // positions
    std::size_t refused_ = 0;
};

} // namespace handlepool::detail
