// SPDX-License-Identifier: MIT

// Files of snapshots: whole or not at all.

#include "made_snapshot.hpp"

#include <handlepool/snapshots/snapshot_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

namespace handlepool::test {
namespace {

using std::filesystem::path;

std::ptrdiff_t files_in(const path& folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
}

class snapshot_file : public testing::TestWithParam<bool> {
protected:
    void write(const path& file, const snapshot_bytes& bytes) {
        write_snapshot_file(file, bytes, {.sync = GetParam()});
    }
    /// The error of writing to a file, which must have its path; nothing if there is none.
    std::error_code error_of_writing(const path& file, const snapshot_bytes& bytes) {
        try {
            write(file, bytes);
        } catch (const std::system_error& error) {
            EXPECT_EQ(std::string(error.what()), file.string() + ": " + error.code().message());
            return error.code();
        }
        return {};
    }

    const support::scratch_directory directory_;
    const path file_ = directory_.path() / "a.save";
    const snapshot_bytes first_ = two_blocks();
    const snapshot_bytes second_ = snapshot_bytes(300'001, std::byte{7});
};

TEST_P(snapshot_file, comes_back_as_it_was_written) {
    for (const snapshot_bytes& bytes : {first_, second_, snapshot_bytes()}) {
        write(file_, bytes);
        EXPECT_EQ(read_snapshot_file(file_), bytes);
        EXPECT_EQ(files_in(directory_.path()), 1);
    }
}

TEST_P(snapshot_file, may_lie_where_the_program_runs) {
    const path before = std::filesystem::current_path();
    std::filesystem::current_path(directory_.path());
    write("a.save", first_);
    EXPECT_EQ(read_snapshot_file("a.save"), first_);
    std::filesystem::current_path(before);
    EXPECT_EQ(read_snapshot_file(file_), first_);
}

TEST_P(snapshot_file, readers_see_one_that_was_written) {
    write(file_, first_);
    std::atomic<bool> ends = false;
    auto reader = std::async(std::launch::async, [&] {
        bool whole = true;
        while (!ends) {
            const snapshot_bytes read = read_snapshot_file(file_);
            whole = whole && (read == first_ || read == second_);
        }
        return whole;
    });
    for (int i = 0; i != 20; ++i) {
        write(file_, i % 2 == 0 ? second_ : first_);
    }
    ends = true;
    EXPECT_TRUE(reader.get());
}

TEST_P(snapshot_file, may_have_to_be_the_first_one) {
    const snapshot_file_options as_the_first{.sync = GetParam(), .replace = false};
    const auto error_of_another = [&](const path& file) {
        return message_of<std::system_error>([&] { write_snapshot_file(file, second_, as_the_first); });
    };
    write_snapshot_file(file_, first_, as_the_first);
    EXPECT_EQ(error_of_another(file_), file_.string() + ": File exists");
    EXPECT_EQ(error_of_another(directory_.path()), directory_.path().string() + ": File exists");
    EXPECT_EQ(read_snapshot_file(file_), first_);
    EXPECT_EQ(files_in(directory_.path()), 1);
}

TEST_P(snapshot_file, is_the_first_one_of_a_single_writer) {
    for (int round = 0; round != 20; ++round) {
        const path file = directory_.path() / std::to_string(round);
        std::vector<std::future<bool>> writers;
        for (std::size_t i = 0; i != 4; ++i) {
            writers.push_back(std::async(std::launch::async, [&, bytes = snapshot_bytes(1'000 + i)] {
                try {
                    write_snapshot_file(file, bytes, {.sync = GetParam(), .replace = false});
                } catch (const std::system_error& error) {
                    EXPECT_EQ(error.code(), std::errc::file_exists);
                    return false;
                }
                EXPECT_EQ(read_snapshot_file(file), bytes); // and so it stays
                return true;
            }));
        }
        EXPECT_EQ(std::ranges::count_if(writers, [](auto& each) { return each.get(); }), 1);
    }
    EXPECT_EQ(files_in(directory_.path()), 20);
}

TEST_P(snapshot_file, where_there_is_no_folder_is_an_error) {
    const path file = directory_.path() / "missing" / "a.save";
    EXPECT_EQ(error_of_writing(file, first_), std::errc::no_such_file_or_directory);
    EXPECT_EQ(message_of<std::system_error>([&] { read_snapshot_file(file); }),
              file.string() + ": No such file or directory");
    EXPECT_EQ(files_in(directory_.path()), 0);
}

#if !defined(_WIN32) // which has no limits of files, and other permissions
TEST_P(snapshot_file, that_cannot_be_written_leaves_the_former_one) {
    write(file_, first_);
    {
        const support::file_size_limit limit(1000);
        EXPECT_EQ(error_of_writing(file_, second_), std::errc::file_too_large);
    }
    EXPECT_EQ(read_snapshot_file(file_), first_);
    EXPECT_EQ(files_in(directory_.path()), 1);
}

TEST_P(snapshot_file, that_cannot_be_renamed_leaves_nothing) {
    const path folder = directory_.path() / "folder";
    std::filesystem::create_directories(folder / "full");
    EXPECT_EQ(error_of_writing(folder, first_), std::errc::is_a_directory);
    EXPECT_EQ(files_in(directory_.path()), 1);
}

TEST_P(snapshot_file, keeps_its_permissions_and_its_place) {
    using std::filesystem::perms;
    write(file_, first_);
    std::filesystem::permissions(file_, perms::owner_read | perms::owner_write);
    const path link = directory_.path() / "link";
    std::filesystem::create_symlink("a.save", link);
    write(link, second_);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(std::filesystem::status(file_).permissions(), perms::owner_read | perms::owner_write);
    EXPECT_EQ(read_snapshot_file(file_), second_);
}

TEST_P(snapshot_file, may_be_a_pipe) {
    ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
    auto reader = std::async(std::launch::async, [&] { return read_snapshot_file(file_); });
    write(file_, second_);
    EXPECT_EQ(reader.get(), second_);
    EXPECT_TRUE(std::filesystem::is_fifo(file_));
}

TEST_P(snapshot_file, that_is_a_folder_is_none) {
    EXPECT_EQ(message_of<std::system_error>([&] { read_snapshot_file(directory_.path()); }),
              directory_.path().string() + ": Is a directory");
}
#endif

INSTANTIATE_TEST_SUITE_P(disk, snapshot_file, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "waits" : "does_not_wait"; });

} // namespace
} // namespace handlepool::test
