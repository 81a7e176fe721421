// SPDX-License-Identifier: MIT
#include <handlepool/detail/snapshots/content_hash.hpp>

// All of it is in this file: programs link no library for it, and no other version of it can come between.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace handlepool::detail {

struct content_hash::state {
    XXH3_state_t hash{};
};

content_hash::content_hash() : state_(new state) {
    begin();
}

content_hash::~content_hash() = default;

void content_hash::begin() noexcept {
    XXH3_64bits_reset(&state_->hash);
}

void content_hash::add(std::span<const std::byte> piece) noexcept {
    XXH3_64bits_update(&state_->hash, piece.data(), piece.size());
}

std::uint64_t content_hash::value() const noexcept {
    return XXH3_64bits_digest(&state_->hash);
}

std::uint64_t content_hash_of(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

} // namespace handlepool::detail
