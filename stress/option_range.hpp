#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <system_error>

namespace handlepool::stress {

// Lets an option of the command line be a decimal number from `min` to `max`. What else it is given is
// refused by a message that names the option, the value and what is allowed.
template <class Number>
CLI::Validator number_between(Number min, Number max) {
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
    return {check, fmt::format("{} to {}", min, max)};
}

} // namespace handlepool::stress
