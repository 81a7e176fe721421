// SPDX-License-Identifier: MIT
#include "started_program.hpp"

#include "run_program.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/io.hpp>
#include <boost/process/posix.hpp>
#include <sys/wait.h>

#include <cerrno>
#include <system_error>

namespace handlepool::support {

namespace {

std::unique_ptr<std::FILE, int (*)(std::FILE*)> open_to_append(const std::filesystem::path& file) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(std::fopen(file.c_str(), "ae"), std::fclose);
    if (opened == nullptr) {
        throw std::system_error(errno, std::generic_category(), file.string());
    }
    return opened;
}

} // namespace

struct started_program::process {
    process(const std::vector<std::string>& command, std::FILE* output)
        : child(boost::process::exe = find_program(command.front()),
                boost::process::args = std::vector(command.begin() + 1, command.end()),
                boost::process::std_in < boost::process::null,
                boost::process::posix::fd.bind(STDOUT_FILENO, ::fileno(output)),
                boost::process::posix::fd.bind(STDERR_FILENO, ::fileno(output))) {}

    boost::process::child child;
};

started_program::started_program(const std::vector<std::string>& command, const std::filesystem::path& output)
    : started_program(command, open_to_append(output).get()) {}

started_program::started_program(const std::vector<std::string>& command, std::FILE* output)
    : process_(std::make_unique<process>(command, output)) {}

started_program::~started_program() {
    if (process_ != nullptr) {
        kill();
    }
}

started_program::started_program(started_program&& other) noexcept = default;

started_program& started_program::operator=(started_program&& other) noexcept {
    process_.swap(other.process_); // `other` kills what was here
    return *this;
}

int started_program::id() const {
    return process_->child.id();
}

void started_program::signal(int number) {
    if (is_running()) {
        ::kill(process_->child.id(), number);
    }
}

void started_program::kill() {
    signal(SIGKILL);
    wait();
}

bool started_program::is_running() {
    return process_->child.running();
}

int started_program::wait() {
    process_->child.wait();
    const int status = process_->child.native_exit_code();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace handlepool::support
