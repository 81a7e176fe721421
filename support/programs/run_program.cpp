// SPDX-License-Identifier: MIT
#include "run_program.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/io.hpp>
#include <boost/process/posix.hpp>
#include <boost/process/search_path.hpp>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace handlepool::support {

namespace {

namespace process = boost::process;

int checked(int result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

class descriptor {
public:
    explicit descriptor(int number) : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&&) = delete;
    ~descriptor() { close(); }

    int get() const { return number_; }

    void close() {
        if (number_ >= 0) {
            ::close(std::exchange(number_, -1));
        }
    }

private:
    int number_;
};

descriptor temporary_file() {
    std::string name = "/tmp/handlepool_run_XXXXXX";
    descriptor file(checked(::mkostemp(name.data(), O_CLOEXEC), "mkostemp"));
    ::unlink(name.c_str());
    return file;
}

// Both ends of a new terminal.
std::pair<descriptor, descriptor> open_terminal(unsigned short columns) {
    descriptor screen(checked(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), "posix_openpt"));
    checked(::grantpt(screen.get()), "grantpt");
    checked(::unlockpt(screen.get()), "unlockpt");
    descriptor line(checked(::open(::ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC), "open"));
    const winsize size{.ws_row = 0, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    checked(::ioctl(line.get(), TIOCSWINSZ, &size), "ioctl");
    return {std::move(screen), std::move(line)};
}

// All that comes, up to the end: a terminal ends with an error when the program has closed its side.
std::string read_all(int from) {
    std::string text;
    std::array<char, 4096> buffer;
    while (const ssize_t got = ::read(from, buffer.data(), buffer.size())) {
        if (got > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (errno != EINTR) {
            break;
        }
    }
    return text;
}

std::string read_from_start(const descriptor& file) {
    checked(static_cast<int>(::lseek(file.get(), 0, SEEK_SET)), "lseek");
    return read_all(file.get());
}

process::child start(const std::vector<std::string>& command, int output, int errors) {
    return process::child(process::exe = find_program(command.front()),
                          process::args = std::vector(command.begin() + 1, command.end()),
                          process::std_in < process::null, process::posix::fd.bind(STDOUT_FILENO, output),
                          process::posix::fd.bind(STDERR_FILENO, errors));
}

int status_of(process::child& program) {
    program.wait();
    const int status = program.native_exit_code();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

std::string find_program(const std::string& name) {
    const std::string path = name.find('/') == std::string::npos ? process::search_path(name).string() : name;
    if (path.empty()) {
        throw std::system_error(ENOENT, std::generic_category(), name);
    }
    return path;
}

std::string lack_of_terminals() {
    try {
        open_terminal(0);
        return {};
    } catch (const std::system_error& error) {
        return std::string("no terminal can be opened here, as it can where /dev/pts is mounted: ") +
               error.what();
    }
}

run_result run_program(const std::vector<std::string>& command, errors_to errors, unsigned short columns) {
    const descriptor output = temporary_file();
    run_result result;
    if (errors == errors_to::terminal) {
        auto [screen, line] = open_terminal(columns);
        process::child program = start(command, output.get(), line.get());
        line.close();
        result.errors = read_all(screen.get());
        result.status = status_of(program);
    } else {
        const descriptor file = temporary_file();
        process::child program = start(command, output.get(), file.get());
        result.status = status_of(program);
        result.errors = read_from_start(file);
    }
    result.output = read_from_start(output);
    return result;
}

} // namespace handlepool::support
