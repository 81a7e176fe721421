// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace handlepool::support {

/// A program that runs beside this one, and has nothing to read. It is killed with this object.
class started_program {
public:
    /// Starts a program, which is searched for in PATH; what it prints, errors too, is appended to a file.
    /// Throws std::system_error if that can't be done.
    explicit started_program(const std::vector<std::string>& command,
                             const std::filesystem::path& output = "/dev/null");
    /// The same, but what it prints goes where this stream goes.
    started_program(const std::vector<std::string>& command, std::FILE* output);
    ~started_program();
    started_program(started_program&& other) noexcept;
    started_program& operator=(started_program&& other) noexcept;

    /// The number of its process.
    int id() const;
    /// Sends a signal, if it still runs: SIGKILL, SIGSTOP, SIGCONT, ...
    void signal(int number);
    /// Kills it, and returns when it is gone.
    void kill();
    bool is_running();
    /// Returns when it has ended: its exit status; -1 if a signal killed it.
    int wait();

private:
    struct process;
    std::unique_ptr<process> process_;
};

} // namespace handlepool::support
