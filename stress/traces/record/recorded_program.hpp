// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace handlepool::stress {

// While it lives, the signals that ask a program to end are kept from this process and can be passed on, and
// the end of a child can be waited for. The signals that come late, as when a whole group of processes gets
// them, are lost with it.
class signals_for_program {
public:
    signals_for_program();
    signals_for_program(const signals_for_program&) = delete;
    signals_for_program& operator=(const signals_for_program&) = delete;
    ~signals_for_program();

    // In the program's process, before it begins: all as it was found.
    void restore() const noexcept;

    // Passes on what comes until the program has ended, and returns its status as waitpid does. What a
    // terminal sends has gone to the program too.
    int pass_on_until_end_of(pid_t program) const;

private:
    sigset_t passed_on_{};
    sigset_t mask_before_{};
    struct sigaction child_before_{};
};

// Runs the program with the library and the log to its end, and returns its status as waitpid does. Throws
// record_error if it can't be started.
int run_recorded(const std::vector<std::string>& command, const std::filesystem::path& library, int log,
                 const signals_for_program& signals);

} // namespace handlepool::stress
