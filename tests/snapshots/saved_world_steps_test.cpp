// SPDX-License-Identifier: MIT

// What another process does between two steps of one that begins a world or goes on with one, and what the
// disk does. The test's functions take the place of the system's.

#if !defined(_WIN32)

#include "made_snapshot.hpp"

#include <handlepool/detail/journal/journal_file.hpp>
#include <handlepool/snapshots/journal_storage.hpp>
#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <tests/support/files_in.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace {

int listings_to_hide = 0; // in so many that come next, no file is there
// The one with this number from now on, and 0 for none.
int listing_to_fail = 0;
int folder_sync_to_fail = 0;
int look_at_snapshot_to_fail = 0;
int look_at_journal_to_fail = 0;        // one that does not follow links
int lockings_to_interrupt = 0;          // so many that come next
std::function<void()> before_a_removal; // of the next file with this name
std::string removed_name;
std::function<void()> before_locking;  // the next file
std::function<void()> before_renaming; // the next file

bool fails_now(int& number) {
    if (number == 0 || --number != 0) {
        return false;
    }
    errno = EIO;
    return true;
}

template <class Function>
Function* behind(Function*, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void note_removal(const char* path) {
    if (before_a_removal && std::filesystem::path(path).filename() == removed_name) {
        std::exchange(before_a_removal, nullptr)();
    }
}

} // namespace

extern "C" dirent* readdir(DIR* folder) {
    for (;;) {
        dirent* const found = behind(&::readdir, "readdir")(folder);
        if (found == nullptr) {
            if (listings_to_hide != 0) { // not written to otherwise: threads of other tests list folders, too
                --listings_to_hide;
            }
            fails_now(listing_to_fail);
            return nullptr;
        }
        if (listings_to_hide == 0) {
            errno = EINVAL; // as it may where there is no error
            return found;
        }
    }
}

extern "C" int fsync(int file) {
    struct stat status{};
    if (::fstat(file, &status) == 0 && S_ISDIR(status.st_mode) && fails_now(folder_sync_to_fail)) {
        return -1;
    }
    return behind(&::fsync, "fsync")(file);
}

extern "C" int stat(const char* path, struct stat* status) noexcept {
    if (std::filesystem::path(path).extension() == ".snapshot" && fails_now(look_at_snapshot_to_fail)) {
        return -1;
    }
    return behind(&::stat, "stat")(path, status);
}

extern "C" int lstat(const char* path, struct stat* status) noexcept {
    if (std::filesystem::path(path).extension() == ".journal" && fails_now(look_at_journal_to_fail)) {
        return -1;
    }
    return behind(&::lstat, "lstat")(path, status);
}

extern "C" int rename(const char* from, const char* to) noexcept {
    if (before_renaming) {
        std::exchange(before_renaming, nullptr)();
    }
    return behind(&::rename, "rename")(from, to);
}

extern "C" int flock(int file, int operation) noexcept {
    if (before_locking) {
        std::exchange(before_locking, nullptr)();
    }
    if (lockings_to_interrupt != 0) {
        --lockings_to_interrupt;
        errno = EINTR;
        return -1;
    }
    return behind(&::flock, "flock")(file, operation);
}

extern "C" int remove(const char* path) noexcept {
    note_removal(path);
    return behind(&::remove, "remove")(path);
}

extern "C" int unlink(const char* path) noexcept {
    note_removal(path);
    return behind(&::unlink, "unlink")(path);
}

namespace handlepool::test {
namespace {

struct saved_world_steps : testing::Test {
    void TearDown() override {
        listings_to_hide = listing_to_fail = folder_sync_to_fail = 0;
        look_at_snapshot_to_fail = look_at_journal_to_fail = lockings_to_interrupt = 0;
        before_a_removal = before_locking = before_renaming = nullptr;
    }

    std::set<std::filesystem::path> files() const { return files_in(folder); }
    void leave_journal(std::uint64_t frame) const {
        journal_writer::create(journal_file_of(folder, frame), {.world = 1, .frame = frame},
                               {.sync_every = 0});
    }
    std::string error_of_beginning() const {
        return message_of<std::system_error>([&] { begin_saved_world(folder, 3, two_blocks(), 7); });
    }
    /// What another process does before this one removes a file of that name.
    template <class Other>
    void before_removal_of(const std::filesystem::path& file, Other other) const {
        removed_name = file.filename().string();
        before_a_removal = other;
    }

    const support::scratch_directory directory;
    const std::filesystem::path& folder = directory.path();
};

// A folder is not read in one moment.
TEST_F(saved_world_steps, a_world_that_the_first_look_has_missed_is_seen_by_the_second) {
    const auto error = [&] {
        listings_to_hide = 2; // of who opens the folder, and of the first look
        return error_of_beginning();
    };
    leave_journal(5);
    EXPECT_EQ(error(), journal_file_of(folder, 5).string() + ": File exists");
    EXPECT_EQ(listings_to_hide, 0);
    write_snapshot_file(snapshot_file_of(folder, 5), two_blocks(), {.sync = false});
    EXPECT_EQ(error(), snapshot_file_of(folder, 5).string() + ": File exists");
    EXPECT_EQ(listings_to_hide, 0);
    EXPECT_EQ(files(), (std::set{journal_file_of(folder, 5), snapshot_file_of(folder, 5)}));
}

TEST_F(saved_world_steps, a_snapshot_whose_name_the_disk_may_not_have_is_removed) {
    folder_sync_to_fail = 2; // the first is that of the journal
    EXPECT_EQ(error_of_beginning(), snapshot_file_of(folder, 3).string() + ": Input/output error");
    EXPECT_EQ(folder_sync_to_fail, 0);
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
}

// Else it would be in the way of the next one.
TEST_F(saved_world_steps, a_journal_whose_name_the_disk_may_not_have_is_removed) {
    const auto error_of = [&](const auto& make) {
        folder_sync_to_fail = 1;
        const std::string error = message_of<std::system_error>(make);
        EXPECT_EQ(folder_sync_to_fail, 0);
        return error;
    };
    const auto error_of_journal = [&](std::uint64_t frame) {
        return "journal '" + journal_file_of(folder, frame).string() + "' can't be made: Input/output error";
    };
    const std::filesystem::path file = journal_file_of(folder, 8);
    EXPECT_EQ(error_of([&] { journal_writer::create(file, {.world = 1, .frame = 8}); }), error_of_journal(8));
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
    EXPECT_EQ(error_of([&] { begin_saved_world(folder, 3, two_blocks(), 7); }), error_of_journal(3));
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
    write_snapshot_file(snapshot_file_of(folder, 0), two_blocks(), {.sync = false});
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(error_of([&] { open_last_journal(*found, 1); }), error_of_journal(0));
    EXPECT_EQ(files(), std::set{snapshot_file_of(folder, 0)});
    open_last_journal(*found, 1);
}

TEST_F(saved_world_steps, a_journal_is_removed_when_the_second_look_fails) {
    listing_to_fail = 3; // of who opens the folder, and of the two looks
    EXPECT_EQ(error_of_beginning(), folder.string() + ": Input/output error");
    EXPECT_EQ(listing_to_fail, 0);
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
}

TEST_F(saved_world_steps, a_journal_to_go_on_with_is_removed_when_the_look_at_its_snapshot_fails) {
    write_snapshot_file(snapshot_file_of(folder, 0), two_blocks(), {.sync = false});
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    look_at_snapshot_to_fail = 1;
    EXPECT_THROW(open_last_journal(*found, 1), std::filesystem::filesystem_error);
    EXPECT_EQ(look_at_snapshot_to_fail, 0);
    EXPECT_EQ(files(), std::set{snapshot_file_of(folder, 0)});
}

TEST_F(saved_world_steps, nobody_begins_until_another_beginner_has_ended) {
    std::string error;
    before_removal_of("first.journal.new", [&] { error = error_of_beginning(); });
    begin_saved_world(folder, 3, two_blocks(), 7);
    EXPECT_EQ(error, (folder / "first.journal").string() + ": Device or resource busy");
    EXPECT_EQ(files(), (std::set{journal_file_of(folder, 3), snapshot_file_of(folder, 3)}));
}

TEST_F(saved_world_steps, nobody_opens_a_journal_that_is_removed_as_one_that_was_left) {
    leave_journal(8);
    leave_journal(9);
    for (const std::uint64_t frame : {8U, 9U}) {
        std::string error;
        before_removal_of(journal_file_of(folder, frame), [&] {
            error =
                message_of<std::system_error>([&] { journal_writer::open(journal_file_of(folder, frame)); });
        });
        begin_saved_world(folder, 3, two_blocks(), 7);
        EXPECT_EQ(error, journal_file_of(folder, frame).string() + ": Device or resource busy");
        EXPECT_EQ(files(), (std::set{journal_file_of(folder, 3), snapshot_file_of(folder, 3)}));
        std::filesystem::remove(journal_file_of(folder, 3));
        std::filesystem::remove(snapshot_file_of(folder, 3));
        leave_journal(8);
        leave_journal(9);
    }
}

// Somebody has emptied the folder since the world was found, and another process begins one there.
TEST_F(saved_world_steps, who_does_not_go_on_removes_its_own_journal_and_no_other) {
    write_snapshot_file(snapshot_file_of(folder, 0), two_blocks(), {.sync = false});
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    std::filesystem::remove(snapshot_file_of(folder, 0));
    std::string error;
    before_removal_of(journal_file_of(folder, 0), [&] {
        error = message_of<std::system_error>([&] { begin_saved_world(folder, 0, two_blocks(), 9); });
    });
    EXPECT_EQ(message_of<std::system_error>([&] { open_last_journal(*found, 1); }),
              journal_file_of(folder, 0).string() + ": Device or resource busy");
    EXPECT_EQ(error, journal_file_of(folder, 0).string() + ": Device or resource busy");
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
}

TEST_F(saved_world_steps, names_the_folder_that_is_none) {
    const std::filesystem::path none = folder / "none";
    const auto error = [&] {
        return message_of<std::system_error>([&] { begin_saved_world(none, 3, two_blocks(), 7); });
    };
    EXPECT_EQ(error(), none.string() + ": No such file or directory");
    leave_journal(9);
    std::filesystem::rename(journal_file_of(folder, 9), none);
    EXPECT_EQ(error(), none.string() + ": Not a directory");
}

TEST_F(saved_world_steps, names_what_lies_where_an_unfinished_file_goes) {
    const std::filesystem::path unfinished = folder / "first.journal.new";
    std::filesystem::create_directory(unfinished);
    EXPECT_EQ(error_of_beginning(), unfinished.string() + ": Is a directory");
    EXPECT_EQ(files(), std::set{unfinished});
}

TEST_F(saved_world_steps, writes_to_nothing_behind_a_link_where_an_unfinished_file_goes) {
    const std::filesystem::path unfinished = folder / "first.journal.new";
    const std::filesystem::path behind_it = folder / "behind it";
    std::filesystem::create_symlink(behind_it.filename(), unfinished);
    const std::string error = unfinished.string() + ": Too many levels of symbolic links";
    EXPECT_EQ(error_of_beginning(), error);
    EXPECT_EQ(files(), std::set{unfinished});
    std::ofstream(behind_it) << "kept";
    EXPECT_EQ(error_of_beginning(), error);
    EXPECT_EQ(files(), (std::set{unfinished, behind_it}));
    EXPECT_EQ(support::read_file(behind_it), "kept");
}

TEST_F(saved_world_steps, writes_to_no_pipe_where_an_unfinished_file_goes) {
    const std::filesystem::path unfinished = folder / "first.journal.new";
    ASSERT_EQ(::mkfifo(unfinished.c_str(), 0600), 0);
    EXPECT_EQ(error_of_beginning(), unfinished.string() + ": File exists");
    EXPECT_EQ(files(), std::set{unfinished});
}

// ---- A journal's file

struct journal_file_steps : saved_world_steps {
    std::unique_ptr<journal_storage> create() const {
        return detail::open_journal_file(file, detail::journal_file_use::create);
    }
    std::string error_of_creating() const {
        return message_of<std::system_error>([&] { journal_writer::create(file, {.world = 1, .frame = 0}); });
    }
    static void write_another_to(const std::filesystem::path& name) {
        std::filesystem::remove(name);
        std::ofstream(name) << "another's";
    }

    const std::filesystem::path file = folder / "0.journal";
    const std::filesystem::path unfinished = folder / "0.journal.new";
    const std::string is_busy = file.string() + ": Device or resource busy";
};

TEST_F(journal_file_steps, one_that_was_finished_stays_whatever_its_name_is) {
    {
        const journal_writer journal = journal_writer::create(file, {.world = 1, .frame = 0});
        std::filesystem::rename(file, unfinished);
    }
    EXPECT_EQ(files(), std::set{unfinished});
}

TEST_F(journal_file_steps, an_unfinished_one_of_another_stays) {
    {
        const std::unique_ptr<journal_storage> made = create();
        write_another_to(unfinished);
    }
    EXPECT_EQ(files(), std::set{unfinished});
}

TEST_F(journal_file_steps, what_is_not_its_own_file_is_not_published) {
    const std::unique_ptr<journal_storage> made = create();
    std::error_code error;
    write_another_to(unfinished);
    made->publish(error);
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    EXPECT_EQ(files(), std::set{unfinished});
    std::filesystem::remove(unfinished);
    made->publish(error);
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
}

// Though it comes after the look, and is named in its place.
TEST_F(journal_file_steps, that_of_another_is_not_taken_for_its_own) {
    const std::unique_ptr<journal_storage> made = create();
    before_renaming = [&] { write_another_to(unfinished); };
    std::error_code error;
    made->publish(error);
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    EXPECT_EQ(files(), std::set{file});
    EXPECT_EQ(support::read_file(file), "another's");
}

TEST_F(journal_file_steps, a_link_to_it_is_not_published) {
    const std::unique_ptr<journal_storage> made = create();
    const std::filesystem::path moved = folder / "moved";
    std::filesystem::rename(unfinished, moved);
    std::filesystem::create_symlink(moved.filename(), unfinished);
    std::error_code error;
    made->publish(error);
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    EXPECT_EQ(files(), (std::set{moved, unfinished}));
}

TEST_F(journal_file_steps, one_that_has_another_name_as_well_is_not_written_to) {
    const std::filesystem::path kept = folder / "kept";
    std::ofstream(kept) << "kept";
    std::filesystem::create_hard_link(kept, unfinished);
    EXPECT_EQ(message_of<std::system_error>([&] { create(); }), unfinished.string() + ": File exists");
    EXPECT_EQ(files(), (std::set{kept, unfinished}));
    EXPECT_EQ(support::read_file(kept), "kept");
}

TEST_F(journal_file_steps, no_file_is_replaced_where_the_system_does_not_say_whether_there_is_one) {
    write_another_to(file);
    look_at_journal_to_fail = 1;
    EXPECT_EQ(message_of<std::system_error>([&] { create(); }), file.string() + ": Input/output error");
    EXPECT_EQ(files(), std::set{file});
    std::filesystem::remove(file);
    const std::unique_ptr<journal_storage> made = create();
    write_another_to(file);
    look_at_journal_to_fail = 1;
    std::error_code error;
    made->publish(error);
    EXPECT_EQ(error, std::errc::io_error);
    EXPECT_EQ(support::read_file(file), "another's");
}

TEST_F(journal_file_steps, a_signal_while_it_is_locked_is_no_error) {
    lockings_to_interrupt = 2;
    create();
    EXPECT_EQ(lockings_to_interrupt, 0);
}

TEST_F(journal_file_steps, a_finished_one_of_another_stays) {
    {
        const std::unique_ptr<journal_storage> made = create();
        write_another_to(file);
        std::error_code error;
        made->publish(error);
        EXPECT_EQ(error, std::errc::file_exists);
    }
    EXPECT_EQ(files(), std::set{file});
    EXPECT_EQ(std::filesystem::file_size(file), 9U);
}

// Who has opened it is too late to lock it.
TEST_F(journal_file_steps, one_that_goes_before_it_is_locked_is_not_used) {
    std::unique_ptr<journal_storage> first = create();
    before_locking = [&] { first.reset(); };
    EXPECT_EQ(error_of_creating(), is_busy);
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
}

TEST_F(journal_file_steps, one_that_is_replaced_before_it_is_locked_is_not_used) {
    std::unique_ptr<journal_storage> first = create();
    std::unique_ptr<journal_storage> second;
    before_locking = [&] {
        first.reset();
        second = create();
    };
    EXPECT_EQ(error_of_creating(), is_busy);
    EXPECT_EQ(files(), std::set{unfinished});
}

} // namespace
} // namespace handlepool::test

#endif
