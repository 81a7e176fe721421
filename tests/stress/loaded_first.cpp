// SPDX-License-Identifier: MIT

// A library whose constructor comes before that of the recording library, as those of all do that a program
// is linked with. It needs libc and nothing else, since libstdc++ would allocate before it.

#include "record_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace fixture = handlepool::stress::fixture;

namespace {

void fork_a_child() {
    const pid_t child = ::fork();
    if (child == 0) {
        void* volatile object = std::malloc(fixture::child_size);
        std::free(object);
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
}

void close_all() {
    for (int file = 3; file < 1024; ++file) {
        ::close(file);
    }
}

[[gnu::constructor]] void come_first() {
    const char* const what = std::getenv("HANDLEPOOL_LOADED_FIRST");
    if (what == nullptr) {
        return;
    }
    if (std::strcmp(what, "clear") == 0) {
        ::clearenv();
    } else if (std::strcmp(what, "fork") == 0) {
        fork_a_child();
    } else if (std::strcmp(what, "spawn") == 0) {
        if (std::system("exit 0") != 0) {
            std::abort();
        }
    } else if (std::strcmp(what, "close") == 0) {
        close_all();
    }
}

} // namespace
