// SPDX-License-Identifier: MIT
#pragma once

#include "figures.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace handlepool_bench::peers {

/// A contender, the program that has it, and the threads that it can be used by.
struct known_contender {
    std::string program;
    std::string name;
    unsigned fewest_threads;
    unsigned most_threads;
};

/// The contenders of a program, which lists them when it is called with --contenders. Throws
/// std::runtime_error if it doesn't.
std::vector<known_contender> contenders_of(const std::string& program);

/// A process of its own for a contender, whatever language it is written in: what one does to its memory hits
/// no other, and all can live at the same time and take turns. Ends the process when it ends.
class served_contender {
public:
    /// Throws std::runtime_error if the program can't be started.
    served_contender(const known_contender& contender, std::size_t alive, unsigned threads);
    served_contender(served_contender&&) noexcept;
    ~served_contender();

    const std::string& name() const { return name_; }

    /// Returns when the process has done the task. Throws std::runtime_error if the process has failed; then
    /// it has said why on the standard error.
    figures ask(const std::string& task, std::size_t count = 0);

private:
    struct process;

    std::string name_;
    std::unique_ptr<process> process_;
};

} // namespace handlepool_bench::peers
