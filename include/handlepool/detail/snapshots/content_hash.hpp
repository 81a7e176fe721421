// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace handlepool::detail {

/// XXH3 of 64 bits: faster than memory, and sees each damage of a disk, but no forgery.
HANDLEPOOL_EXPORT std::uint64_t content_hash_of(std::span<const std::byte> bytes,
                                                std::uint64_t seed = 0) noexcept;

/// The same of bytes that come in pieces.
class HANDLEPOOL_EXPORT content_hash {
public:
    /// Throws std::bad_alloc.
    content_hash();
    ~content_hash();
    content_hash(const content_hash&) = delete;
    content_hash& operator=(const content_hash&) = delete;

    /// Forgets all pieces.
    void begin() noexcept;
    void add(std::span<const std::byte> piece) noexcept;
    /// The hash of all pieces so far.
    std::uint64_t value() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace handlepool::detail
