// SPDX-License-Identifier: MIT
#include "children.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <system_error>

namespace handlepool::model {
namespace {

struct child {
    std::size_t index = 0;
    int output = -1;
};

/// An errno, told as an exception.
[[noreturn]] void throw_errno(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void be_child(int output, std::chrono::seconds limit, const std::function<std::string()>& work) {
    // Of the processor, so that a busy machine is not taken for a model without an end; one that only waits
    // has longer.
    const auto seconds = static_cast<rlim_t>(limit.count());
    const struct rlimit processor_time{.rlim_cur = seconds, .rlim_max = seconds + 1};
    setrlimit(RLIMIT_CPU, &processor_time);
    alarm(static_cast<unsigned>(20 * limit.count()));
    int code = 1;
    try {
        const std::string text = work();
        std::size_t written = 0;
        while (written != text.size()) {
            const ssize_t count = write(output, text.data() + written, text.size() - written);
            if (count <= 0) {
                break;
            }
            written += static_cast<std::size_t>(count);
        }
        code = written == text.size() ? 0 : 1;
    } catch (const std::exception& failure) {
        std::cerr << failure.what() << '\n';
    }
    std::cout.flush();
    _exit(code); // the parent's things are the parent's to destroy
}

pid_t start(int& output, std::chrono::seconds limit, const std::function<std::string()>& work) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        throw_errno("pipe");
    }
    std::cout.flush();
    const pid_t id = fork();
    if (id < 0) {
        throw_errno("fork");
    }
    if (id == 0) {
        close(ends[0]);
        be_child(ends[1], limit, work);
    }
    close(ends[1]);
    output = ends[0];
    return id;
}

std::string read_all(int from) {
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
        const ssize_t count = read(from, buffer.data(), buffer.size());
        if (count <= 0) {
            close(from);
            return text;
        }
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

std::string told(int status) {
    if (WIFSIGNALED(status)) {
        const bool is_late = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM;
        return is_late ? std::string("did not end in time")
                       : std::string("crashed: ") + strsignal(WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0 ? std::string() : "ended with " + std::to_string(WEXITSTATUS(status));
}

} // namespace

void in_children(std::size_t count, unsigned jobs, std::chrono::seconds limit,
                 const std::function<std::string(std::size_t)>& work,
                 const std::function<bool(std::size_t, const child_end&)>& ended) {
    std::map<pid_t, child> running;
    std::map<std::size_t, child_end> waiting; // for those before them
    std::size_t next_told = 0;
    for (std::size_t next = 0; next < count || !running.empty();) {
        if (next < count && running.size() < jobs) {
            child one{next, -1};
            const pid_t id = start(one.output, limit, [&] { return work(one.index); });
            running[id] = one;
            ++next;
            continue;
        }
        int status = 0;
        const pid_t id = wait(&status);
        if (id < 0) {
            throw_errno("wait");
        }
        // What a child returns fits into a pipe: it does not wait to be read.
        const child one = running.at(id);
        running.erase(id);
        waiting.emplace(one.index, child_end{read_all(one.output), told(status)});
        for (auto first = waiting.find(next_told); first != waiting.end();
             first = waiting.find(++next_told)) {
            if (!ended(next_told, first->second)) {
                next = count;
            }
        }
    }
}

} // namespace handlepool::model
