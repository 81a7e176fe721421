// SPDX-License-Identifier: MIT
#include <handlepool/detail/followers/frame_position.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>

#include <random>

namespace handlepool::detail {

std::uint64_t new_history() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

std::uint64_t history_after(std::uint64_t history, std::span<const std::byte> delta) noexcept {
    return content_hash_of(delta, history);
}

} // namespace handlepool::detail
