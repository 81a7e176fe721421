// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/agreement.hpp>
#include <handlepool/detail/base/config.hpp>

#include <string_view>

namespace handlepool::detail {

/// Ends the program with "handlepool: pool 'NAME': MESSAGE"; see failure.hpp.
[[noreturn]] HANDLEPOOL_EXPORT void contract_violated(std::string_view pool,
                                                      std::string_view message) noexcept;

/// In a checked build, aborts with the message unless the condition holds; else does nothing.
inline void expects(bool condition, std::string_view pool, std::string_view message) noexcept {
    if constexpr (checked) {
        if (!condition) {
            contract_violated(pool, message);
        }
    }
}

} // namespace handlepool::detail
