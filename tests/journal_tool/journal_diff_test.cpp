// SPDX-License-Identifier: MIT

// handlepool-journal diff: two runs of a world that should be the same, and where they part.

#include "run_journal_tool.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

struct recorded_ship {
    static constexpr std::string_view snapshot_layout = "number:u32 hull:i32";

    std::uint32_t number = 0;
    std::int32_t hull = 0;
};

/// How a run is recorded, and what is not as in others.
struct run_of_world {
    std::uint64_t first = 100;               // frame: that of the first snapshot
    std::uint64_t last = 112;                // frame
    std::uint64_t snapshot_every = 5;        // frames
    std::optional<std::uint64_t> another{};  // frame in which a ship is hit harder
    std::optional<std::uint64_t> one_more{}; // frame in which there is one ship more
};

struct journal_diff : testing::Test {
    journal_diff() {
        all.add("ships", ships);
        changes.add("ships", log);
        ships.emplace();
        all.save(begin);
    }

    /// Each begins with the same world, in frame 100.
    std::string record(const char* name, const run_of_world& run) {
        const std::filesystem::path folder = directory.path() / name;
        std::filesystem::create_directory(folder);
        all.load(begin);
        last = {};
        std::optional<journal_writer> journal;
        changes.begin(100);
        std::vector<std::byte> snapshot;
        all.save(snapshot);
        replay now(snapshot, 100);
        for (std::uint64_t frame = 100; frame <= run.last; ++frame) {
            if (frame != 100) {
                const std::vector<std::byte> delta = play(frame, run);
                now.apply(delta);
                if (journal) {
                    journal->append(frame, {{"world", delta}});
                }
            }
            if (frame >= run.first && (frame - run.first) % run.snapshot_every == 0) {
                now.save(snapshot);
                write_snapshot_file(snapshot_file_of(folder, frame), snapshot, {.sync = false});
                journal.emplace(journal_writer::create(journal_file_of(folder, frame),
                                                       {.world = ++runs, .frame = frame}, {.sync_every = 0}));
            }
        }
        return folder.string();
    }

    std::vector<std::byte> play(std::uint64_t frame, const run_of_world& run) {
        const auto number = static_cast<std::uint32_t>(frame);
        const auto made = ships.emplace(number, 100);
        if (run.one_more == frame) {
            ships.emplace(number, 7);
        }
        if (frame % 3 == 0) {
            ships.erase(last);
        } else if (recorded_ship* const hit = log.edit(last)) {
            hit->hull -= run.another == frame ? 40 : 30;
        }
        last = made;
        std::vector<std::byte> delta;
        changes.append(frame, delta);
        return delta;
    }

    static printed diff(const std::string& first, const std::string& second,
                        std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"diff", first, second});
        return run_journal_tool(std::move(options));
    }
    std::string path(const char* name) const { return (directory.path() / name).string(); }

    support::scratch_directory directory;
    pool<recorded_ship> ships{{.name = "ships", .capacity = 100}};
    change_log<pool<recorded_ship>> log{ships};
    handle<recorded_ship> last;
    snapshot all;
    delta_recorder changes;
    std::vector<std::byte> begin;
    std::uint64_t runs = 0;
};

TEST_F(journal_diff, finds_nothing_in_the_same_run) {
    const std::string one = record("one", {});
    const std::string other = record("other", {.snapshot_every = 3});
    EXPECT_EQ(diff(one, other), (printed{0, one + " and " + other + " are the same, frames 100 to 112\n"}));
    EXPECT_EQ(diff(one, one), (printed{0, one + " and " + one + " are the same, frames 100 to 112\n"}));
    const std::string file = snapshot_file_of(one, 100).string();
    EXPECT_EQ(diff(file, file), (printed{0, file + " and " + file + " are the same\n"}));
}

TEST_F(journal_diff, names_frame_handle_and_member) {
    const std::string one = record("one", {});
    const std::string other = record("other", {.another = 107});
    EXPECT_EQ(diff(one, other), (printed{1, one + " / " + other +
                                                ": frame 107, 1 difference\n"
                                                "  ships #6 generation 1, .hull: 70 / 60\n"}));
    EXPECT_EQ(
        nlohmann::ordered_json::parse(diff(one, other, {"--json"}).output),
        nlohmann::ordered_json::parse(
            R"({"first": ")" + one + R"(", "second": ")" + other +
            R"(", "same": false, "first_frame": 100, "last_frame": 107, "differences": [{"part": "ships",
                  "object": "#6 generation 1", "what": ".hull", "first": "70", "second": "60"}],
                  "left_out": 0})"));
}

TEST_F(journal_diff, tells_as_many_as_are_wanted) {
    const std::string one = record("one", {});
    const std::string other = record("other", {.one_more = 104});
    const std::string begin_of_output = one + " / " + other + ": frame 104, ";
    const printed some = diff(one, other, {"--most", "1"});
    EXPECT_EQ(some, (printed{1, begin_of_output + "3 differences\n  ships, objects: 4 / 5\n  and 2 more\n"}));
}

TEST_F(journal_diff, begins_where_both_have_a_frame) {
    const std::string one = record("one", {.first = 103, .last = 110});
    const std::string other = record("other", {.snapshot_every = 2});
    EXPECT_EQ(diff(one, other), (printed{0, one + " and " + other + " are the same, frames 103 to 110\n" +
                                                one + " ends there, and the other one goes on\n"}));
    EXPECT_EQ(nlohmann::ordered_json::parse(diff(other, one, {"--json", "--part", "world"}).output),
              nlohmann::ordered_json::parse(
                  R"({"first": ")" + other + R"(", "second": ")" + one +
                  R"(", "same": true, "first_frame": 103, "last_frame": 110, "ended": ")" + one +
                  R"(", "differences": [], "left_out": 0})"));
    const std::string late = record("late", {.first = 111});
    EXPECT_EQ(
        diff(one, late),
        (printed{2, "", "handlepool-journal: '" + one + "' and '" + late + "' have no frame in common\n"}));
}

TEST_F(journal_diff, sees_a_first_snapshot_that_differs) {
    const std::string one = record("one", {.first = 104, .another = 104});
    const std::string other = record("other", {.first = 104});
    EXPECT_EQ(diff(one, other), (printed{1, one + " / " + other +
                                                ": frame 104, 1 difference\n"
                                                "  ships #3 generation 1, .hull: 60 / 70\n"}));
}

TEST_F(journal_diff, refuses_what_can_not_be_compared) {
    const std::string one = record("one", {});
    const std::string file = snapshot_file_of(one, 100).string();
    const std::string tool = "handlepool-journal: ";
    EXPECT_EQ(diff(file, one), (printed{2, "",
                                        tool + "'" + one + "' is a folder, and '" + file +
                                            "' is none; two of a kind can be compared\n"}));
    std::filesystem::create_directory(path("empty"));
    EXPECT_EQ(diff(one, path("empty")),
              (printed{2, "", tool + "folder '" + path("empty") + "' has no snapshot\n"}));
    EXPECT_EQ(diff(file, path("missing")),
              (printed{2, "", tool + path("missing") + ": No such file or directory\n"}));
    EXPECT_EQ(diff(one, one, {"--part", "moon"}),
              (printed{2, "",
                       tool + "journal '" + journal_file_of(one, 100).string() +
                           "', frame 101: the entry has no part 'moon'\n"}));
    std::filesystem::rename(journal_file_of(one, 100), journal_file_of(one, 99));
    std::filesystem::copy(file, snapshot_file_of(one, 99));
    EXPECT_EQ(diff(one, one), (printed{2, "",
                                       tool + "journal '" + journal_file_of(one, 99).string() +
                                           "' goes on from frame 100; its name says 99\n"}));
    std::ofstream(file, std::ios::binary) << "no snapshot";
    EXPECT_EQ(diff(file, file), (printed{2, "",
                                         tool + "snapshot '" + file +
                                             "', byte 0: this is no snapshot; \"hp world\" is expected\n"}));
}

} // namespace
} // namespace handlepool::test
