// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace handlepool::detail {

/// So many bytes are not kept by the caches anyway: who copies as many, at once or in pieces, writes past
/// them.
inline constexpr std::size_t too_much_for_caches = std::size_t{8} << 20;

/// Copies bytes to memory that doesn't overlap theirs, past the caches where the processor can: else each
/// line that is written would be read before.
HANDLEPOOL_EXPORT void copy_past_caches(std::byte* to, std::span<const std::byte> from) noexcept;

/// Copies bytes to memory that doesn't overlap theirs, in whichever way is faster for so many.
HANDLEPOOL_EXPORT void large_copy(std::byte* to, std::span<const std::byte> from) noexcept;

/// What copy_past_caches() is made of: writes bytes that nobody may read before end_stream().
HANDLEPOOL_EXPORT void stream(std::byte* to, std::span<const std::byte> from) noexcept;
HANDLEPOOL_EXPORT void end_stream() noexcept;

/// The same as copy_past_caches(), and calls `visit(piece)` with each piece before it is copied, one after
/// the other. The memory is still busy with the piece before, so that a short visit takes hardly any time;
/// for pieces of more than a page it would wait.
template <class Visit>
void copy_past_caches(std::byte* to, std::span<const std::byte> from, Visit visit) noexcept {
    constexpr std::size_t piece_bytes = 2048;
    while (!from.empty()) {
        // From the second piece on, each begins where a line does: it is read twice.
        const std::size_t size = piece_bytes - reinterpret_cast<std::uintptr_t>(from.data()) % cache_line;
        const auto piece = from.first(least(size, from.size()));
        visit(piece);
        stream(to, piece);
        to += piece.size();
        from = from.subspan(piece.size());
    }
    end_stream();
}

} // namespace handlepool::detail
