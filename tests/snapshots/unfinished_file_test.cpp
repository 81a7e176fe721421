// SPDX-License-Identifier: MIT

// What is written beside a file before it gets that name.

#include <handlepool/snapshots/snapshot_file.hpp>

#include <gtest/gtest.h>
#include <src/shared/files.hpp>
#include <tests/support/files_in.hpp>
#include <tests/support/scratch_directory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace handlepool::test {
namespace {

using std::filesystem::path;

struct unfinished_files : testing::Test {
    const support::scratch_directory directory;
    const path file = directory.path() / "a.save";
};

TEST_F(unfinished_files, end_with_their_object) {
    {
        const unfinished_file unfinished(file);
        EXPECT_EQ(unfinished.name().parent_path(), directory.path());
        std::ofstream(unfinished.name()) << "unfinished";
        EXPECT_EQ(files_in(directory.path()), std::set{unfinished.name()});
    }
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(unfinished_files, leave_the_finished_one) {
    ASSERT_FALSE(write_file(file, [](std::ostream& out) { out << "finished"; }));
    EXPECT_EQ(files_in(directory.path()), std::set{file});
    EXPECT_EQ(read_file(file), "finished");
}

#if defined(__linux__)
enum exit_code : int { succeeded, failed, not_permitted };

int exit_code_of(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : failed;
}

int write_often(const path& file, std::byte value) {
    const std::vector<std::byte> bytes(100'000, value);
    try {
        for (int i = 0; i != 100; ++i) {
            write_snapshot_file(file, bytes);
        }
    } catch (const std::system_error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return failed;
    }
    return succeeded;
}

/// Begins a process whose child has number 1, as that of a container has, and writes a file often.
pid_t begin_writer(const path& file, std::byte value) {
    const pid_t waiting = fork();
    if (waiting == 0) {
        if (unshare(CLONE_NEWPID) != 0) {
            _exit(not_permitted);
        }
        const pid_t writing = fork();
        _exit(writing == 0 ? write_often(file, value) : exit_code_of(writing));
    }
    return waiting;
}

TEST_F(unfinished_files, of_processes_with_one_number_are_different) {
    const pid_t one = begin_writer(file, std::byte{1});
    const pid_t other = begin_writer(file, std::byte{2});
    const int code_of_one = exit_code_of(one);
    const int code_of_other = exit_code_of(other);
    if (code_of_one == not_permitted || code_of_other == not_permitted) {
        GTEST_SKIP() << "this system does not permit that a process has number 1";
    }
    EXPECT_EQ(code_of_one, succeeded);
    EXPECT_EQ(code_of_other, succeeded);
    const std::vector<std::byte> written = read_snapshot_file(file);
    EXPECT_EQ(written.size(), 100'000);
    EXPECT_EQ(std::ranges::count(written, written.front()), 100'000);
    EXPECT_EQ(files_in(directory.path()), std::set{file});
}
#endif

} // namespace
} // namespace handlepool::test
