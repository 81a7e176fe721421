// SPDX-License-Identifier: MIT
#include "added_part.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/world_hash.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace handlepool {

// Here, so that a program has one table of its functions.
detail::hashed_part::~hashed_part() = default;

namespace {

constexpr std::size_t positions_of_block = 64;

std::size_t blocks_in(std::span<const std::uint64_t> objects) noexcept {
    return (objects.size() + positions_of_block - 1) / positions_of_block;
}
std::span<const std::uint64_t> block_of(std::span<const std::uint64_t> objects, std::size_t block) noexcept {
    const auto from = objects.subspan(block * positions_of_block);
    return from.first((std::min)(positions_of_block, from.size()));
}

} // namespace

world_hash::world_hash() = default;
world_hash::~world_hash() = default;

std::string world_hash::checked_name(std::string_view name) const {
    detail::require_free_name("world_hash", name, parts_);
    return std::string(name);
}

void world_hash::own(std::unique_ptr<detail::hashed_part> added) {
    parts_.push_back(std::move(added));
}

std::uint64_t world_hash::update() {
    for (const auto& each : parts_) {
        each->update();
    }
    std::uint64_t sum = 0;
    for (const auto& each : parts_) {
        const std::uint64_t name = detail::content_hash_of(std::as_bytes(std::span(each->name())));
        sum = detail::mixed(sum + detail::mixed(name + detail::mixed(each->value())));
    }
    return value_ = sum;
}

std::vector<world_hash::part> world_hash::parts() const {
    std::vector<part> all;
    all.reserve(parts_.size());
    for (const auto& each : parts_) {
        all.push_back({.name = each->name(), .value = each->value()});
    }
    return all;
}

std::span<const std::uint64_t> world_hash::objects_of(std::string_view pool) const {
    const auto found = std::ranges::find_if(
        parts_, [pool](const auto& each) { return each->is_pool() && each->name() == pool; });
    if (found == parts_.end()) {
        detail::throw_exception(
            std::invalid_argument("world_hash: no pool was added as '" + detail::printable(pool) + "'"));
    }
    return (*found)->objects();
}

std::vector<std::uint64_t> world_hash::blocks(std::string_view pool) const {
    const auto objects = objects_of(pool);
    std::vector<std::uint64_t> blocks;
    blocks.reserve(blocks_in(objects));
    for (std::size_t i = 0; i != blocks_in(objects); ++i) {
        const auto block = block_of(objects, i);
        blocks.push_back(std::accumulate(block.begin(), block.end(), std::uint64_t{0}));
    }
    return blocks;
}

std::span<const std::uint64_t> world_hash::objects(std::string_view pool, std::size_t block) const {
    const auto objects = objects_of(pool);
    if (block >= blocks_in(objects)) {
        detail::throw_exception(std::out_of_range("world_hash, '" + detail::printable(pool) +
                                                  "': there is no block " + std::to_string(block) +
                                                  "; there are " + std::to_string(blocks_in(objects))));
    }
    return block_of(objects, block);
}

} // namespace handlepool
