// SPDX-License-Identifier: MIT
#pragma once

#if !defined(_WIN32) // which has no limits of files

#include <sys/resource.h>

#include <csignal>

namespace handlepool::support {

/// While it lives, the process can't write more bytes than that to a file: the nearest to a full disk.
class file_size_limit {
public:
    explicit file_size_limit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~file_size_limit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;

private:
    void (*handler_)(int);
    rlimit before_{};
};

} // namespace handlepool::support

#endif
