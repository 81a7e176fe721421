// SPDX-License-Identifier: MIT
#pragma once

#include "ordered_access.hpp"
#include "weakening.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::model {

/// An access, made weaker by one step.
struct order_mutant {
    std::string name; ///< as it stands in the list of witnesses
    weakening change;
};

/// Of the headers, and of the numbers of threads, which stand beside their source. Throws like
/// find_ordered_accesses().
std::vector<order_mutant> all_order_mutants(const std::filesystem::path& sources);

/// Begins what stands in the list instead of a model: why none can see the mutant.
inline constexpr std::string_view explained = "none: ";

/// The list: the name of a mutant, " | ", and the name of the model that must see it; "#" begins a comment.
/// Throws std::runtime_error when it can't be read.
std::map<std::string, std::string> read_order_witnesses(const std::filesystem::path& file);

/// A line for each mutant of the headers that the list leaves out, and for each of the list that the headers
/// don't have; empty if they agree.
std::string differences_from_headers(const std::vector<order_mutant>& mutants,
                                     const std::map<std::string, std::string>& witnesses);

} // namespace handlepool::model
