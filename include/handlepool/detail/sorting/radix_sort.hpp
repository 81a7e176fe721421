// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// Sorts `entries` by the upper 32 bits of their words, digit by digit, into `sorted`; both are written to.
/// Entries in which these are equal stay in their order.
template <class Entry>
void radix_sort(Entry* entries, Entry* sorted, std::size_t count) noexcept {
    constexpr unsigned digit_bits = 11;
    constexpr unsigned digits = 3;
    constexpr std::size_t values = std::size_t{1} << digit_bits;
    const auto digit_of = [](const Entry& entry, unsigned digit) {
        return entry.word >> (32 + digit * digit_bits) & (values - 1);
    };

    std::uint32_t places[digits][values] = {};
    for (std::size_t i = 0; i != count; ++i) {
        for (unsigned digit = 0; digit != digits; ++digit) {
            ++places[digit][digit_of(entries[i], digit)];
        }
    }
    Entry* from = entries;
    Entry* to = sorted;
    for (unsigned digit = 0; digit != digits; ++digit) {
        if (places[digit][digit_of(from[0], digit)] == count) {
            continue; // all have the same
        }
        std::uint32_t place = 0;
        for (std::uint32_t& each : places[digit]) {
            place += std::exchange(each, place);
        }
        for (std::size_t i = 0; i != count; ++i) {
            to[places[digit][digit_of(from[i], digit)]++] = from[i];
        }
        std::swap(from, to);
    }
    if (from != sorted) {
        for (std::size_t i = 0; i != count; ++i) {
            sorted[i] = from[i];
        }
    }
}

} // namespace handlepool::detail
