#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <system_error>
#include <type_traits>

namespace handlepool::stress {

// Adds an option to a command line: a decimal number from `min` to `max`, kept in `value`. What else it is
// given is refused by a message that names the option, the value and what is allowed.
template <class Number>
CLI::Option& add_number(CLI::App& command, const std::string& name, Number& value, const std::string& what,
                        std::type_identity_t<Number> min, std::type_identity_t<Number> max) {
    const auto check = [min, max](std::string& input) -> std::string {
        Number number{};
        const char* const end = input.data() + input.size();
        const auto [rest, error] = std::from_chars(input.data(), end, number);
        if (error != std::errc() || rest != end ||
            !(number >= min && number <= max)) { // so that nan is refused
            return fmt::format("'{}' is not allowed (allowed: {} to {})", input, min, max);
        }
        input = fmt::to_string(number); // CLI11 would take 010 for an octal number
        return {};
    };
    CLI::Option& added = *command.add_option(name, value, what);
    added.transform(CLI::Validator(check, fmt::format("{} to {}", min, max)));
    return added;
}

// The same, and help shows the value that it has when it is left out.
template <class Number>
void add_number_with_default(CLI::App& command, const std::string& name, Number& value,
                             const std::string& what, std::type_identity_t<Number> min,
                             std::type_identity_t<Number> max) {
    add_number(command, name, value, what, min, max).capture_default_str();
}

} // namespace handlepool::stress
