// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/large_copy.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

namespace handlepool::detail {

namespace {

void copy(std::byte* to, std::span<const std::byte> from) noexcept {
    if (!from.empty()) { // which may have no address
        std::memcpy(to, from.data(), from.size());
    }
}

#if defined(__SSE2__) || defined(_M_X64)

/// Whole lines, to memory that begins with one.
void stream_lines(std::byte* to, std::span<const std::byte> lines) noexcept {
    constexpr std::size_t registers = cache_line / sizeof(__m128i);
    for (std::size_t at = 0; at != lines.size(); at += cache_line) {
        const auto* const read = reinterpret_cast<const __m128i*>(lines.data() + at);
        auto* const written = reinterpret_cast<__m128i*>(to + at);
        for (std::size_t i = 0; i != registers; ++i) {
            _mm_stream_si128(written + i, _mm_loadu_si128(read + i));
        }
    }
}

#endif

/// Has the memory read them all at once: between writes it would read one line after the other.
void fetch(std::span<const std::byte> page) noexcept {
    for (std::size_t at = 0; at < page.size(); at += cache_line) {
        prefetch_to_read(reinterpret_cast<std::uintptr_t>(page.data() + at));
    }
}

} // namespace

void stream(std::byte* to, std::span<const std::byte> from) noexcept {
#if defined(__SSE2__) || defined(_M_X64)
    const std::size_t before = (std::min)(-reinterpret_cast<std::uintptr_t>(to) % cache_line, from.size());
    const std::size_t lines = (from.size() - before) / cache_line * cache_line;
    copy(to, from.first(before));
    stream_lines(to + before, from.subspan(before, lines));
    copy(to + before + lines, from.subspan(before + lines));
#else
    copy(to, from);
#endif
}

void end_stream() noexcept {
#if defined(__SSE2__) || defined(_M_X64)
    _mm_sfence(); // else a later release would not publish what was written
#endif
}

void copy_past_caches(std::byte* to, std::span<const std::byte> from) noexcept {
    constexpr std::size_t page_bytes = 4096;
    while (!from.empty()) {
        const auto page = from.first((std::min)(page_bytes, from.size()));
        fetch(page);
        stream(to, page);
        to += page.size();
        from = from.subspan(page.size());
    }
    end_stream();
}

void large_copy(std::byte* to, std::span<const std::byte> from) noexcept {
    if (from.size() < too_much_for_caches) {
        copy(to, from);
    } else {
        copy_past_caches(to, from);
    }
}

} // namespace handlepool::detail
