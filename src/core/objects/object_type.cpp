// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/error.hpp>

#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

namespace handlepool::detail {

std::string validate(const raw_type& type, std::string_view pool) {
    constexpr std::size_t most_alignment = std::size_t{1} << 20;
    constexpr std::size_t most_size = std::numeric_limits<std::size_t>::max() / 2;
    if (!std::has_single_bit(type.alignment) || type.alignment > most_alignment) {
        return quoted_pool(pool) + ": alignment of the type is " + std::to_string(type.alignment) +
               ", and must be a power of two up to " + std::to_string(most_alignment);
    }
    if (type.size == 0 || type.size > most_size) {
        return quoted_pool(pool) + ": size of the type is " + std::to_string(type.size) +
               ", and must be from 1 to " + std::to_string(most_size);
    }
    return {};
}

const raw_type& checked_raw_type(const raw_type& type, std::string_view pool) {
    if (const std::string error = validate(type, pool); !error.empty()) {
        throw_exception(std::invalid_argument(error));
    }
    return type;
}

} // namespace handlepool::detail
