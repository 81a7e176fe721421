// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

/// Words of bits, of which the lowest one is the first.
namespace handlepool::detail {

/// `count` bits from `first` on.
constexpr std::uint64_t bits_from(std::size_t first, std::size_t count) noexcept {
    return count == 0 ? 0 : ~std::uint64_t{0} >> (64 - count) << first;
}

/// The first `most` of the bits that are set.
constexpr std::uint64_t lowest_bits(std::uint64_t bits, std::size_t most) noexcept {
    std::uint64_t rest = bits;
    for (std::size_t i = 0; i != most && most < 64; ++i) {
        rest &= rest - 1;
    }
    return most < 64 ? bits & ~rest : bits;
}

/// Calls `visit(index)` for the bits that are set, counted from `start`, as long as it returns true.
template <class Visit>
void for_bits_while(std::uint32_t start, std::uint64_t bits, Visit&& visit) {
    while (bits != 0 && visit(start + static_cast<std::uint32_t>(std::countr_zero(bits)))) {
        bits &= bits - 1;
    }
}
/// Calls `visit(index)` for each bit that is set, counted from `start`.
template <class Visit>
void for_each_bit(std::size_t start, std::uint64_t bits, Visit&& visit) {
    for_bits_while(static_cast<std::uint32_t>(start), bits, [&](std::uint32_t index) {
        visit(index);
        return true;
    });
}

/// Calls `visit(first, last)` for each run of set bits, counted from `start`.
template <class Visit>
void for_each_run(std::size_t start, std::uint64_t bits, Visit visit) {
    for (std::size_t first = start; bits != 0;) {
        const auto gap = static_cast<unsigned>(std::countr_zero(bits));
        const auto length = static_cast<unsigned>(std::countr_one(bits >> gap));
        visit(first + gap, first + gap + length);
        first += gap + length;
        bits = gap + length == 64 ? 0 : bits >> (gap + length);
    }
}

} // namespace handlepool::detail
