// SPDX-License-Identifier: MIT
#pragma once

#include "../optional_parts.hpp"
#include "run/executors/frame_executor.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace handlepool::stress {

// Adds an option: a decimal number from `min` to `max`, kept in `value`. What else it is given is refused by
// a message that names the option, the value and what is allowed. Help shows the value that it has when it is
// left out, unless that is none.
template <class Number>
void add_number(CLI::App& command, const std::string& name, Number& value, const std::string& what,
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
    if (value >= min) {
        added.capture_default_str();
    }
}

// Adds an option: one of the names, each for the enumerator with its number.
template <class Enum>
void add_choice(CLI::App& command, const std::string& name, Enum& value,
                std::span<const std::string_view> names, const std::string& what) {
    command
        .add_option_function<std::string>(
            name,
            [&value, names](const std::string& given) {
                value = static_cast<Enum>(std::ranges::find(names, given) - names.begin());
            },
            what)
        ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())))
        ->default_str(std::string(name_of(value)));
}

// What replay, churn and run have in common.
template <class Options>
void add_common(CLI::App& command, Options& options) {
    constexpr std::string_view by_whom =
        has_tbb
            ? "Who runs the loops of compactions: oneTBB, threads of its own, or the compacting thread alone"
            : "Who runs the loops of compactions: threads of its own, or the compacting thread alone; this "
              "build has no oneTBB";
    add_choice(command, "--executor", options.service.executor,
               std::span(executor_names).first(has_tbb ? 3 : 2), std::string(by_whom));
    add_choice(command, "--placement", options.service.placement, placement_names,
               "Where the pool keeps its objects: close together, each at one address for life, or as rows "
               "in columns");
    add_number(command, "--pools", options.service.pools,
               "Pools of the service, the one in question among them", 1, 100);
    add_number(command, "--seed", options.seed, "Chooses the objects: the same seed, the same requests", 0,
               std::numeric_limits<std::uint64_t>::max());
    add_number(command, "--sample", options.sample,
               "Check the histories of one slot in so many only; the other checks see all", 1, 1'000'000);
}

// What replay and churn have in common.
template <class Options>
void add_look_ups(CLI::App& command, Options& options) {
    add_number(command, "--lookups", options.lookups,
               "Look-ups of living objects, and as many of dead ones, by each thread in each frame", 0,
               1'000'000);
    add_common(command, options);
}

} // namespace handlepool::stress
