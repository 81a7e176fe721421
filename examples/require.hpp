// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace examples {

/// Throws std::logic_error with this text unless it holds.
template <class... Args>
void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (!holds) {
        throw std::logic_error(fmt::format(format, std::forward<Args>(args)...));
    }
}

} // namespace examples
