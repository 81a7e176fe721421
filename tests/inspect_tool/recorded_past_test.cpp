// SPDX-License-Identifier: MIT

// What the page says of the frames of a world in a folder, also while they are written, and removed.

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/time/change_log.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>
#include <tools/inspect/page/pool_watch.hpp>
#include <tools/inspect/page/recorded_past.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::inspect_tool {
namespace {

using nlohmann::json;
using test::message_of;

struct ship {
    static constexpr std::string_view snapshot_layout = "hull:i32";

    std::int32_t hull = 0;
};

struct recorded_past_test : testing::Test {
    recorded_past_test() {
        all.add("ships", ships);
        changes.add("ships", log);
        first = ships.emplace(ship{100});
        ships.compact();
        changes.begin(10);
        save(10);
    }

    /// In each frame the first ship is hit. That is the first change; the other one is that a frame has
    /// ended.
    void play(std::uint64_t frame) {
        log.edit(first)->hull -= 1;
        ships.compact();
        std::vector<std::byte> delta;
        changes.append(frame, delta);
        journal->append(frame, {{"world", delta}});
    }
    void save(std::uint64_t frame) {
        std::vector<std::byte> snapshot;
        all.save(snapshot);
        write_snapshot_file(snapshot_file_of(directory.path(), frame), snapshot, {.sync = false});
        journal.emplace(journal_writer::create(journal_file_of(directory.path(), frame),
                                               {.world = 1, .frame = frame}, {.sync_every = 0}));
    }
    json hull(std::uint64_t from, std::uint64_t to) {
        const auto text = [](std::uint64_t frame) { return std::to_string(110 - frame); };
        json differences = json::array();
        if (from != to) {
            differences.push_back({{"part", "ships"},
                                   {"object", "#0 generation " + std::to_string(first.generation())},
                                   {"what", ".hull"},
                                   {"before", text(from)},
                                   {"after", text(to)}});
        }
        return {{"from", from}, {"to", to}, {"differences", differences}, {"left_out", from == to ? 0 : 1}};
    }

    support::scratch_directory directory;
    std::string folder = directory.path().string();
    pool<ship> ships{{.name = "ships", .capacity = 100, .pool_id = 340}};
    change_log<pool<ship>> log{ships};
    snapshot all;
    delta_recorder changes;
    handle<ship> first;
    std::optional<journal_writer> journal;
};

TEST_F(recorded_past_test, tells_what_frames_have_changed) {
    for (std::uint64_t frame = 11; frame <= 14; ++frame) {
        play(frame);
    }
    recorded_past past(folder);
    EXPECT_EQ(json(past.frames()), (json{{"folder", folder}, {"count", 5}, {"first", 10}, {"last", 14}}));
    for (std::uint64_t from = 10; from <= 14; ++from) { // forth and back
        for (std::uint64_t to = 10; to <= 14; ++to) {
            EXPECT_EQ(json(past.changes(from, to, 1)), hull(from, to));
        }
    }
    EXPECT_EQ(json(past.changes(11, 99, 1)), hull(11, 14)); // the last one up to there
    EXPECT_EQ(message_of<not_found>([&] { past.changes(9, 11, 1); }),
              "frame 9 is not recorded: the first one is 10");
}

TEST_F(recorded_past_test, goes_on_while_frames_are_written) {
    recorded_past past(folder);
    EXPECT_EQ(past.frames()["last"], 10);
    play(11);
    EXPECT_EQ(past.frames()["last"], 11);
    play(12);
    save(12);
    play(13);
    EXPECT_EQ(past.frames()["last"], 13);
    EXPECT_EQ(json(past.changes(12, 13, 1)), hull(12, 13));
    EXPECT_EQ(json(past.changes(10, 13, 1)), hull(10, 13));
}

TEST_F(recorded_past_test, forgets_what_is_removed) {
    play(11);
    recorded_past past(folder);
    EXPECT_EQ(past.frames()["count"], 2);
    EXPECT_EQ(json(past.changes(10, 11, 1)), hull(10, 11));
    save(11);
    play(12);
    remove_saved_before(directory.path(), 11);
    EXPECT_EQ(message_of<not_found>([&] { past.changes(10, 11, 1); }),
              "folder '" + folder + "' has no snapshot up to frame 10: the first one is of frame 11");
    EXPECT_EQ(json(past.frames()), (json{{"folder", folder}, {"count", 2}, {"first", 11}, {"last", 12}}));
    EXPECT_EQ(json(past.changes(11, 12, 1)), hull(11, 12));
}

TEST_F(recorded_past_test, leaves_out_what_is_more_than_asked_for) {
    for (int i = 0; i != 5; ++i) {
        ships.emplace(ship{i});
    }
    play(11);
    recorded_past past(folder);
    past.frames();
    const json found = past.changes(10, 11, 2);
    EXPECT_EQ(found["differences"].size(), 2U);
    EXPECT_GE(found["left_out"], 4);
}

TEST_F(recorded_past_test, tells_whose_lives_began_and_ended) {
    pool<ship> rocks({.name = "rocks", .capacity = 100, .record_lives = 2, .pool_id = 341});
    delta_recorder others;
    others.add_lives("lives", rocks);
    others.add("ships", log);
    const auto append = [&](std::uint64_t frame) {
        rocks.compact();
        std::vector<std::byte> delta;
        others.append(frame, delta);
        journal->append(frame, {{"world", delta}});
    };
    others.begin(10);
    const auto rock = [&] {
        const scoped_site here("spawn");
        return rocks.emplace(ship{1});
    }();
    append(11);
    append(12);
    {
        const scoped_site here("explode");
        rocks.erase(rock);
    }
    append(13);
    save(13);
    others.begin(13);
    append(14);

    recorded_past past(folder);
    past.frames();
    const json nobody = json::array();
    const auto thread = " by thread \"" + rocks.life_of(rock).end->thread + "\"";
    const auto told = [&](const std::string& text, bool has_ended) {
        return json::array({{{"pool", "rocks"},
                             {"name", "#0 generation " + std::to_string(rock.generation())},
                             {"handle", fmt::format("{:#x}", rock.value())},
                             {"has_ended", has_ended},
                             {"text", text}}});
    };
    const std::string created = "created" + thread + " in spawn";
    const std::string ended = "erased" + thread + " in explode; " + created + ", 2 frames before";
    // Forth, back, and across a snapshot; the first one is the snapshot's.
    for (const std::uint64_t frame : {10U, 11U, 12U, 13U, 14U, 13U, 11U, 12U, 10U}) {
        const json expected = frame == 11 ? told(created, false) : frame == 13 ? told(ended, true) : nobody;
        EXPECT_EQ(json(past.lives(frame, 10)),
                  (json{{"frame", frame}, {"left_out", 0}, {"lives", expected}}));
    }
    EXPECT_EQ(json(past.lives(13, 0)), (json{{"frame", 13}, {"left_out", 1}, {"lives", nobody}}));
    EXPECT_EQ(past.lives(99, 10)["frame"], 14);
    EXPECT_EQ(message_of<not_found>([&] { past.lives(9, 1); }),
              "frame 9 is not recorded: the first one is 10");
    std::filesystem::remove(journal_file_of(directory.path(), 10));
    EXPECT_NE(message_of<not_found>([&] { past.lives(12, 1); }), "");
}

TEST_F(recorded_past_test, of_what_is_damaged_says_so) {
    play(11);
    recorded_past past(folder);
    past.frames();
    std::ofstream(snapshot_file_of(directory.path(), 10)) << "nothing";
    const std::string message = message_of<not_found>([&] { past.changes(10, 11, 1); });
    EXPECT_NE(message.find("10.snapshot"), std::string::npos) << message;
    const std::string empty = (directory.path() / "empty").string();
    std::filesystem::create_directory(empty);
    EXPECT_EQ(message_of<recorded_worlds::not_replayed>([&] { recorded_past nothing(empty); }),
              "folder '" + empty + "' has no snapshot");
}

} // namespace
} // namespace handlepool::inspect_tool
