#pragma once

#include "tally.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

// Numbers as people read them.
namespace handlepool::stress {

// With commas between the thousands.
std::string grouped(std::uint64_t number);

// The same of a sum that add_count has made.
std::string grouped_sum(std::uint64_t sum);

// In the unit that suits it.
std::string duration(std::uint64_t nanoseconds);

// Of memory.
std::string gibibytes(std::uint64_t bytes);

// With no false accept in n tries, their rate is below 3/n with a probability of 95 % (the rule of three).
// With some, or without tries, nothing is known.
std::optional<double> bound_95(const tally& all);

// What follows the number of false accepts, or nothing.
std::string bound_text(const tally& all);

// What follows the number of checked operations, or nothing when all are.
std::string sample_text(std::size_t sampled);

} // namespace handlepool::stress
