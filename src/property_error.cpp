#include <handlepool/property_error.hpp>
#include <handlepool/property_kind.hpp>

#include <fmt/format.h>

namespace handlepool {

std::string_view name_of(property_kind kind) noexcept {
    switch (kind) {
    case property_kind::none:
        return "nothing";
    case property_kind::boolean:
        return "a truth";
    case property_kind::number:
        return "a number";
    case property_kind::string:
        return "a string";
    case property_kind::numbers:
        return "an array of numbers";
    case property_kind::removed:
        return "a removal";
    }
    return "of no known kind";
}

invalid_bag::invalid_bag(std::string_view where, std::size_t offset, std::string_view problem)
    : std::runtime_error(fmt::format("{}, byte {}: {}", where, offset, problem)), offset_(offset) {}

invalid_property_json::invalid_property_json(std::string_view where, std::size_t line, std::size_t column,
                                             std::string_view problem)
    : std::invalid_argument(fmt::format("{}:{}:{}: {}", where, line, column, problem)),
      line_(line),
      column_(column) {}

} // namespace handlepool
