// SPDX-License-Identifier: MIT
#include "widest_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace handlepool::detail {

std::uint32_t read_any_widths(block_reader& from) {
    const auto widths = from.number<std::uint32_t>();
    const std::uint32_t index_bits = widths & 255;
    const std::uint32_t generation_bits = widths >> 8 & 255;
    from.require_that(index_bits >= 1 && index_bits <= 32 && generation_bits >= 2 && generation_bits <= 32, 4,
                      "the handles have " + std::to_string(index_bits) + " bits for the index and " +
                          std::to_string(generation_bits) +
                          " for the generation; 1 to 32 and 2 to 32 are allowed");
    return widths;
}

pool_limits_of_snapshot widest_limits(block_reader from) {
    const std::uint32_t widths = read_any_widths(from);
    const auto placement = from.number<std::uint32_t>();
    from.require_that(placement <= 2, 4,
                      "the placement has number " + std::to_string(placement) + "; known are 0 to 2");
    const std::uint64_t slots = std::uint64_t{1} << (widths & 255);
    const std::uint64_t generations = std::uint64_t{1} << (widths >> 8 & 255);
    return {.widths = widths,
            .placement = placement,
            .id = from.number<std::uint32_t>(),
            .last_id = (std::numeric_limits<std::uint32_t>::max)(),
            .last_generation = static_cast<std::uint32_t>(generations - 3),
            .slot_limit = (std::min<std::uint64_t>)(slots, (std::numeric_limits<std::uint32_t>::max)()),
            .objects = slots,
            .places = std::uint64_t{1} << 32};
}

} // namespace handlepool::detail
