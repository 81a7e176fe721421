// SPDX-License-Identifier: MIT
#include "compared_pool.hpp"

#include "../widest_limits.hpp"
#include "compare_lists.hpp"
#include "compared_column.hpp"

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::detail {

namespace {

constexpr std::uint32_t no_position = 0xffff'ffff;

/// A pool of one of the snapshots.
class compared_pool {
public:
    explicit compared_pool(const snapshot_block& block) {
        block_reader from(block);
        pool_ = read_saved_pool(from, widest_limits(from));
        positions_.resize(pool_.generations.size(), no_position);
        for (std::size_t i = 0; i != pool_.owners.size(); ++i) {
            positions_[pool_.owners[i]] = static_cast<std::uint32_t>(i);
        }
        for (auto left = from.number<std::uint32_t>(); left != 0; --left) {
            columns_.emplace_back(from, pool_.owners.size());
        }
        from.require_end();
    }

    const saved_pool& state() const noexcept { return pool_; }
    const std::vector<compared_column>& columns() const noexcept { return columns_; }

    std::string object_at(std::size_t position) const {
        const std::uint32_t slot = pool_.owners[position];
        return name_of_handle(slot, pool_.generations[slot]);
    }
    /// Where the object is that the other pool has at this position; nothing if there is none.
    std::optional<std::size_t> find(const compared_pool& other, std::size_t position) const {
        const std::uint32_t slot = other.pool_.owners[position];
        if (!lives_in(pool_, slot, other.pool_.generations[slot])) {
            return std::nullopt;
        }
        return positions_[slot];
    }
    const compared_column* column(std::string_view name) const noexcept {
        const auto found = std::ranges::find(columns_, name, &compared_column::name);
        return found != columns_.end() ? &*found : nullptr;
    }

private:
    saved_pool pool_;
    std::vector<std::uint32_t> positions_; // by slots
    std::vector<compared_column> columns_;
};

class pool_comparison {
public:
    pool_comparison(const compared_pool& first, const compared_pool& second, difference_list& to) noexcept
        : first_(first), second_(second), to_(to) {}

    void compare() {
        compare_kinds();
        compare_objects();
        compare_order();
        compare_slots();
    }

private:
    void compare_kinds() {
        const saved_pool& one = first_.state();
        const saved_pool& other = second_.state();
        if (one.widths != other.widths) {
            to_.add("", "bits of handles", text_of_widths(one.widths), text_of_widths(other.widths));
        }
        if (one.placement != other.placement) {
            to_.add("", "placement", std::string(name_of_placement(one.placement)),
                    std::string(name_of_placement(other.placement)));
        }
        to_.compare("", "pool id", one.id, other.id);
    }

    void compare_objects() {
        std::vector<column_comparison> columns;
        for (const compared_column& each : first_.columns()) {
            if (const compared_column* const other = second_.column(each.name())) {
                columns.emplace_back(each, *other, to_);
            } else {
                add_column(each, said_there, said_missing);
            }
        }
        for (const compared_column& each : second_.columns()) {
            if (first_.column(each.name()) == nullptr) {
                add_column(each, said_missing, said_there);
            }
        }
        to_.compare("", "objects", first_.state().owners.size(), second_.state().owners.size());
        for (std::size_t i = 0; i != first_.state().owners.size(); ++i) {
            const auto there = second_.find(first_, i);
            if (!there) {
                same_objects_ = false;
                to_.add(first_.object_at(i), "object", said_there, said_missing);
                continue;
            }
            for (const column_comparison& each : columns) {
                if (each.have_other_bytes(i, *there)) {
                    each.compare(first_.object_at(i), i, *there, to_);
                }
            }
        }
        for (std::size_t i = 0; i != second_.state().owners.size(); ++i) {
            if (!first_.find(second_, i)) {
                same_objects_ = false;
                to_.add(second_.object_at(i), "object", said_missing, said_there);
            }
        }
    }
    void add_column(const compared_column& column, const char* first, const char* second) {
        to_.add("", "column '" + printable(column.name()) + '\'', first, second);
    }

    /// Where the objects differ, the order does, too: that goes without saying.
    void compare_order() {
        const saved_pool& one = first_.state();
        const saved_pool& other = second_.state();
        if (!same_objects_) {
            return;
        }
        const auto [here, there] = std::ranges::mismatch(one.owners, other.owners);
        if (here != one.owners.end()) {
            const auto position = static_cast<std::size_t>(here - one.owners.begin());
            to_.add("", "object at position " + std::to_string(position), first_.object_at(position),
                    second_.object_at(position));
        } else if (one.placement == other.placement) {
            for (std::size_t i = 0; i != one.places.size(); ++i) {
                if (one.places[i] != other.places[i]) {
                    to_.compare(first_.object_at(i), "place", one.places[i], other.places[i]);
                }
            }
        }
    }

    /// What decides on the next handles.
    void compare_slots() {
        const saved_pool& one = first_.state();
        const saved_pool& other = second_.state();
        to_.compare("", "slots in service", one.generations.size(), other.generations.size());
        for (std::size_t i = 0; i != least(one.generations.size(), other.generations.size()); ++i) {
            if (one.generations[i] != other.generations[i] && !lives(one.generations[i]) &&
                !lives(other.generations[i])) {
                to_.compare("", "generation of slot " + std::to_string(i), one.generations[i],
                            other.generations[i]);
            }
        }
        to_.compare("", "generation of fresh slots", one.fresh_generation, other.fresh_generation);
        compare_lists("slots that are reserved", one.reserved, other.reserved, to_);
        compare_lists("slots that wait", one.waiting, other.waiting, to_);
        compare_lists("slots claimed by each thread", one.allocator.claims, other.allocator.claims, to_);
        compare_lists("slots that are claimed", one.allocator.claimed, other.allocator.claimed, to_);
        compare_lists("slots that were given back", one.allocator.returned, other.allocator.returned, to_);
        to_.compare("", "word where a search of slots given back begins", one.allocator.returned_word,
                    other.allocator.returned_word);
        to_.compare("", "retired slots", one.allocator.retired, other.allocator.retired);
        to_.compare("", "slots that were claimed so far", one.allocator.freelist.claimed,
                    other.allocator.freelist.claimed);
        to_.compare("", "turn of compactions with a budget", one.turn, other.turn);
    }

    const compared_pool& first_;
    const compared_pool& second_;
    difference_list& to_;
    bool same_objects_ = true;
};

} // namespace

void compare_pools(const snapshot_block& first, const snapshot_block& second, difference_list& to) {
    const compared_pool one(first);
    const compared_pool other(second);
    pool_comparison(one, other, to).compare();
}

} // namespace handlepool::detail
