// SPDX-License-Identifier: MIT
#include <handlepool/detail/text/text.hpp>
#include <handlepool/property_error.hpp>
#include <handlepool/property_kind.hpp>

#include <fmt/format.h>

#include <array>

namespace handlepool {

namespace {

std::array<char, 192> text_about(std::size_t bytes) noexcept {
    std::array<char, 192> text{};
    fmt::format_to_n(
        text.data(), text.size() - 1,
        "property_store: the {} bytes that its option `bytes` allows are used up; shrink_to_fit() gives "
        "back what bags have left",
        bytes);
    return text;
}

} // namespace

std::string_view name_of(property_kind kind) noexcept {
    constexpr std::array<std::string_view, 6> names{
        "nothing", "a truth", "a number", "a string", "an array of numbers", "a removal"};
    const auto number = static_cast<std::size_t>(kind);
    return number < names.size() ? names[number] : "of no known kind";
}

property_store_full::property_store_full(std::size_t bytes) noexcept : message_(text_about(bytes).data()) {}

invalid_bag::invalid_bag(std::string_view where, std::size_t offset, std::string_view problem)
    : std::runtime_error(detail::printable(fmt::format("{}, byte {}: {}", where, offset, problem))),
      offset_(offset) {}

invalid_property_json::invalid_property_json(std::string_view where, std::size_t line, std::size_t column,
                                             std::string_view problem)
    : std::invalid_argument(detail::printable(fmt::format("{}:{}:{}: {}", where, line, column, problem))),
      line_(line),
      column_(column) {}

} // namespace handlepool
