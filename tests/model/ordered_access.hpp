// SPDX-License-Identifier: MIT
#pragma once

#include "weakening.hpp"

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace handlepool::model {

/// An access of the headers that is more than relaxed, as it stands in the text.
struct ordered_access {
    std::string number;   ///< of the comment before it, its name in docs/inside/orderings.md
    std::string file;     ///< without folders
    std::string function; ///< in which it stands
    std::string access;   ///< the word and what is done to it: "tag.load"
    std::memory_order order = std::memory_order::seq_cst;
    bool of_failure = false; ///< is it the order of an exchange that fails?
    access_place place;

    /// The orders one step weaker than its own: release or acquire to relaxed, acq_rel to either half,
    /// seq_cst to what is left of it without the one order of all such accesses.
    std::vector<std::memory_order> weaker() const;
};

/// Finds those of all files in a folder and in the folders below. Throws std::runtime_error when a file can't
/// be read, or an access has no number.
std::vector<ordered_access> find_ordered_accesses(const std::filesystem::path& folder);

const char* name_of(std::memory_order order) noexcept;

} // namespace handlepool::model
