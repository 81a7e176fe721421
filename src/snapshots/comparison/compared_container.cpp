// SPDX-License-Identifier: MIT
#include "compared_container.hpp"

#include "../widest_limits.hpp"
#include "compare_lists.hpp"
#include "compared_column.hpp"

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/saved_containers/saved_container.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace handlepool::detail {

namespace {

/// A container of one of the snapshots.
class compared_container {
public:
    explicit compared_container(const snapshot_block& block) {
        block_reader begin(block);
        read_any_widths(begin);
        block_reader from(block);
        container_ = read_any_form(from);
        if (container_.form == container_form::store) {
            store_ = from.bytes(from.left());
            return;
        }
        container_ = read_behind_form(from, container_);
        handles_ = read_handles(from, container_.members);
        if (container_.form == container_form::map || container_.form == container_form::index) {
            values_.emplace(from, handles_.size());
        }
        if (container_.form == container_form::index) {
            from.numbers(container_.option == 0 ? 0 : container_.members, order_);
            for (const std::uint32_t each : order_) {
                require_member(from, each);
            }
            refused_ = read_handles(from, container_.refused);
        }
        if (container_.form == container_form::hierarchy) {
            from.numbers(container_.members, parents_);
            for (const std::uint32_t each : parents_) {
                require_member(from, each == 0 ? 0 : std::uint64_t{each} - 1);
            }
            from.numbers(container_.members, places_);
        }
        from.require_end();
        for (std::size_t i = 0; i != handles_.size(); ++i) {
            numbers_.emplace(handles_[i], i);
        }
    }

    const saved_container& state() const noexcept { return container_; }
    std::span<const std::byte> store() const noexcept { return store_; }
    const std::vector<std::uint64_t>& handles() const noexcept { return handles_; }
    const std::vector<std::uint64_t>& refused() const noexcept { return refused_; }
    const std::vector<std::uint32_t>& places() const noexcept { return places_; }
    const compared_column* values() const noexcept { return values_ ? &*values_ : nullptr; }

    std::optional<std::size_t> find(std::uint64_t handle) const {
        const auto found = numbers_.find(handle);
        return found != numbers_.end() ? std::optional(found->second) : std::nullopt;
    }
    std::string name_of(std::uint64_t handle) const {
        const std::uint32_t index_bits = container_.widths & 255;
        const std::uint32_t generation_bits = container_.widths >> 8 & 255;
        return name_of_handle(
            handle & ((std::uint64_t{1} << index_bits) - 1),
            static_cast<std::uint32_t>(handle >> index_bits & ((std::uint64_t{1} << generation_bits) - 1)));
    }
    std::string name_of_parent(std::size_t member) const {
        return parents_[member] == 0 ? "none" : name_of(handles_[parents_[member] - 1]);
    }
    /// The members, in the order in which they got equal keys.
    std::vector<std::uint64_t> by_order() const {
        std::vector<std::uint64_t> handles;
        for (const std::uint32_t each : order_) {
            handles.push_back(handles_[each]);
        }
        return handles;
    }

private:
    static std::vector<std::uint64_t> read_handles(block_reader& from, std::uint64_t count) {
        const auto bytes = from.bytes(count * sizeof(std::uint64_t)); // no overflow: it is of 32 bits
        std::vector<std::uint64_t> handles(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i != handles.size(); ++i) {
            handles[i] = from_little_endian<std::uint64_t>(bytes.data() + i * sizeof(std::uint64_t));
        }
        return handles;
    }
    void require_member(const block_reader& from, std::uint64_t number) const {
        from.require_that(number < handles_.size(), 0,
                          "member " + std::to_string(number) + " is named, and there are " +
                              std::to_string(handles_.size()));
    }

    saved_container container_;
    std::span<const std::byte> store_;
    std::vector<std::uint64_t> handles_;
    std::optional<compared_column> values_;
    std::vector<std::uint32_t> order_;   // of an index with equal keys: numbers of members
    std::vector<std::uint64_t> refused_; // of an index
    std::vector<std::uint32_t> parents_; // of a hierarchy: 1 more than the parent's number, or 0
    std::vector<std::uint32_t> places_;  // among its siblings
    std::unordered_map<std::uint64_t, std::size_t> numbers_; // by handles
};

class container_comparison {
public:
    container_comparison(const compared_container& first, const compared_container& second,
                         difference_list& to) noexcept
        : first_(first), second_(second), to_(to) {}

    void compare() {
        const saved_container& one = first_.state();
        const saved_container& other = second_.state();
        if (one.form != other.form) {
            to_.add("", "container", std::string(name_of_form(one.form)),
                    std::string(name_of_form(other.form)));
            return;
        }
        if (one.widths != other.widths) {
            to_.add("", "bits of handles", text_of_widths(one.widths), text_of_widths(other.widths));
            return;
        }
        if (one.form == container_form::store) {
            compare_stores();
            return;
        }
        to_.compare("", "option", one.option, other.option);
        to_.compare("", "pool id", one.pool_id, other.pool_id);
        compare_members();
        const auto name = [this](std::uint64_t handle) { return first_.name_of(handle); };
        if (same_members_) {
            compare_lists("order of the members", first_.handles(), second_.handles(), to_, name);
            compare_lists("order of equal keys", first_.by_order(), second_.by_order(), to_, name);
        }
        compare_lists("refused objects", first_.refused(), second_.refused(), to_, name);
    }

private:
    void compare_stores() {
        const auto one = first_.store();
        const auto other = second_.store();
        if (!std::ranges::equal(one, other)) {
            const auto [here, there] = std::ranges::mismatch(one, other);
            const auto text = [](std::span<const std::byte> bytes, auto at) {
                const auto rest = bytes.subspan(static_cast<std::size_t>(at - bytes.begin()));
                return rest.empty() ? std::string("none")
                                    : text_of_bytes(rest.first(least<std::size_t>(rest.size(), 4)));
            };
            to_.add("", "properties, from byte " + std::to_string(here - one.begin()), text(one, here),
                    text(other, there));
        }
    }

    void compare_members() {
        std::optional<column_comparison> values;
        if (first_.values() != nullptr) {
            values.emplace(*first_.values(), *second_.values(), to_);
        }
        to_.compare("", "members", first_.handles().size(), second_.handles().size());
        for (std::size_t i = 0; i != first_.handles().size(); ++i) {
            const std::uint64_t handle = first_.handles()[i];
            const auto there = second_.find(handle);
            if (!there) {
                same_members_ = false;
                to_.add(first_.name_of(handle), "member", said_there, said_missing);
                continue;
            }
            if (values && values->have_other_bytes(i, *there)) {
                values->compare(first_.name_of(handle), i, *there, to_);
            }
            if (first_.state().form == container_form::hierarchy) {
                compare_nodes(first_.name_of(handle), i, *there);
            }
        }
        for (const std::uint64_t handle : second_.handles()) {
            if (!first_.find(handle)) {
                same_members_ = false;
                to_.add(second_.name_of(handle), "member", said_missing, said_there);
            }
        }
    }
    void compare_nodes(const std::string& member, std::size_t first, std::size_t second) {
        const std::string one = first_.name_of_parent(first);
        const std::string other = second_.name_of_parent(second);
        if (one != other) {
            to_.add(member, "parent", one, other);
        }
        to_.compare(member, "place among its siblings", first_.places()[first], second_.places()[second]);
    }

    const compared_container& first_;
    const compared_container& second_;
    difference_list& to_;
    bool same_members_ = true;
};

} // namespace

void compare_containers(const snapshot_block& first, const snapshot_block& second, difference_list& to) {
    const compared_container one(first);
    const compared_container other(second);
    container_comparison(one, other, to).compare();
}

} // namespace handlepool::detail
