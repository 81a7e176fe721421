// SPDX-License-Identifier: MIT
#include "served_contender.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <support/programs/run_program.hpp>

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace handlepool_bench::peers {

std::vector<known_contender> contenders_of(const std::string& program) {
    const auto result = handlepool::support::run_program({program, "--contenders"});
    if (result.status != 0) {
        throw std::runtime_error(fmt::format("{} --contenders failed: {}", program, result.errors));
    }
    std::vector<known_contender> found;
    std::istringstream lines(result.output);
    known_contender each{.program = program, .name = {}, .fewest_threads = 0, .most_threads = 0};
    while (lines >> each.fewest_threads >> each.most_threads >> std::ws && std::getline(lines, each.name)) {
        found.push_back(each);
    }
    if (found.empty()) {
        throw std::runtime_error(fmt::format("{} has no contenders", program));
    }
    return found;
}

struct served_contender::process {
    process(const known_contender& contender, std::size_t alive, unsigned threads)
        : child(boost::process::exe = contender.program,
                boost::process::args = {"--serve", contender.name, "--alive", std::to_string(alive), "--on",
                                        std::to_string(threads)},
                boost::process::std_in<tasks, boost::process::std_out> answers) {
        // Else those that are started later would keep its pipes open.
        for (const int end : {tasks.pipe().native_sink(), answers.pipe().native_source()}) {
            if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0) {
                throw std::system_error(errno, std::generic_category(), "fcntl");
            }
        }
    }

    boost::process::opstream tasks;
    boost::process::ipstream answers;
    boost::process::child child;
};

served_contender::served_contender(const known_contender& contender, std::size_t alive, unsigned threads)
    : name_(contender.name), process_(std::make_unique<process>(contender, alive, threads)) {}

served_contender::served_contender(served_contender&&) noexcept = default;

served_contender::~served_contender() {
    if (process_) {
        process_->tasks.pipe().close();
        std::error_code ignored;
        process_->child.wait(ignored);
    }
}

figures served_contender::ask(const std::string& task, std::size_t count) {
    process_->tasks << task << ' ' << count << std::endl;
    std::string line;
    if (!std::getline(process_->answers, line)) {
        throw std::runtime_error(fmt::format("{} ended in the task '{}'", name_, task));
    }
    figures answer;
    std::istringstream words(line);
    std::string name;
    double value = 0;
    while (words >> name >> value) {
        answer.emplace_back(name, value);
    }
    return answer;
}

} // namespace handlepool_bench::peers
