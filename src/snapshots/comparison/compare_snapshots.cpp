// SPDX-License-Identifier: MIT
#include "compared_column.hpp"
#include "compared_container.hpp"
#include "compared_pool.hpp"
#include "difference_list.hpp"

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/snapshots/compare_snapshots.hpp>

#include <algorithm>
#include <string>

namespace handlepool {

namespace {

using detail::block_kind;
using detail::snapshot_block;

std::string name_of(block_kind kind) {
    switch (kind) {
    case block_kind::pool:
        return "a pool";
    case block_kind::container:
        return "a container";
    case block_kind::value:
        return "a value";
    default:
        return "a delta";
    }
}

void compare_values(const snapshot_block& first, const snapshot_block& second, detail::difference_list& to) {
    const auto read = [](const snapshot_block& block) {
        detail::block_reader from(block);
        detail::compared_column value(from, 1);
        from.require_end();
        return value;
    };
    const detail::compared_column one = read(first);
    const detail::compared_column other = read(second);
    const detail::column_comparison both(one, other, to);
    if (both.have_other_bytes(0, 0)) {
        both.compare("", 0, 0, to);
    }
}

void compare_blocks(const snapshot_block& first, const snapshot_block& second, detail::difference_list& to) {
    if (first.kind != second.kind) {
        to.add("", "kind", name_of(first.kind), name_of(second.kind));
    } else if (first.version != second.version) {
        to.compare("", "version of the format", first.version, second.version);
    } else if (!std::ranges::equal(first.payload, second.payload)) {
        switch (first.kind) {
        case block_kind::pool:
            compare_pools(first, second, to);
            break;
        case block_kind::container:
            compare_containers(first, second, to);
            break;
        default:
            compare_values(first, second, to);
            break;
        }
    }
}

} // namespace

std::string to_string(const snapshot_difference& difference) {
    std::string text = difference.part;
    if (!difference.object.empty()) {
        text += ' ' + difference.object;
    }
    return text + ", " + difference.what + ": " + difference.first + " / " + difference.second;
}

snapshot_differences compare_snapshots(std::span<const std::byte> first, std::span<const std::byte> second,
                                       const comparison_options& options) {
    const detail::snapshot_blocks one(first, options.first);
    const detail::snapshot_blocks other(second, options.second);
    snapshot_differences all;
    for (const snapshot_block& block : one.all()) {
        detail::difference_list to(all, block.name, options);
        if (const snapshot_block* const there = other.find(block.name)) {
            compare_blocks(block, *there, to);
        } else {
            to.add("", name_of(block.kind), detail::said_there, detail::said_missing);
        }
    }
    for (const snapshot_block& block : other.all()) {
        if (one.find(block.name) == nullptr) {
            detail::difference_list(all, block.name, options)
                .add("", name_of(block.kind), detail::said_missing, detail::said_there);
        }
    }
    return all;
}

} // namespace handlepool
