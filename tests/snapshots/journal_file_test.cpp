// SPDX-License-Identifier: MIT

// Journals in files: of processes that are killed, of several writers, on a disk without room.

#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>
#include <tests/support/repetitions.hpp>
#include <tests/support/scratch_directory.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

namespace handlepool::test {
namespace {

using std::filesystem::path;

constexpr journal_origin file_origin{.world = 77, .frame = 0};

/// That follow from the frame, so that they can be compared.
std::vector<std::byte> bytes_of_frame(std::uint64_t frame) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(frame * 7919 % 3000));
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>((frame + i) % 251);
    }
    return bytes;
}

void append_frame(journal_writer& journal) {
    const std::vector<std::byte> bytes = bytes_of_frame(journal.frame() + 1);
    journal.append(journal.frame() + 1, {{"bytes", bytes}});
}

/// Whether the entry is that which append_frame() makes.
bool is_right(const journal_reader& journal) {
    const std::vector<std::byte> bytes = bytes_of_frame(journal.frame());
    return journal.parts().size() == 1 && journal.parts()[0].name == "bytes" &&
           std::ranges::equal(journal.parts()[0].bytes, bytes);
}

/// The last frame of a file, all of whose entries are right.
std::uint64_t last_frame_of(const path& file) {
    journal_reader journal(file);
    while (journal.next()) {
        EXPECT_TRUE(is_right(journal)) << journal.frame();
    }
    EXPECT_EQ(journal.tail().bytes, 0u);
    return journal.frame();
}

struct journal_file : testing::Test {
    std::ptrdiff_t files() const {
        return std::distance(std::filesystem::directory_iterator(directory.path()), {});
    }
    std::string error_of_creating() const {
        return message_of<std::system_error>([&] { journal_writer::create(file, file_origin); });
    }
    std::string error_of_opening() const {
        return message_of<std::system_error>([&] { journal_writer::open(file); });
    }

    const support::scratch_directory directory;
    const path file = directory.path() / "0.journal";
    const std::string is_busy = file.string() + ": Device or resource busy";
};

TEST_F(journal_file, goes_on_after_its_writer_has_ended) {
    {
        journal_writer journal = journal_writer::create(file, file_origin);
        append_frame(journal);
    }
    for (std::uint64_t frame = 1; frame != 20; ++frame) {
        journal_writer journal = journal_writer::open(file, {.sync_every = frame % 3});
        EXPECT_EQ(journal.frame(), frame);
        append_frame(journal);
    }
    EXPECT_EQ(last_frame_of(file), 20u);
    EXPECT_EQ(files(), 1);
}

TEST_F(journal_file, that_is_there_is_not_made_again) {
    journal_writer::create(file, file_origin);
    EXPECT_EQ(error_of_creating(), file.string() + ": File exists");
    EXPECT_EQ(files(), 1);
}

TEST_F(journal_file, that_is_not_there_is_an_error) {
    EXPECT_EQ(error_of_opening(), file.string() + ": No such file or directory");
    EXPECT_EQ(message_of<std::system_error>([&] { journal_reader reader(file); }),
              file.string() + ": No such file or directory");
    EXPECT_EQ(message_of<std::system_error>(
                  [&] { journal_writer::create(directory.path() / "missing" / "0.journal", file_origin); }),
              (directory.path() / "missing" / "0.journal").string() + ": No such file or directory");
    EXPECT_EQ(files(), 0);
}

TEST_F(journal_file, has_one_writer) {
    std::optional<journal_writer> journal = journal_writer::create(file, file_origin);
    append_frame(*journal);
    EXPECT_EQ(error_of_opening(), is_busy);
    EXPECT_EQ(message_of<std::system_error>([&] { cut_journal(file, 0); }), is_busy);
    append_frame(*journal);
    EXPECT_EQ(last_frame_of(file), 2u); // readers may come

    journal_writer moved = std::move(*journal);
    journal.reset();
    EXPECT_EQ(error_of_opening(), is_busy);
    journal = std::move(moved);
    append_frame(*journal);
    journal.reset();
    EXPECT_EQ(error_of_opening(), "");
}

TEST_F(journal_file, that_somebody_left_unfinished_is_made) {
    const path unfinished = file.string() + ".new";
    {
        std::ofstream out(unfinished);
        out << std::string(1000, 'x');
    }
    journal_writer journal = journal_writer::create(file, file_origin);
    append_frame(journal);
    EXPECT_EQ(last_frame_of(file), 1u);
    EXPECT_EQ(files(), 1);
}

TEST_F(journal_file, takes_nothing_away_when_it_ends) {
    const path unfinished = file.string() + ".new";
    {
        const journal_writer journal = journal_writer::create(file, file_origin);
        EXPECT_EQ(files(), 1);
        std::ofstream(unfinished) << "another's";
    }
    EXPECT_TRUE(exists(unfinished));
    EXPECT_EQ(files(), 2);
}

TEST_F(journal_file, is_read_while_it_grows) {
    journal_writer journal = journal_writer::create(file, file_origin, {.sync_every = 0});
    std::atomic<bool> ends = false;
    auto reader = std::async(std::launch::async, [&] {
        journal_reader reading(file);
        for (bool is_last = false;; is_last = ends) {
            while (reading.next()) {
                if (!is_right(reading)) {
                    return std::uint64_t{0};
                }
            }
            if (is_last) {
                return reading.frame();
            }
        }
    });
    const auto frames = static_cast<std::uint64_t>(support::repetitions(3000));
    for (std::uint64_t i = 0; i != frames; ++i) {
        append_frame(journal);
    }
    ends = true;
    EXPECT_EQ(reader.get(), frames);
}

TEST_F(journal_file, is_cut_off_after_a_frame) {
    {
        journal_writer journal = journal_writer::create(file, file_origin, {.sync_every = 0});
        while (journal.frame() != 300) {
            append_frame(journal);
        }
    }
    const path copy = directory.path() / "copy.journal";
    cut_journal(file, 200, copy);
    EXPECT_EQ(last_frame_of(copy), 200u);
    EXPECT_EQ(last_frame_of(file), 300u);
    EXPECT_EQ(message_of([&] { cut_journal(file, 100, copy); }), copy.string() + ": File exists");
    EXPECT_EQ(message_of([&] { cut_journal(file, 301); }),
              "journal '" + file.string() + "', byte " + std::to_string(std::filesystem::file_size(file)) +
                  ": the journal ends with frame 300, and frame 301 is not there");

    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    EXPECT_THAT(message_of([&] { cut_journal(file, 300); }),
                testing::EndsWith(" bytes are there; frame 300 is not there"));
    cut_journal(file, 299);
    EXPECT_EQ(last_frame_of(file), 299u);
    journal_writer journal = journal_writer::open(file);
    append_frame(journal);
    EXPECT_EQ(last_frame_of(file), 300u);

    const path later = directory.path() / "50.journal";
    journal_writer::create(later, {.world = 1, .frame = 50});
    EXPECT_EQ(message_of([&] { cut_journal(later, 49); }),
              "journal '" + later.string() +
                  "', byte 24: the journal goes on from frame 50, and has none up to frame 49");
    cut_journal(later, 50);
    EXPECT_EQ(journal_reader(later).frame(), 50u);
}

#if !defined(_WIN32)
TEST_F(journal_file, on_a_full_disk_is_as_it_was) {
    journal_writer journal = journal_writer::create(file, file_origin);
    while (journal.frame() != 10) {
        append_frame(journal);
    }
    const std::uint64_t size = journal.size();
    {
        const support::file_size_limit limit(size + 100);
        EXPECT_EQ(message_of<std::system_error>([&] { append_frame(journal); }),
                  "journal '" + file.string() + "', frame 11: the entry can't be written: File too large");
    }
    EXPECT_FALSE(journal.is_broken());
    EXPECT_EQ(std::filesystem::file_size(file), size);
    append_frame(journal);
    EXPECT_EQ(last_frame_of(file), 11u);
}

/// Appends as fast as it can, and says through the pipe what is done.
[[noreturn]] void append_until_killed(const path& file, int acknowledged) {
    try {
        journal_writer journal = std::filesystem::exists(file)
                                     ? journal_writer::open(file, {.sync_every = 0})
                                     : journal_writer::create(file, file_origin, {.sync_every = 0});
        for (;;) {
            append_frame(journal);
            const std::uint64_t frame = journal.frame();
            if (::write(acknowledged, &frame, sizeof frame) != sizeof frame) {
                break;
            }
        }
    } catch (const std::exception&) {
    }
    ::_exit(1);
}

TEST_F(journal_file, of_a_process_that_is_killed_has_all_that_it_said) {
    random_source random;
    std::uint64_t frame = 0;
    std::uint64_t frames = 0;
    const int rounds = support::repetitions(200);
    for (int round = 0; round != rounds; ++round) {
        if (round % 10 == 0) { // or all time would go to reading a long one
            std::filesystem::remove(file);
            frames += std::exchange(frame, 0);
        }
        std::array<int, 2> pipe{};
        ASSERT_EQ(::pipe(pipe.data()), 0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::close(pipe[0]);
            append_until_killed(file, pipe[1]);
        }
        ::close(pipe[1]);
        const auto read_one = [&] {
            std::uint64_t said = 0;
            const bool is_there = ::read(pipe[0], &said, sizeof said) == sizeof said;
            frame = is_there ? said : frame;
            return is_there;
        };
        for (std::uint64_t i = random.below(20); i != 0 && read_one(); --i) {
        }
        ::usleep(static_cast<useconds_t>(random.below(3000)));
        ::kill(child, SIGKILL);
        while (read_one()) {
        }
        ::close(pipe[0]);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round << ": the process could not append";
        if (!std::filesystem::exists(file)) {
            ASSERT_EQ(frame, 0u);
            continue;
        }
        const journal_writer journal = journal_writer::open(file);
        ASSERT_GE(journal.frame(), frame) << "entries are lost";
        ASSERT_LE(journal.frame(), frame + 1) << "an entry is there that was not appended";
        ASSERT_EQ(journal.tail().whole_entries, 0u);
        frame = journal.frame();
    }
    EXPECT_EQ(last_frame_of(file), frame);
    EXPECT_GT(frames + frame, static_cast<std::uint64_t>(rounds));
}
#endif

} // namespace
} // namespace handlepool::test
