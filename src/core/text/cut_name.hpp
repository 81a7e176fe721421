// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/text/text.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace handlepool::detail {

/// A name in a message of bounded length: a long one is cut, so that there is room for the text after it.
class cut_name {
public:
    explicit cut_name(std::string_view name) noexcept {
        copy_printable(name, std::span(text_).first(longest));
    }

    const char* c_str() const noexcept { return text_.data(); }

private:
    static constexpr std::size_t longest = 96;

    std::array<char, longest + 1> text_{};
};

} // namespace handlepool::detail
