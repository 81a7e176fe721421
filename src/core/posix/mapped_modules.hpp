// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A part of a process's memory that shows a part of a file.
struct mapping {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::string rights; // "rw-p"
    std::uint64_t offset = 0;
};

/// A program or library in a process's memory, or another file that is mapped there.
struct mapped_module {
    std::string path;
    std::uint64_t file = 0;     // its inode
    std::vector<mapping> parts; // at least one, in the order of their addresses

    bool is_executable() const noexcept {
        for (const mapping& each : parts) {
            if (each.rights.find('x') != std::string::npos) {
                return true;
            }
        }
        return false;
    }
};

/// The modules of a process, in the order of their addresses. The lines are those of /proc/PID/maps:
/// "5581-55a2 rw-p 00001000 08:01 131 /usr/bin/game".
inline std::vector<mapped_module> mapped_modules(std::istream& lines) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<mapped_module> found;
    std::uint64_t end = 0; // in its file, of what may be used of the latest part
    for (std::string line; std::getline(lines, line);) {
        mapping part;
        std::uint64_t file = 0;
        std::array<char, 5> rights{};
        int path_at = 0;
        const int read =
            std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n",
                        &part.first, &part.last, rights.data(), &part.offset, &file, &path_at);
        if (read != 5 || file == 0) {
            continue;
        }
        part.rights = rights.data();
        std::string path = line.substr(static_cast<std::size_t>(path_at));
        // A file may be mapped once more directly below a module or above it, as libelf does to read it.
        // Parts of one module share a page of the file at the most.
        const bool is_mapped_anew = part.offset == 0 && end > page;
        if (found.empty() || found.back().path != path || found.back().file != file || is_mapped_anew) {
            found.push_back({std::move(path), file, {}});
            end = 0;
        }
        if (!part.rights.starts_with("---")) { // gaps between parts are mapped, too
            end = part.offset + (part.last - part.first);
        }
        found.back().parts.push_back(std::move(part));
    }
    return found;
}

} // namespace handlepool::detail
