#include <handlepool/property_error.hpp>
#include <handlepool/property_kind.hpp>

#include <fmt/format.h>

#include <array>

namespace handlepool {

std::string_view name_of(property_kind kind) noexcept {
    constexpr std::array<std::string_view, 6> names{
        "nothing", "a truth", "a number", "a string", "an array of numbers", "a removal"};
    const auto number = static_cast<std::size_t>(kind);
    return number < names.size() ? names[number] : "of no known kind";
}

invalid_bag::invalid_bag(std::string_view where, std::size_t offset, std::string_view problem)
    : std::runtime_error(fmt::format("{}, byte {}: {}", where, offset, problem)), offset_(offset) {}

invalid_property_json::invalid_property_json(std::string_view where, std::size_t line, std::size_t column,
                                             std::string_view problem)
    : std::invalid_argument(fmt::format("{}:{}:{}: {}", where, line, column, problem)),
      line_(line),
      column_(column) {}

} // namespace handlepool
