// SPDX-License-Identifier: MIT

// Which snapshot and journals of a folder a process goes on from.

#include "made_snapshot.hpp"

#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <gtest/gtest.h>
#include <tests/support/files_in.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#endif

namespace handlepool::test {
namespace {

struct saved_worlds : testing::Test {
    void write_snapshot(std::uint64_t frame) const {
        write_snapshot_file(snapshot_file_of(folder, frame), two_blocks(), {.sync = false});
    }
    void write_journal(std::uint64_t from, std::uint64_t to, std::uint64_t world = 1) const {
        journal_writer journal = journal_writer::create(journal_file_of(folder, from),
                                                        {.world = world, .frame = from}, {.sync_every = 0});
        while (journal.frame() != to) {
            journal.append(journal.frame() + 1, {});
        }
    }
    void cut_off(const std::filesystem::path& file) const {
        std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    }
    std::set<std::filesystem::path> files() const { return files_in(folder); }
    std::vector<std::filesystem::path> journals(std::vector<std::uint64_t> frames) const {
        std::vector<std::filesystem::path> files;
        for (const std::uint64_t each : frames) {
            files.push_back(journal_file_of(folder, each));
        }
        return files;
    }

    const support::scratch_directory directory;
    const std::filesystem::path& folder = directory.path();
};

TEST_F(saved_worlds, have_names_in_the_order_of_their_frames) {
    EXPECT_EQ(snapshot_file_of("world", 100), "world/00000000000000000100.snapshot");
    EXPECT_EQ(journal_file_of("world", ~std::uint64_t{0}), "world/18446744073709551615.journal");
}

TEST_F(saved_worlds, are_none_in_an_empty_folder) {
    EXPECT_FALSE(find_saved_world(folder));
    for (const char* const name : {"100.snapshot", "0000000000000000010x.snapshot",
                                   "00000000000000000100.snapshot.1", "99999999999999999999.snapshot"}) {
        std::ofstream out(folder / name);
    }
    EXPECT_FALSE(find_saved_world(folder));
    EXPECT_EQ(message_of<std::system_error>([&] { find_saved_world(folder / "missing"); }),
              (folder / "missing").string() + ": No such file or directory");
}

TEST_F(saved_worlds, begin_with_the_newest_snapshot) {
    write_snapshot(100);
    write_journal(100, 200);
    write_snapshot(200);
    std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->frame, 200u);
    EXPECT_EQ(found->snapshot, two_blocks());
    EXPECT_EQ(found->journals, journals({}));
    EXPECT_EQ(found->last_frame, 200u);
    EXPECT_EQ(found->passed_over, std::vector<std::string>());

    write_journal(200, 207);
    cut_off(journal_file_of(folder, 200));
    found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->journals, journals({200}));
    EXPECT_EQ(found->last_frame, 206u);
}

TEST_F(saved_worlds, end_with_a_journal_that_has_nothing_yet) {
    write_snapshot(0);
    write_journal(0, 100);
    write_journal(100, 100);
    const auto found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->journals, journals({0, 100}));
    EXPECT_EQ(found->last_frame, 100U);
}

TEST_F(saved_worlds, go_on_with_their_last_journal) {
    write_snapshot(0);
    write_journal(0, 7);
    const auto found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(open_last_journal(*found, 1).frame(), 7U);
    write_snapshot(7);
    write_journal(7, 7);
    const auto next = find_saved_world(folder);
    ASSERT_TRUE(next);
    journal_writer journal =
        open_last_journal(*next, 1, {.sync_every = 0}); // though it ends with its name's frame
    journal.append(8, {});
    EXPECT_EQ(journal.synced_frame(), 7U);
}

TEST_F(saved_worlds, go_on_with_no_journal_of_another) {
    write_snapshot(0);
    write_journal(0, 7);
    const auto found = find_saved_world(folder);
    ASSERT_TRUE(found);
    const std::filesystem::path file = journal_file_of(folder, 0);
    std::ofstream(file, std::ios::binary | std::ios::app) << "torn"; // which opening would cut off
    const auto size = std::filesystem::file_size(file);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { open_last_journal(*found, 2); }),
              "open_last_journal: '" + file.string() + "' is of world 1, and not of world 2");
    EXPECT_EQ(std::filesystem::file_size(file), size);
    EXPECT_EQ(open_last_journal(*found, 1).frame(), 7U);
    EXPECT_LT(std::filesystem::file_size(file), size);
}

TEST_F(saved_worlds, go_on_with_a_first_journal) {
    write_snapshot(3);
    const auto found = find_saved_world(folder);
    ASSERT_TRUE(found);
    journal_writer journal = open_last_journal(*found, 7, {.sync_every = 0});
    EXPECT_EQ(journal.origin(), (journal_origin{.world = 7, .frame = 3}));
    journal.append(4, {});
    EXPECT_EQ(journal.synced_frame(), 3U);
    EXPECT_EQ(find_saved_world(folder)->journals, journals({3}));
    EXPECT_EQ(find_saved_world(folder)->last_frame, 4U);
    EXPECT_EQ(message_of<std::system_error>([&] { open_last_journal(*found, 7); }),
              journal_file_of(folder, 3).string() + ": File exists");
}

TEST_F(saved_worlds, do_not_go_on_from_a_snapshot_that_another_process_has_left_behind) {
    write_snapshot(3);
    const auto found = find_saved_world(folder);
    ASSERT_TRUE(found);
    write_journal(3, 5);
    write_journal(5, 6);
    write_snapshot(5);
    EXPECT_EQ(remove_saved_before(folder, 5), 2U);
    EXPECT_EQ(message_of<std::system_error>([&] { open_last_journal(*found, 1); }),
              journal_file_of(folder, 3).string() + ": Device or resource busy");
    EXPECT_FALSE(std::filesystem::exists(journal_file_of(folder, 3)));
    EXPECT_EQ(find_saved_world(folder)->passed_over, std::vector<std::string>());
}

TEST_F(saved_worlds, begin_with_a_snapshot_and_its_journal) {
    {
        journal_writer journal = begin_saved_world(folder, 3, two_blocks(), 7, {.sync_every = 0});
        EXPECT_EQ(journal.origin(), (journal_origin{.world = 7, .frame = 3}));
        journal.append(4, {});
        EXPECT_EQ(journal.synced_frame(), 3U);
    }
    const auto found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->folder, folder);
    EXPECT_EQ(found->snapshot, two_blocks());
    EXPECT_EQ(found->journals, journals({3}));
    EXPECT_EQ(found->last_frame, 4U);
    EXPECT_EQ(message_of<std::system_error>([&] { begin_saved_world(folder, 3, two_blocks(), 8); }),
              snapshot_file_of(folder, 3).string() + ": File exists");
    EXPECT_EQ(find_saved_world(folder)->last_frame, 4U);
}

// Both have found nothing, and the other one was so much faster that its first files are gone already.
TEST_F(saved_worlds, do_not_begin_where_another_one_has_gone_on) {
    write_snapshot(5);
    write_journal(5, 6);
    const auto before = files();
    EXPECT_THROW(begin_saved_world(folder, 3, two_blocks(), 7), std::system_error);
    EXPECT_EQ(files(), before);
    EXPECT_EQ(find_saved_world(folder)->last_frame, 6U);
}

// Its snapshot was lost: what it says of that world would be read behind the new one.
TEST_F(saved_worlds, do_not_begin_beside_a_journal_without_its_snapshot) {
    for (const std::uint64_t frame : {3U, 9U}) {
        write_journal(frame, frame + 1);
        EXPECT_EQ(message_of<std::system_error>([&] { begin_saved_world(folder, 3, two_blocks(), 7); }),
                  journal_file_of(folder, frame).string() + ": File exists");
        EXPECT_EQ(files(), std::set{journal_file_of(folder, frame)});
        EXPECT_TRUE(std::filesystem::remove(journal_file_of(folder, frame)));
    }
    EXPECT_EQ(begin_saved_world(folder, 3, two_blocks(), 7).frame(), 3U);
}

TEST_F(saved_worlds, begin_again_where_a_process_was_killed_as_it_began) {
    write_journal(0, 0);
    write_journal(3, 3, 2);
    std::ofstream(folder / "first.journal.new") << "x";
    EXPECT_EQ(begin_saved_world(folder, 3, two_blocks(), 7).origin(),
              (journal_origin{.world = 7, .frame = 3}));
    EXPECT_EQ(files(), (std::set{journal_file_of(folder, 3), snapshot_file_of(folder, 3)}));
    write_journal(5, 5); // beside a snapshot it is another process's
    EXPECT_THROW(begin_saved_world(folder, 5, two_blocks(), 7), std::system_error);
    EXPECT_EQ(files().size(), 3U);
}

// The journal comes before the snapshot, also of a process that goes on.
TEST_F(saved_worlds, do_not_begin_beside_a_journal_that_another_process_has_open) {
    const journal_writer other =
        journal_writer::create(journal_file_of(folder, 9), {.world = 1, .frame = 9}, {.sync_every = 0});
    EXPECT_EQ(message_of<std::system_error>([&] { begin_saved_world(folder, 3, two_blocks(), 7); }),
              journal_file_of(folder, 9).string() + ": Device or resource busy");
    EXPECT_EQ(files(), std::set{journal_file_of(folder, 9)});
}

// A snapshot is the reason before what may be damaged beside it; a torn entry was one.
TEST_F(saved_worlds, do_not_begin_beside_what_is_damaged) {
    write_journal(9, 10);
    cut_off(journal_file_of(folder, 9));
    EXPECT_EQ(message_of<std::system_error>([&] { begin_saved_world(folder, 3, two_blocks(), 7); }),
              journal_file_of(folder, 9).string() + ": File exists");
    std::ofstream(journal_file_of(folder, 9)) << "nothing";
    EXPECT_EQ(message_of<std::system_error>([&] { begin_saved_world(folder, 3, two_blocks(), 7); }),
              journal_file_of(folder, 9).string() + ": File exists");
    write_snapshot(5);
    EXPECT_EQ(message_of<std::system_error>([&] { begin_saved_world(folder, 3, two_blocks(), 7); }),
              snapshot_file_of(folder, 5).string() + ": File exists");
    EXPECT_EQ(files(), (std::set{journal_file_of(folder, 9), snapshot_file_of(folder, 5)}));
}

#if !defined(_WIN32)
TEST_F(saved_worlds, that_have_no_room_for_their_snapshot_leave_nothing) {
    struct rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small{.rlim_cur = 1 << 16, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::vector<std::byte> large(1 << 20);
    EXPECT_EQ(message_of<std::system_error>([&] { begin_saved_world(folder, 3, large, 7); }),
              snapshot_file_of(folder, 3).string() + ": File too large");
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, signal_before);
    EXPECT_EQ(files(), std::set<std::filesystem::path>());
}
#endif

TEST_F(saved_worlds, begin_once_whatever_the_frames_of_those_who_begin) {
    for (int round = 0; round != 50; ++round) {
        std::barrier begins(3);
        std::array<std::optional<journal_writer>, 3> journals;
        {
            std::vector<std::jthread> beginners;
            for (std::size_t i = 0; i != 3; ++i) {
                beginners.emplace_back([&, i] {
                    begins.arrive_and_wait();
                    try {
                        journals[i] = begin_saved_world(folder, i / 2, two_blocks(), i, {.sync_every = 0});
                    } catch (const std::system_error&) { // another one was faster
                    }
                });
            }
        }
        ASSERT_EQ(std::ranges::count(journals, true, &std::optional<journal_writer>::has_value), 1);
        const std::uint64_t frame =
            (*std::ranges::find_if(journals, [](auto& each) { return each.has_value(); }))->frame();
        ASSERT_EQ(files(), (std::set{journal_file_of(folder, frame), snapshot_file_of(folder, frame)}));
        std::filesystem::remove(journal_file_of(folder, frame));
        std::filesystem::remove(snapshot_file_of(folder, frame));
    }
}

#if !defined(_WIN32)
TEST_F(saved_worlds, are_looked_for_again_if_they_are_removed_meanwhile) {
    const std::filesystem::path slow = snapshot_file_of(folder, 100);
    ASSERT_EQ(mkfifo(slow.c_str(), 0600), 0);
    const std::jthread other([&] { // has gone on before the snapshot was read
        std::ofstream out(slow, std::ios::binary);
        write_journal(102, 103);
        write_snapshot(102);
        remove_saved_before(folder, 102);
        const std::vector<std::byte> bytes = two_blocks();
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->frame, 102U);
    EXPECT_EQ(found->last_frame, 103U);
    EXPECT_EQ(found->journals, journals({102}));
    EXPECT_EQ(found->passed_over, std::vector<std::string>());
}
#endif

TEST_F(saved_worlds, go_on_with_one_process_alone) {
    write_snapshot(0);
    write_journal(0, 7);
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    const auto error_of_another = [&] {
        return message_of<std::system_error>([&] { open_last_journal(*found, 1); });
    };
    const std::string busy = found->journals.back().string() + ": Device or resource busy";
    {
        journal_writer other = open_last_journal(*found, 1);
        EXPECT_EQ(error_of_another(), busy);
        other.append(8, {});
    }
    EXPECT_EQ(error_of_another(), busy); // it does not know all that the other one has left
    const std::optional<saved_world> later = find_saved_world(folder);
    ASSERT_TRUE(later);
    EXPECT_EQ(open_last_journal(*later, 1).frame(), 8U);
    write_journal(8, 8); // by the other one, before it ends the one that both have found
    EXPECT_EQ(message_of<std::system_error>([&] { open_last_journal(*later, 1); }), busy);
}

TEST_F(saved_worlds, are_reached_from_an_older_snapshot) {
    for (std::uint64_t frame = 100; frame != 400; frame += 100) {
        write_snapshot(frame);
        write_journal(frame, frame + 100);
    }
    cut_off(snapshot_file_of(folder, 200));
    cut_off(snapshot_file_of(folder, 300));
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->frame, 100u);
    EXPECT_EQ(found->journals, journals({100, 200, 300}));
    EXPECT_EQ(found->last_frame, 400u);
    ASSERT_EQ(found->passed_over.size(), 2u);
    EXPECT_TRUE(found->passed_over[0].starts_with("snapshot '" + snapshot_file_of(folder, 300).string() +
                                                  "', byte "));
}

TEST_F(saved_worlds, say_what_does_not_go_on_from_them) {
    write_snapshot(100);
    write_journal(100, 200);
    write_snapshot(200);
    write_journal(200, 300);
    cut_off(snapshot_file_of(folder, 200));
    cut_off(journal_file_of(folder, 100));
    const std::optional<saved_world> found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->last_frame, 199u);
    EXPECT_EQ(found->journals, journals({100}));
    ASSERT_EQ(found->passed_over.size(), 2u);
    EXPECT_EQ(found->passed_over[1],
              "journal '" + journal_file_of(folder, 200).string() +
                  "': it goes on from frame 200, and frame 199 is the last one before it");
}

TEST_F(saved_worlds, are_whole_while_a_snapshot_is_written_behind_its_journal) {
    write_snapshot(0);
    write_journal(0, 200);
    write_journal(200, 203);
    auto found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->frame, 0U);
    EXPECT_EQ(found->journals, journals({0, 200}));
    EXPECT_EQ(found->last_frame, 203U);
    write_snapshot(200);
    found = find_saved_world(folder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->frame, 200U);
    EXPECT_EQ(found->journals, journals({200}));
    EXPECT_EQ(found->last_frame, 203U);
}

TEST_F(saved_worlds, lose_what_came_before_a_frame) {
    write_snapshot(0);
    write_journal(0, 100);
    write_snapshot(100);
    write_journal(100, 200);
    write_snapshot(200);
    write_journal(200, 201);
    const std::vector<std::string> stay = {"00000000000000000000.text", "00000000000000000200.journal",
                                           "00000000000000000200.snapshot",
                                           "00000000000000000300.journal.new", "100.snapshot"};
    for (const char* const name :
         {"00000000000000000000.text", "00000000000000000100.snapshot.7-1.part",
          "00000000000000000150.journal.new", "00000000000000000300.journal.new", "100.snapshot"}) {
        std::ofstream(folder / name) << "unfinished";
    }
    EXPECT_EQ(remove_saved_before(folder, 200), 6U);
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        names.push_back(each.path().filename().string());
    }
    std::ranges::sort(names);
    EXPECT_EQ(names, stay);
    EXPECT_EQ(find_saved_world(folder)->last_frame, 201U);
    EXPECT_EQ(remove_saved_before(folder, 200), 0U);
}

// Or another process could take the snapshot, without journals, for the world.
TEST_F(saved_worlds, lose_their_snapshots_before_their_journals) {
    for (const std::uint64_t frame : {0U, 1U, 2U, 3U}) {
        write_snapshot(frame);
        const std::filesystem::path journal = journal_file_of(folder, frame);
        std::filesystem::create_directories(journal / "that can't be removed");
    }
    EXPECT_THROW(remove_saved_before(folder, 3), std::system_error);
    EXPECT_EQ(saved_frames(folder), std::vector<std::uint64_t>{3});
}

TEST_F(saved_worlds, lose_nothing_for_a_frame_that_has_no_snapshot) {
    write_snapshot(0);
    write_journal(0, 100);
    EXPECT_EQ(message_of<std::system_error>([&] { remove_saved_before(folder, 100); }),
              (folder / "00000000000000000100.snapshot").string() + ": No such file or directory");
    EXPECT_EQ(find_saved_world(folder)->last_frame, 100U);
}

TEST_F(saved_worlds, without_a_whole_snapshot_are_an_error) {
    write_snapshot(100);
    write_snapshot(200);
    cut_off(snapshot_file_of(folder, 100));
    cut_off(snapshot_file_of(folder, 200));
    EXPECT_TRUE(message_of<invalid_snapshot>([&] {
                    find_saved_world(folder);
                }).starts_with("snapshot '" + snapshot_file_of(folder, 200).string() + "', byte "));
}

TEST_F(saved_worlds, refuse_journals_of_another_world_or_frame) {
    write_snapshot(100);
    write_journal(100, 200, 1);
    write_journal(200, 300, 2);
    EXPECT_EQ(message_of<invalid_journal>([&] { find_saved_world(folder); }),
              "journal '" + journal_file_of(folder, 200).string() +
                  "': it is of world 2, and the one before it of world 1");
    std::filesystem::rename(journal_file_of(folder, 200), journal_file_of(folder, 100));
    EXPECT_EQ(message_of<invalid_journal>([&] { find_saved_world(folder); }),
              "journal '" + journal_file_of(folder, 100).string() +
                  "': it goes on from frame 200, and its name says 100");
}

} // namespace
} // namespace handlepool::test
