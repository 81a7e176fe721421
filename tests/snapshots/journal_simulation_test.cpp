// SPDX-License-Identifier: MIT

// Journals on a disk that tears, reorders, loses and flips what it was given, and processes that end at any
// write. After each end:
//   - all entries are there that the disk had, by a sync that has returned;
//   - and all that were appended, if only the process has ended;
//   - what is there is a prefix of what was appended;
//   - but where a bit was flipped, or the disk had a later write only: then the journal is refused, or cut
//   off
//     there, as the bytes say;
//   - the journal can be appended to, up to the next end.
//
// HANDLEPOOL_SEED=N runs one seed again, HANDLEPOOL_SEEDS=N that many.

#include "simulated_disk.hpp"

#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>
#include <tests/support/repetitions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using disk_bytes = simulated_disk::bytes;
using entry_content = std::vector<std::pair<std::string, disk_bytes>>;

constexpr journal_origin simulated_origin{.world = 0x1234'5678'9abc'def0, .frame = 1000};
constexpr std::size_t header_size = 40;

std::uint64_t number_in(const disk_bytes& bytes, std::size_t at) {
    return detail::from_little_endian<std::uint64_t>(bytes.data() + at);
}

/// What a file is, by comparing it with all entries that were ever written: not by hashes.
struct known_file {
    std::size_t entries = 0; // that follow each other from the begin
    std::size_t end = header_size;
    std::size_t whole_entries = 0; // behind these
    bool was_synced = false;
};

known_file known_from(const disk_bytes& file, const std::vector<disk_bytes>& given) {
    const auto find_at = [&](std::size_t at) -> const disk_bytes* {
        if (file.size() - at < 64 || std::memcmp(file.data() + at, "hp frame", 8) != 0) {
            return nullptr;
        }
        for (const disk_bytes& each : given) {
            if (each.size() <= file.size() - at &&
                std::memcmp(file.data() + at, each.data(), each.size()) == 0) {
                return &each;
            }
        }
        return nullptr;
    };
    known_file known;
    std::uint64_t hash = number_in(file, header_size - 8);
    const disk_bytes* found = nullptr;
    while ((found = find_at(known.end)) != nullptr && number_in(*found, 24) == hash &&
           number_in(*found, 16) == simulated_origin.frame + known.entries + 1) {
        hash = number_in(*found, found->size() - 8);
        known.end += found->size();
        ++known.entries;
    }
    for (std::size_t at = known.end; at < file.size();) {
        found = find_at(at);
        if (found == nullptr) {
            ++at;
            continue;
        }
        ++known.whole_entries;
        known.was_synced = known.was_synced || number_in(*found, 32) > simulated_origin.frame + known.entries;
        at += found->size();
    }
    return known;
}

/// Reads all entries that can be read, and returns whether nothing was refused.
bool read_all(simulated_disk& disk, std::vector<entry_content>& out) {
    out.clear();
    try {
        journal_reader reader(disk.open(), "simulated");
        EXPECT_EQ(reader.origin(), simulated_origin);
        while (reader.next()) {
            EXPECT_EQ(reader.frame(), simulated_origin.frame + out.size() + 1);
            entry_content& content = out.emplace_back();
            for (const journal_part& part : reader.parts()) {
                content.emplace_back(part.name, disk_bytes(part.bytes.begin(), part.bytes.end()));
            }
        }
        return true;
    } catch (const invalid_journal&) {
        return false;
    }
}

class simulated_world {
public:
    explicit simulated_world(std::uint64_t seed) : random_(seed), disk_(random_.bits()) {}

    void run() {
        for (std::size_t life = 0; life != 6 && !testing::Test::HasFailure(); ++life) {
            live();
            if (testing::Test::HasFailure()) {
                return;
            }
            end();
            check();
        }
    }

private:
    entry_content made_up_entry() {
        entry_content made;
        const std::size_t parts = random_.below(4);
        for (std::size_t i = 0; i != parts; ++i) {
            disk_bytes bytes(random_.below(40));
            std::ranges::generate(bytes, [this] { return static_cast<std::byte>(random_.below(256)); });
            made.emplace_back("part " + std::to_string(i), std::move(bytes));
        }
        return made;
    }

    journal_options options() {
        return {.sync_every = random_.below(4), .repair = journal_repair::cut_unsynced};
    }

    void live() {
        if (random_.below(8) != 0) {
            disk_.end_process_after(random_.below(40));
        }
        try {
            journal_writer journal =
                disk_.is_named()
                    ? journal_writer::open(disk_.open(), "simulated", options())
                    : journal_writer::create(disk_.open(), "simulated", simulated_origin, options());
            ASSERT_EQ(journal.frame(), simulated_origin.frame + appended_.size());
            note_synced(journal);
            disk_.fail_writes_one_in(random_.below(2) == 0 ? 0 : 3);
            const std::uint64_t calls = random_.below(20);
            for (std::uint64_t i = 0; i != calls && !disk_.has_ended(); ++i) {
                append_one(journal);
                if (disk_.has_ended()) {
                    return;
                }
                note_synced(journal);
                if (random_.below(6) == 0) {
                    if (random_.below(10) == 0) {
                        fail_sync(journal);
                        return;
                    }
                    journal.sync();
                    note_synced(journal);
                    ASSERT_EQ(synced_, appended_.size());
                }
            }
        } catch (const std::system_error&) {
            ASSERT_TRUE(disk_.has_ended());
        }
    }

    void note_synced(const journal_writer& journal) {
        synced_ = static_cast<std::size_t>(journal.synced_frame() - simulated_origin.frame);
        ASSERT_LE(synced_, appended_.size());
    }

    void append_one(journal_writer& journal) {
        const std::uint64_t size = journal.size();
        const entry_content content = made_up_entry();
        std::vector<journal_part> parts;
        for (const auto& [name, bytes] : content) {
            parts.push_back({name, bytes});
        }
        appended_.push_back(content); // it may come to the disk whole, even if the process ends
        try {
            journal.append(simulated_origin.frame + appended_.size(), parts);
            if (journal.is_broken()) {
                ADD_FAILURE() << "a broken writer appends";
            }
            acknowledged_ = appended_.size();
        } catch (const std::system_error& error) {
            if (disk_.has_ended()) {
                return;
            }
            ASSERT_EQ(error.code(), std::errc::no_space_on_device);
            ASSERT_FALSE(journal.is_broken());
            ASSERT_EQ(journal.size(), size);
            ASSERT_EQ(disk_.file().size(), size);
            appended_.pop_back();
        }
    }

    /// After that the system ends, too: what it has in its memory is not what it would write.
    void fail_sync(journal_writer& journal) {
        disk_.fail_next_sync();
        system_ends_ = true;
        try {
            journal.sync();
            ADD_FAILURE() << "a sync that failed returns";
        } catch (const std::system_error&) {
            if (!disk_.has_ended()) {
                ASSERT_TRUE(journal.is_broken());
            }
        }
        const std::uint64_t size = journal.size();
        for (int i = 0; i != 2; ++i) {
            try {
                journal.append(journal.frame() + 1, {});
                ADD_FAILURE() << "a broken writer appends";
            } catch (const std::system_error&) {
            }
            try {
                journal.sync();
                ADD_FAILURE() << "a broken writer syncs";
            } catch (const std::system_error&) {
            }
        }
        ASSERT_EQ(journal.size(), size);
    }

    void end() {
        system_crashed_ = std::exchange(system_ends_, false) || random_.below(3) != 0;
        if (system_crashed_) {
            disk_.crash();
        } else {
            disk_.begin_process();
        }
    }

    void check() {
        if (!disk_.is_named()) {
            ASSERT_EQ(acknowledged_, 0u);
            ASSERT_EQ(synced_, 0u);
            appended_.clear();
            return;
        }
        if (random_.below(3) == 0) {
            check_flipped();
        }
        const known_file known = known_from(disk_.file(), disk_.given());
        ASSERT_GE(known.entries, system_crashed_ ? synced_ : acknowledged_) << "entries are lost";
        ASSERT_FALSE(known.was_synced);
        check_opening(known);
        appended_.resize(known.entries);
        acknowledged_ = known.entries;
        synced_ = (std::min)(synced_, known.entries);
    }

    void check_flipped() {
        const auto byte = static_cast<std::size_t>(random_.below(disk_.file().size()));
        const auto bit = static_cast<unsigned>(random_.below(8));
        disk_.flip(byte, bit);
        if (byte < header_size) {
            std::vector<entry_content> read;
            EXPECT_FALSE(read_all(disk_, read));
            EXPECT_THROW(journal_writer::open(disk_.open(), "simulated", options()), invalid_journal);
        } else {
            check_opening(known_from(disk_.file(), disk_.given()));
        }
        disk_.flip(byte, bit);
    }

    /// That reading finds what is known, and opening does what it says to that. Leaves the file as it is.
    void check_opening(const known_file& known) {
        std::vector<entry_content> read;
        EXPECT_EQ(read_all(disk_, read), known.whole_entries == 0);
        ASSERT_EQ(read.size(), known.entries);
        ASSERT_LE(read.size(), appended_.size());
        ASSERT_TRUE(std::ranges::equal(read, std::span(appended_).first(read.size()))) << "other entries";

        simulated_disk copy = disk_;
        const auto opens = [&](journal_repair repair) {
            copy = disk_;
            try {
                const journal_writer journal =
                    journal_writer::open(copy.open(), "simulated", {.repair = repair});
                EXPECT_EQ(journal.frame(), simulated_origin.frame + known.entries);
                EXPECT_EQ(journal.size(), known.end);
                EXPECT_EQ(journal.tail().bytes, disk_.file().size() - known.end);
                EXPECT_EQ(journal.tail().whole_entries, known.whole_entries);
                EXPECT_EQ(copy.file().size(), known.end);
                return true;
            } catch (const invalid_journal&) {
                EXPECT_EQ(copy.file(), disk_.file());
                return false;
            }
        };
        EXPECT_EQ(opens(journal_repair::refuse), known.end == disk_.file().size());
        EXPECT_EQ(opens(journal_repair::cut_torn), known.whole_entries == 0);
        EXPECT_EQ(opens(journal_repair::cut_unsynced), !known.was_synced);
    }

    random_source random_;
    simulated_disk disk_;
    std::vector<entry_content> appended_; // the last one perhaps in part
    std::size_t acknowledged_ = 0;        // by append()
    std::size_t synced_ = 0;              // the disk has so many
    bool system_ends_ = false;
    bool system_crashed_ = false;
};

std::uint64_t seeds(int otherwise) {
    if (std::getenv("HANDLEPOOL_SEED") != nullptr) {
        return 1;
    }
    const char* const wanted = std::getenv("HANDLEPOOL_SEEDS");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 0)
                             : static_cast<std::uint64_t>(support::repetitions(otherwise));
}

TEST(journal_simulation, a_journal_goes_on_from_its_last_whole_entry) {
    const std::uint64_t count = seeds(1000);
    for (std::uint64_t seed = 1; seed <= count && !HasFailure(); ++seed) {
        simulated_world(seed).run();
    }
}

/// As where the file lies on a disk that knows no locks.
TEST(journal_simulation, two_writers_of_one_file_are_noticed) {
    const std::uint64_t count = seeds(1000);
    for (std::uint64_t seed = 1; seed <= count && !HasFailure(); ++seed) {
        random_source random(seed);
        simulated_disk disk(random.bits());
        journal_writer first = journal_writer::create(disk.open(), "simulated", simulated_origin);
        const auto append = [&](journal_writer& journal, char who) {
            const disk_bytes bytes(random.below(3) * 8, static_cast<std::byte>(who));
            journal.append(journal.frame() + 1, {{"who", bytes}});
            return entry_content{{"who", bytes}};
        };
        std::vector<entry_content> of_first;
        for (std::uint64_t i = random.below(4); i != 0; --i) {
            of_first.push_back(append(first, 'a'));
        }
        journal_writer second = journal_writer::open(disk.open(), "simulated");
        std::vector<entry_content> of_second = of_first;
        for (std::uint64_t i = random.below(10); i != 0; --i) {
            if (random.below(2) == 0) {
                of_first.push_back(append(first, 'a'));
            } else {
                of_second.push_back(append(second, 'b'));
            }
        }
        std::vector<entry_content> read;
        const bool is_whole = read_all(disk, read);
        const auto begins_with_read = [&](const std::vector<entry_content>& all) {
            return read.size() <= all.size() && std::ranges::equal(read, std::span(all).first(read.size()));
        };
        ASSERT_TRUE(begins_with_read(of_first) || begins_with_read(of_second));
        if (is_whole && read.size() < (std::min)(of_first.size(), of_second.size())) {
            journal_reader reader(disk.open(), "simulated");
            while (reader.next()) {
            }
            ASSERT_NE(reader.tail().bytes, 0u);
        }
    }
}

} // namespace
} // namespace handlepool::test
