// SPDX-License-Identifier: MIT
#include "recorded_program.hpp"

#include "raw_log.hpp"
#include "raw_log_writer.hpp"
#include "recorder.hpp"

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <support/programs/run_program.hpp>
#include <support/programs/system.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace handlepool::stress {

namespace process = boost::process;

signals_for_program::signals_for_program() {
    sigemptyset(&passed_on_);
    sigaddset(&passed_on_, SIGCHLD);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
        struct sigaction found{};
        ::sigaction(signal, nullptr, &found);
        if (found.sa_handler != SIG_IGN) { // as of a program that nohup or a script's & has started
            sigaddset(&passed_on_, signal);
        }
    }
    ::pthread_sigmask(SIG_BLOCK, &passed_on_, &mask_before_);
    struct sigaction as_usual{};
    as_usual.sa_handler = SIG_DFL; // who ignores it has no children to wait for
    ::sigaction(SIGCHLD, &as_usual, &child_before_);
}

signals_for_program::~signals_for_program() {
    for (const timespec at_once{}; ::sigtimedwait(&passed_on_, nullptr, &at_once) > 0;) {
    }
    restore();
}

void signals_for_program::restore() const noexcept {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

int signals_for_program::pass_on_until_end_of(pid_t program) const {
    int status = 0;
    while (::waitpid(program, &status, WNOHANG) != program) {
        siginfo_t came{};
        const int signal = ::sigwaitinfo(&passed_on_, &came);
        if (signal > 0 && signal != SIGCHLD && came.si_code != SI_KERNEL) {
            ::kill(program, signal);
        }
    }
    return status;
}

int run_recorded(const std::vector<std::string>& command, const std::filesystem::path& library, int log,
                 const signals_for_program& signals) {
    process::environment variables = boost::this_process::environment();
    const std::string others = variables["LD_PRELOAD"].to_string();
    variables["LD_PRELOAD"] = others.empty() ? library.string() : library.string() + ":" + others;
    variables[raw_log::descriptor_variable] = std::to_string(log);
    try {
        process::child program(
            process::exe = support::find_program(command.front()),
            process::args = std::vector(command.begin() + 1, command.end()), process::env = variables,
            process::extend::on_exec_setup = [log, &signals](const auto&) {
                ::fcntl(log, F_SETFD, 0); // the program inherits it
                const std::int32_t own = ::getpid();
                write_all(log, &own, sizeof(own), offsetof(raw_log::header, process));
                signals.restore();
                support::restore_file_size_limit();
            });
        const pid_t number = program.id();
        program.detach(); // it is waited for here
        return signals.pass_on_until_end_of(number);
    } catch (const std::system_error& error) {
        throw record_error(fmt::format("cannot run {}: {}", command.front(), error.code().message()));
    }
}

} // namespace handlepool::stress
