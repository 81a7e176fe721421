// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <system_error>

namespace handlepool {

/// Where links lead, also to a file that does not exist yet.
inline std::filesystem::path behind_links(std::filesystem::path file) {
    constexpr int most = 40; // or they lead in a circle
    std::error_code ignored;
    for (int i = 0; i != most && std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored));
         ++i) {
        file = file.parent_path() / std::filesystem::read_symlink(file, ignored);
    }
    return file;
}

} // namespace handlepool
