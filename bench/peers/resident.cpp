// SPDX-License-Identifier: MIT
#include "resident.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace handlepool_bench::peers {

std::size_t resident_bytes() {
    // Not statm, whose numbers lag behind by some pages a thread.
    std::ifstream file("/proc/self/smaps_rollup");
    std::string word;
    while (file >> word) {
        std::size_t kibibytes = 0;
        if (word == "Rss:" && file >> kibibytes) {
            return kibibytes * 1024;
        }
    }
    throw std::runtime_error("/proc/self/smaps_rollup has no line Rss");
}

} // namespace handlepool_bench::peers
