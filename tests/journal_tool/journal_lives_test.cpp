// SPDX-License-Identifier: MIT

// The program handlepool-journal, asked who began and ended the lives of objects.

#include "run_journal_tool.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/time/change_log.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/files/read_file.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// In frame 101 a ship and a rock are created; in frame 103, of the next journal, the ship is erased.
struct journal_lives : testing::Test {
    journal_lives() {
        pool<int> ships({.name = "ships", .capacity = 10, .record_lives = 2, .pool_id = 7});
        change_log<pool<int>> log(ships);
        snapshot all;
        all.add("ships", ships);
        delta_recorder changes;
        changes.add("ships", log);
        changes.add_lives("lives", ships);
        std::vector<std::byte> bytes;
        const auto begin = [&](std::uint64_t frame) {
            bytes.clear();
            all.save(bytes);
            write_snapshot_file(snapshot_file_of(directory.path(), frame), bytes, {.sync = false});
            changes.begin(frame);
            return journal_writer::create(journal_file_of(directory.path(), frame),
                                          {.world = 1, .frame = frame}, {.sync_every = 0});
        };
        const auto append = [&](journal_writer& journal) {
            bytes.clear();
            changes.append(journal.frame() + 1, bytes);
            journal.append(journal.frame() + 1, {{"world", bytes}});
        };
        const auto emplace = [&](std::string_view site) {
            const scoped_site here(site);
            return ships.emplace(1);
        };
        journal_writer first = begin(100);
        ship = emplace("spawn()");
        rock = emplace("fall()");
        append(first);
        append(first);
        thread = ships.life_of(ship).beginning->thread;
        journal_writer second = begin(102);
        {
            const scoped_task task("collide");
            const scoped_site here("explode()");
            ships.erase(ship);
        }
        append(second);
    }

    std::string folder() const { return directory.path().string(); }
    std::string journal(std::uint64_t frame) const {
        return journal_file_of(directory.path(), frame).string();
    }
    static std::string name(handle<int> of) {
        return fmt::format("ships #{} generation {} ({:#x})", of.index(), of.generation(), of.value());
    }
    std::string created(std::string_view where) const {
        return fmt::format("created by thread \"{}\" in {}", thread, where);
    }
    std::string erased() const {
        return fmt::format("erased by thread \"{}\", task \"collide\" in explode()", thread);
    }

    const support::scratch_directory directory;
    handle<int> ship;
    handle<int> rock;
    std::string thread;
};

TEST_F(journal_lives, are_told_line_by_line) {
    const std::string first = "frame 101: " + name(ship) + ": " + created("spawn()") +
                              "\nframe 101: " + name(rock) + ": " + created("fall()") + "\n";
    EXPECT_EQ(run_journal_tool({"lives", journal(100)}), (printed{0, first}));
    const printed both = run_journal_tool({"lives", folder()});
    EXPECT_EQ(both.status, 0);
    EXPECT_TRUE(both.output.starts_with(first)) << both;
    EXPECT_EQ(run_journal_tool({"lives", journal(100), journal(102)}), both);
}

TEST_F(journal_lives, of_a_handle_are_told_alone) {
    const printed found =
        run_journal_tool({"lives", "--handle", fmt::format("{:#x}", ship.value()), folder()});
    EXPECT_EQ(found.status, 0);
    EXPECT_THAT(found.output,
                testing::StartsWith("frame 101: " + name(ship) + ": " + created("spawn()") + "\n"));
    EXPECT_THAT(found.output, testing::MatchesRegex("(.*\n)*frame 103: .*\n"));
    EXPECT_THAT(found.output,
                HasSubstr("frame 103: " + name(ship) + ": " + erased() + "; " + created("spawn()") + ", "));
    EXPECT_THAT(found.output, testing::Not(HasSubstr(name(rock))));
    EXPECT_EQ(run_journal_tool({"lives", "--handle", std::to_string(ship.value()), folder()}), found);

    EXPECT_EQ(run_journal_tool({"lives", "--handle", "12", folder()}),
              (printed{2, "", "handlepool-journal: no delta tells of the handle 12\n"}));
    EXPECT_EQ(run_journal_tool({"lives", "--handle", "ship", folder()}).status, 2);
}

TEST_F(journal_lives, are_told_as_json) {
    const printed found = run_journal_tool({"lives", "--json", journal(100)});
    EXPECT_EQ(found.status, 0);
    const json told = json::parse(found.output);
    ASSERT_EQ(told["lives"].size(), 2U);
    EXPECT_EQ(told["lives"][0], (json{{"frame", 101},
                                      {"pool", "ships"},
                                      {"handle", ship.value()},
                                      {"index", ship.index()},
                                      {"generation", ship.generation()},
                                      {"beginning",
                                       {{"event", "created"},
                                        {"frames_ago", 0},
                                        {"thread", thread},
                                        {"task", ""},
                                        {"site", "spawn()"},
                                        {"undone", false}}},
                                      {"end", nullptr}}));
    EXPECT_EQ(told["files"][0]["last_frame"], 102);
    EXPECT_EQ(run_journal_tool({"lives", "--json", folder(), "--handle", "12"}).status, 2);
}

TEST_F(journal_lives, are_told_up_to_damage) {
    std::string bytes = support::read_file(journal(100));
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(journal(100), std::ios::binary) << bytes;
    const printed found = run_journal_tool({"lives", folder()});
    EXPECT_EQ(found.status, 1);
    EXPECT_THAT(found.errors,
                testing::StartsWith("handlepool-journal: journal '" + journal(100) + "', byte "));
}

TEST_F(journal_lives, are_missed_where_there_are_none) {
    const std::string file = (directory.path() / "other.journal").string();
    pool<int> ships({.name = "ships", .capacity = 10});
    change_log<pool<int>> log(ships);
    delta_recorder changes;
    changes.add("ships", log);
    changes.begin(0);
    std::vector<std::byte> delta;
    changes.append(1, delta);
    journal_writer::create(file, {}).append(1, {{"world", delta}});
    EXPECT_EQ(run_journal_tool({"lives", file}),
              (printed{2, "",
                       "handlepool-journal: the deltas tell of no lives: delta_recorder::add_lives() adds "
                       "those of a pool\n"}));
}

} // namespace
} // namespace handlepool::test
