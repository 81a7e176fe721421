// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>

// Sums, and numbers as people read them.
namespace handlepool::stress {

// Adds up counts, and stops at the largest number where a plain sum would begin again at 0. That number is to
// be read as "at least this many"; grouped_sum and plural_sum do so.
constexpr std::uint64_t largest_sum = std::numeric_limits<std::uint64_t>::max();

constexpr void add_count(std::uint64_t& sum, std::uint64_t count) noexcept {
    sum = count > largest_sum - sum ? largest_sum : sum + count;
}

std::string grouped(std::uint64_t number); // 1,234,567
std::string grouped_sum(std::uint64_t sum);
std::string grouped_rounded(double number);                                  // to the next whole number
std::string plural(std::uint64_t number, const char* one, const char* many); // 1,000 results
std::string plural_sum(std::uint64_t sum, const char* one, const char* many);

// For a terminal.
std::string duration(std::uint64_t nanoseconds); // 1.2 us

// For a page. What has a unit is shown with three digits.
std::string short_number(double number);            // 41.2 M
std::string nanoseconds_text(double nanoseconds);   // 812 µs
std::string microseconds_text(double microseconds); // the same
std::string seconds_text(double seconds);           // 8.57 s
std::string duration_text(double seconds);          // 2 min 3 s
std::string mebibytes_text(std::uint64_t bytes);    // 3.1 MiB
std::string small_part_text(double part);           // 6.5 × 10⁻⁹

} // namespace handlepool::stress
