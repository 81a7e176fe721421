// SPDX-License-Identifier: MIT

// usage: PROGRAM    whether the tool finds the description of a process that has not touched it

#include <dlfcn.h>
#include <src/core/process/process_description.hpp>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <tools/inspect/inspected_program.hpp>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>

using namespace handlepool;

namespace {

/// Gives back the memory that has the description, and stops. Nothing of the program is called then: it would
/// touch that again.
void drop_description_and_stop() {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto described = reinterpret_cast<std::uintptr_t>(&detail::described_process) / page * page;
    int (*volatile const stop)(pid_t, int) =
        reinterpret_cast<int (*)(pid_t, int)>(dlsym(RTLD_DEFAULT, "kill"));
    const pid_t self = getpid();
    madvise(reinterpret_cast<void*>(described), 2 * page, MADV_DONTNEED);
    stop(self, SIGSTOP);
}

bool is_found(int process) {
    const auto address = reinterpret_cast<std::uintptr_t>(&detail::described_process);
    bool is_touched = false;
    inspect_tool::process_memory(process).for_each_touched(
        address, address + 1, [&](std::uint64_t, std::uint64_t) { is_touched = true; });
    const auto found = inspect_tool::inspected_program::in_process(process);
    std::printf("%s, %zu found\n", is_touched ? "touched" : "not touched", found.size());
    return !is_touched && found.size() == 1;
}

} // namespace

int main() {
    const pid_t child = fork();
    if (child == 0) {
        drop_description_and_stop();
    }
    int status = 0;
    waitpid(child, &status, WUNTRACED);
    bool passes = false;
    try {
        passes = WIFSTOPPED(status) && is_found(child);
    } catch (const std::exception& error) {
        std::puts(error.what());
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return passes ? 0 : 1;
}
