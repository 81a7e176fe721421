// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <set>

namespace handlepool::test {

/// What is in a folder, but not in its folders.
inline std::set<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::set<std::filesystem::path> found;
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        found.insert(each.path());
    }
    return found;
}

} // namespace handlepool::test
