#pragma once

#include <cstdint>
#include <limits>

namespace handlepool::stress {

// Adds up counts, and stops at the largest number where a plain sum would begin again at 0. That number is to
// be read as "at least this many"; grouped_sum and plural_sum do so.
constexpr std::uint64_t largest_sum = std::numeric_limits<std::uint64_t>::max();

constexpr void add_count(std::uint64_t& sum, std::uint64_t count) noexcept {
    sum = count > largest_sum - sum ? largest_sum : sum + count;
}

} // namespace handlepool::stress
