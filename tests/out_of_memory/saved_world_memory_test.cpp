// SPDX-License-Identifier: MIT

// Worlds in a folder that are begun, or gone on with, while allocations fail.

#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/saved_world.hpp>

#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/failing_new.hpp>
#include <tests/support/files_in.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>

namespace handlepool::test {
namespace {

class saved_world_memory : public testing::TestWithParam<shortage> {
protected:
    std::set<std::filesystem::path> files() const { return files_in(folder); }

    const support::scratch_directory directory;
    const std::filesystem::path folder = directory.path() / "a folder whose name no small string holds";
};

TEST_P(saved_world_memory, a_world_that_is_not_begun_leaves_no_file) {
    std::filesystem::create_directory(folder);
    const auto snapshot = two_blocks();
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        if (short_of.hits([&] { begin_saved_world(folder, 3, snapshot, 7); })) {
            EXPECT_EQ(files(), std::set<std::filesystem::path>());
            begin_saved_world(folder, 3, snapshot, 7);
        }
        EXPECT_EQ(files(), (std::set{journal_file_of(folder, 3), snapshot_file_of(folder, 3)}));
        std::filesystem::remove(journal_file_of(folder, 3));
        std::filesystem::remove(snapshot_file_of(folder, 3));
    });
    EXPECT_GT(allocations, 10U);
}

TEST_P(saved_world_memory, a_journal_that_is_not_made_leaves_no_file) {
    std::filesystem::create_directory(folder);
    begin_saved_world(folder, 3, two_blocks(), 7);
    std::filesystem::remove(journal_file_of(folder, 3));
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        if (short_of.hits([&] { open_last_journal(*found, 7); })) {
            EXPECT_EQ(files(), std::set{snapshot_file_of(folder, 3)});
            open_last_journal(*found, 7);
        }
        std::filesystem::remove(journal_file_of(folder, 3));
    });
    EXPECT_GT(allocations, 5U);
}

INSTANTIATE_TEST_SUITE_P(memory, saved_world_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
