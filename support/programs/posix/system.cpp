// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <support/programs/system.hpp>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <csignal>

namespace handlepool::support {

int process_id() noexcept {
    return ::getpid();
}

std::string system_name() {
    utsname names{};
    if (::uname(&names) != 0) {
        return "unknown";
    }
    return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

bool errors_go_to_a_terminal() noexcept {
    return ::isatty(STDERR_FILENO) == 1;
}

std::optional<std::size_t> columns_of_errors() noexcept {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return {};
    }
    return size.ws_col;
}

void keep_standard_streams() noexcept {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0) { // it is the lowest that is free, because those before it are open
            ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

std::FILE* open_to_write(const std::filesystem::path& path) noexcept {
    return std::fopen(path.c_str(), "wbe");
}

bool write_through(std::FILE* file) noexcept {
    return ::fsync(::fileno(file)) == 0;
}

namespace {

std::optional<void (*)(int)> found_handler; // of SIGXFSZ

} // namespace

void survive_file_size_limit() noexcept {
    void (*const found)(int) = std::signal(SIGXFSZ, SIG_IGN);
    if (!found_handler) {
        found_handler = found;
    }
}

void restore_file_size_limit() noexcept {
    if (found_handler) {
        std::signal(SIGXFSZ, *found_handler);
    }
}

} // namespace handlepool::support
