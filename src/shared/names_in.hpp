// SPDX-License-Identifier: MIT
#pragma once

#include "files.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#if !defined(_WIN32)
#include <dirent.h>

#include <cerrno>
#include <memory>
#endif

namespace handlepool {

/// The names of what is in a folder, `.` and `..` among them where the system has them. Throws
/// std::system_error, which names the folder, and std::bad_alloc.
inline std::vector<std::filesystem::path> names_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> names;
    std::error_code error;
#if defined(_WIN32)
    std::filesystem::directory_iterator each(folder, error);
    for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
        names.push_back(each->path().filename());
    }
#else
    // Not a std::filesystem::directory_iterator: where GNU's finds no memory, it ends the program.
    struct closer {
        void operator()(DIR* opened) const noexcept { ::closedir(opened); }
    };
    const std::unique_ptr<DIR, closer> opened(::opendir(folder.c_str()));
    for (bool is_more = opened != nullptr; is_more;) {
        errno = 0; // which it still is behind the last one
        const dirent* const each = ::readdir(opened.get());
        is_more = each != nullptr;
        if (is_more) {
            names.emplace_back(each->d_name);
        }
    }
    error = {errno, std::generic_category()}; // of either
#endif
    throw_file_error(error, folder);
    return names;
}

} // namespace handlepool
