// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

namespace handlepool::detail {

void contract_violated(std::string_view pool, std::string_view message) noexcept {
    // Room is kept for the message: a long name is cut.
    constexpr std::size_t longest_name = 96;
    std::array<char, 512> text{};
    std::array<char, longest_name> name{};
    const std::size_t length = copy_printable(pool, name);
    std::snprintf(text.data(), text.size(), "handlepool: pool '%.*s': %.*s", static_cast<int>(length),
                  name.data(), static_cast<int>(std::min(message.size(), text.size())), message.data());
    end_program(text.data());
}

} // namespace handlepool::detail
