// SPDX-License-Identifier: MIT

// Standard streams that are closed, or take nothing. Each test runs in a process of its own.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <support/files/tell.hpp>
#include <support/programs/system.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace handlepool::support {
namespace {

// Whether a write there fails with this error.
bool refuses_writing(int stream, int error) {
    return ::write(stream, "x", 1) < 0 && errno == error;
}

void tell_where_nothing_is_taken() {
    ::dup2(::open("/dev/full", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    tell("{} is lost\n", "this");
    ::close(STDERR_FILENO);
    tell("{} is lost\n", "this too");
    std::_Exit(0);
}

TEST(standard_streams, take_no_message_and_harm_nobody) {
    EXPECT_EXIT(tell_where_nothing_is_taken(), testing::ExitedWithCode(0), "");
}

void open_a_file_where_all_are_closed() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::close(stream);
    }
    keep_standard_streams();
    char byte = 0;
    const bool refuse = ::read(STDIN_FILENO, &byte, 1) < 0 && errno == EBADF &&
                        refuses_writing(STDOUT_FILENO, EBADF) && refuses_writing(STDERR_FILENO, EBADF);
    const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    std::_Exit(refuse && file > STDERR_FILENO ? 0 : 1);
}

TEST(standard_streams, stay_what_they_are_where_they_are_closed) {
    EXPECT_EXIT(open_a_file_where_all_are_closed(), testing::ExitedWithCode(0), "");
}

void keep_streams_that_are_open() {
    ::dup2(::open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    keep_standard_streams();
    std::_Exit(refuses_writing(STDOUT_FILENO, ENOSPC) ? 0 : 1);
}

TEST(standard_streams, stay_what_they_are_where_they_are_open) {
    EXPECT_EXIT(keep_streams_that_are_open(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace handlepool::support
