// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// A text of bounded length that needs no allocation; what doesn't fit is cut off.
class fixed_message {
public:
    HANDLEPOOL_EXPORT explicit fixed_message(std::string_view text) noexcept;

    const char* c_str() const noexcept { return text_.data(); }

private:
    std::array<char, 256> text_{};
};

/// "pool 'NAME'", for messages.
HANDLEPOOL_EXPORT std::string quoted_pool(std::string_view name);

/// "#INDEX generation GENERATION", for messages.
HANDLEPOOL_EXPORT std::string name_of_handle(std::uint64_t index, std::uint32_t generation);

} // namespace handlepool::detail
