// SPDX-License-Identifier: MIT

// A program to be recorded that needs libc and nothing else, as those in C: it has no operator new, and
// allocates nothing before the libraries' constructors.

#include "record_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

// With an argument it allocates nothing; with "fork" it forks.
int main(int count, char** arguments) {
    if (count == 2) {
        if (std::strcmp(arguments[1], "fork") == 0) {
            if (fork() == 0) {
                _exit(0);
            }
            wait(nullptr);
        }
        return 0;
    }
    for (int i = 0; i != 100; ++i) {
        void* volatile object = std::malloc(handlepool::stress::fixture::malloc_size);
        std::free(object);
    }
}
