#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// Sorts `entries` by the upper 32 bits of their words, digit by digit, with room for as many in `spare`.
/// Entries with equal ones come out in the order of their positions, which are `first` to `first` + `count`
/// - 1.
template <class Entry>
void radix_sort(Entry* entries, Entry* spare, std::size_t count, std::uint32_t first) noexcept {
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
        spare[entries[i].position() - first] = entries[i];
    }
    Entry* from = spare;
    Entry* to = entries;
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
    if (from != entries) {
        for (std::size_t i = 0; i != count; ++i) {
            entries[i] = from[i];
        }
    }
}

} // namespace handlepool::detail
