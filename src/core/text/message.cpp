// SPDX-License-Identifier: MIT
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/text/text.hpp>

namespace handlepool::detail {

fixed_message::fixed_message(std::string_view text) noexcept {
    copy_printable(text, std::span(text_).first(text_.size() - 1));
}

std::string quoted_pool(std::string_view name) {
    return "pool '" + printable(name) + "'";
}

std::string name_of_handle(std::uint64_t index, std::uint32_t generation) {
    std::string name = "#";
    name += std::to_string(index);
    name += " generation ";
    name += std::to_string(generation);
    return name;
}

} // namespace handlepool::detail
