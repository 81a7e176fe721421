#include "../system.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

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

std::FILE* open_to_write(const std::filesystem::path& path) noexcept {
    return std::fopen(path.c_str(), "wbe");
}

bool write_through(std::FILE* file) noexcept {
    return ::fsync(::fileno(file)) == 0;
}

} // namespace handlepool::support
