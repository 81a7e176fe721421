// SPDX-License-Identifier: MIT
#include "numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <locale>
#include <span>
#include <string_view>

namespace handlepool::stress {

namespace {

struct unit {
    double size;
    std::string_view name;
};

double round_to_three_digits(double number) {
    if (number <= 0) {
        return 0;
    }
    const double last_digit = std::pow(10.0, std::floor(std::log10(number)) - 2);
    return std::round(number / last_digit) * last_digit;
}

// Of a rounded number: without what a double adds to it.
std::string digits(double number) {
    return fmt::format("{:.12g}", number);
}

// `units` grow. Rounded before a unit is taken: 999.9 k is 1 M.
std::string with_unit(double number, std::span<const unit> units) {
    std::size_t chosen = 0;
    const auto in_chosen = [&] { return round_to_three_digits(number / units[chosen].size); };
    while (chosen + 1 < units.size() &&
           in_chosen() >= units[chosen + 1].size / units[chosen].size * (1 - 1e-9)) {
        ++chosen;
    }
    const std::string text = digits(in_chosen());
    return units[chosen].name.empty() ? text : fmt::format("{}\u00a0{}", text, units[chosen].name);
}

struct commas : std::numpunct<char> {
    char do_thousands_sep() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
};

} // namespace

std::string grouped(std::uint64_t number) {
    static const std::locale with_commas(std::locale::classic(), new commas); // which owns it
    return fmt::format(with_commas, "{:L}", number);
}

std::string grouped_sum(std::uint64_t sum) {
    return fmt::format("{}{}", sum == largest_sum ? "at least " : "", grouped(sum));
}

std::string grouped_rounded(double number) {
    return grouped(static_cast<std::uint64_t>(std::clamp(std::round(number), 0.0, 1e19)));
}

std::string plural(std::uint64_t number, const char* one, const char* many) {
    return fmt::format("{} {}", grouped(number), number == 1 ? one : many);
}

std::string plural_sum(std::uint64_t sum, const char* one, const char* many) {
    return fmt::format("{} {}", grouped_sum(sum), sum == 1 ? one : many);
}

std::string duration(std::uint64_t nanoseconds) {
    const auto number = static_cast<double>(nanoseconds);
    if (number < 1e3) {
        return fmt::format("{} ns", nanoseconds);
    }
    if (number < 1e6) {
        return fmt::format("{:.1f} us", number / 1e3);
    }
    return number < 1e9 ? fmt::format("{:.1f} ms", number / 1e6) : fmt::format("{:.2f} s", number / 1e9);
}

std::string short_number(double number) {
    constexpr std::array<unit, 6> units{
        {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}}};
    return with_unit(number, units);
}

std::string nanoseconds_text(double nanoseconds) {
    constexpr std::array<unit, 4> units{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
    return with_unit(nanoseconds, units);
}

std::string microseconds_text(double microseconds) {
    return nanoseconds_text(microseconds * 1e3);
}

std::string seconds_text(double seconds) {
    return nanoseconds_text(seconds * 1e9);
}

std::string duration_text(double seconds) {
    if (seconds < 120) {
        return seconds_text(seconds);
    }
    const auto whole = static_cast<std::uint64_t>(std::min(std::round(seconds), 1e19));
    if (whole < 7200) {
        return fmt::format("{}\u00a0min {}\u00a0s", whole / 60, whole % 60);
    }
    return fmt::format("{}\u00a0h {}\u00a0min", grouped(whole / 3600), whole / 60 % 60);
}

std::string mebibytes_text(std::uint64_t bytes) {
    constexpr std::array<unit, 3> units{{{1, "KiB"}, {1024, "MiB"}, {1024 * 1024, "GiB"}}};
    return with_unit(static_cast<double>(bytes) / 1024, units);
}

std::string small_part_text(double part) {
    if (part >= 0.001 || part <= 0) {
        return digits(round_to_three_digits(part));
    }
    constexpr std::array<std::string_view, 10> superscripts{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const std::string scientific = fmt::format("{:.1e}", part);
    const std::size_t e = scientific.find('e');
    std::string result = fmt::format("{}\u00a0×\u00a010⁻", scientific.substr(0, e));
    for (const char digit : fmt::to_string(-std::stoi(scientific.substr(e + 1)))) {
        result += superscripts[static_cast<std::size_t>(digit - '0')];
    }
    return result;
}

} // namespace handlepool::stress
