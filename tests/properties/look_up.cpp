// SPDX-License-Identifier: MIT

// A look-up, for vectorized.cmake.

#include <handlepool/property_view.hpp>

#include <optional>

std::optional<float> look_up(handlepool::property_view bag, handlepool::property_hash path) {
    return bag.get<float>(path);
}
