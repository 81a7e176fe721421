// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace handlepool::support {

/// Throws std::system_error if the standard output has not taken all.
inline void flush_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(),
                                "the output cannot be written");
    }
}

} // namespace handlepool::support
