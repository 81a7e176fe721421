#pragma once

#include "text.hpp"

#include <cstdint>
#include <string>

namespace handlepool::stress::page {

// Numbers as people read them. What has a unit is shown with three digits.

using stress::grouped;
using stress::grouped_sum;
std::string grouped(double number);                                           // to the next whole number
std::string short_number(double number);                                      // 41.2 M
std::string nanoseconds_text(double nanoseconds);                             // 812 µs
std::string microseconds_text(double microseconds);                           // the same
std::string seconds_text(double seconds);                                     // 8.57 s
std::string duration_text(double seconds);                                    // 2 min 3 s
std::string mebibytes_text(std::uint64_t bytes);                              // 3.1 MiB
std::string small_part_text(double part);                                     // 6.5 × 10⁻⁹
std::string plural(std::uint64_t number, const char* one, const char* many);  // 1,000 results
std::string plural_sum(std::uint64_t sum, const char* one, const char* many); // the same of a grouped_sum

} // namespace handlepool::stress::page
