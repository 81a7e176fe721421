// SPDX-License-Identifier: MIT

// The program handlepool-journal as its users meet it.

#include "run_journal_tool.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/journal_writer.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/files/read_file.hpp>
#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct journal_tool : testing::Test {
    /// Frames 101 to 103.
    journal_tool() {
        journal_writer journal = journal_writer::create(file, {.world = 77, .frame = 100});
        const std::string_view bytes = "0123456789";
        const auto part = std::as_bytes(std::span(bytes));
        journal.append(101, {{"ships", part}, {"score", {}}});
        journal.append(102, {});
        journal.append(103, {{"ships", part}});
    }

    printed run(std::vector<std::string> line) const { return run_journal_tool(std::move(line)); }
    std::string path(const char* name) const { return (directory.path() / name).string(); }
    void tear() const { std::filesystem::resize_file(file, 300); }
    void damage() const {
        std::string bytes = support::read_file(file);
        bytes[176] ^= 1; // the size of the second entry
        std::ofstream(file, std::ios::binary) << bytes;
    }
    const support::scratch_directory directory;
    const std::string file = path("100.journal");
    const std::string damage_message =
        "journal '" + path("100.journal") +
        "', byte 168, frame 102: the header of the entry is damaged, or of another journal: its hash is ";
};

TEST_F(journal_tool, lists_entries) {
    EXPECT_EQ(run({"list", file}), (printed{0, file + R"(: world 77, goes on from frame 100
          byte         frame         bytes   parts
            40           101           128       2
           168           102            64       0
           232           103           104       1
frames 101 to 103, 336 bytes
)"}));
    EXPECT_EQ(run({"list", "--parts", file}), (printed{0, file + R"(: world 77, goes on from frame 100
          byte         frame         bytes   parts
            40           101           128       2
                                        10  ships
                                         0  score
           168           102            64       0
           232           103           104       1
                                        10  ships
frames 101 to 103, 336 bytes
)"}));
    EXPECT_EQ(run({"list", "--json", file}), (printed{0, R"({"entries": [
  {"offset":40,"frame":101,"bytes":128,"parts":2},
  {"offset":168,"frame":102,"bytes":64,"parts":0},
  {"offset":232,"frame":103,"bytes":104,"parts":1}],
"file":")" + file + R"(","world":77,"goes_on_from":100,"last_frame":103,"bytes":336}
)"}));
    const nlohmann::json json = nlohmann::json::parse(run({"list", "--json", "--parts", file}).output);
    EXPECT_EQ(json["entries"][0]["parts"],
              nlohmann::json::parse(R"([{"name": "ships", "bytes": 10}, {"name": "score", "bytes": 0}])"));
}

TEST_F(journal_tool, shows_names_of_any_bytes) {
    const std::string strange = path("a\n\x1b[2J\"\xff.journal");
    const std::string shown = path("a\uFFFD\uFFFD[2J\"\uFFFD.journal");
    for (const char* const command : {"list", "verify"}) {
        const printed missing = run({command, strange});
        EXPECT_THAT(missing.errors, HasSubstr(shown)) << command;
        EXPECT_THAT(missing.errors, Not(HasSubstr("\x1b"))) << command;
    }
    std::filesystem::copy_file(file, strange);
    EXPECT_THAT(run({"list", strange}).output, StartsWith(shown + ": world 77, goes on from frame 100\n"));
    EXPECT_EQ(nlohmann::json::parse(run({"list", "--json", strange}).output)["file"], shown);
    EXPECT_THAT(run({"diff", directory.path().string(), strange}).errors,
                HasSubstr("is a folder, and '" + shown + "' is none"));
    std::ofstream(strange, std::ios::binary) << "no journal";
    const std::string problem =
        "journal '" + shown + "', byte 0: this is no journal; \"hp journ\" is expected\n";
    EXPECT_EQ(run({"list", strange}).errors, "handlepool-journal: " + problem);
    EXPECT_EQ(run({"verify", strange}).output, shown + ": damaged: " + problem);
}

TEST_F(journal_tool, lists_what_is_whole) {
    tear();
    const std::string torn = "the entry is cut off: 104 bytes are expected, and 68 bytes are there";
    EXPECT_EQ(run({"list", file}), (printed{0, file + R"(: world 77, goes on from frame 100
          byte         frame         bytes   parts
            40           101           128       2
           168           102            64       0
frames 101 to 102, 232 bytes
torn end at byte 232, 68 bytes: )" + torn + "\n"}));
    const nlohmann::json json = nlohmann::json::parse(run({"list", "--json", file}).output);
    EXPECT_EQ(json["torn_end"], (nlohmann::json{{"offset", 232}, {"bytes", 68}, {"problem", torn}}));
}

TEST_F(journal_tool, lists_what_is_before_damage) {
    damage();
    const printed listed = run({"list", file});
    EXPECT_EQ(listed.status, 1);
    EXPECT_EQ(listed.output, file + R"(: world 77, goes on from frame 100
          byte         frame         bytes   parts
            40           101           128       2
)");
    EXPECT_THAT(listed.errors, StartsWith("handlepool-journal: " + damage_message));
    const printed as_json = run({"list", "--json", file});
    EXPECT_EQ(as_json.status, 1);
    const nlohmann::json json = nlohmann::json::parse(as_json.output);
    EXPECT_EQ(json["entries"].size(), 1u);
    EXPECT_THAT(json["damage"].get<std::string>(), StartsWith(damage_message));
}

TEST_F(journal_tool, verifies_journals) {
    const std::string begun = path("200.journal");
    journal_writer::create(begun, {.world = 77, .frame = 200});
    EXPECT_EQ(run({"verify", file, begun}),
              (printed{0, file + ": frames 101 to 103, 336 bytes, whole\n" + begun +
                              ": no frames after 200, 40 bytes, whole\n"}));
    EXPECT_EQ(nlohmann::json::parse(run({"verify", "--json", file}).output),
              nlohmann::json::array({{{"file", file},
                                      {"world", 77},
                                      {"goes_on_from", 100},
                                      {"last_frame", 103},
                                      {"bytes", 336},
                                      {"whole", true}}}));
}

TEST_F(journal_tool, tells_torn_ends_from_damage) {
    tear();
    const std::string torn = file +
                             ": frames 101 to 102, 232 bytes, torn end at byte 232, 68 bytes: the entry is "
                             "cut off: 104 bytes are expected, and 68 bytes are there\n";
    EXPECT_EQ(run({"verify", file}), (printed{1, torn}));
    EXPECT_EQ(run({"verify", "--allow-torn", file}), (printed{0, torn}));
    EXPECT_EQ(nlohmann::json::parse(run({"verify", "--json", file}).output)[0]["whole"], false);
}

TEST_F(journal_tool, finds_damage) {
    damage();
    const printed verified = run({"verify", "--allow-torn", file});
    EXPECT_EQ(verified.status, 1);
    EXPECT_THAT(verified.output, StartsWith(file + ": damaged: " + damage_message));
    EXPECT_THAT(verified.output,
                HasSubstr("; whole entries from there on: 1, the last of frame 103; the disk had "
                          "this one\n"));
    const std::string other = path("other");
    std::ofstream(other) << "no journal";
    EXPECT_EQ(run({"verify", other}),
              (printed{1, other + ": damaged: journal '" + other +
                              "', byte 0: this is no journal; \"hp journ\" is expected\n"}));
}

TEST_F(journal_tool, cuts_into_a_new_file) {
    damage();
    const std::string output = path("good.journal");
    EXPECT_EQ(run({"cut", file, "--after", "101", "--output", output}),
              (printed{0, output + ": up to frame 101, 168 bytes, 168 cut off\n"}));
    EXPECT_EQ(run({"verify", output}), (printed{0, output + ": frame 101, 168 bytes, whole\n"}));
    EXPECT_EQ(std::filesystem::file_size(file), 336u);
    EXPECT_EQ(run({"cut", file, "--after", "101", "--output", output}),
              (printed{2, "", "handlepool-journal: " + output + ": File exists\n"}));
    const printed too_far = run({"cut", file, "--after", "102", "-o", path("other.journal")});
    EXPECT_EQ(too_far.status, 1);
    EXPECT_THAT(too_far.errors, StartsWith("handlepool-journal: " + damage_message));
    EXPECT_FALSE(std::filesystem::exists(path("other.journal")));
}

TEST_F(journal_tool, cuts_in_place) {
    EXPECT_EQ(run({"cut", file, "--after", "104", "--in-place"}),
              (printed{1, "",
                       "handlepool-journal: journal '" + file +
                           "', byte 336: the journal ends with frame 103, and frame 104 is not there\n"}));
    const printed cut = run({"cut", file, "--after", "102", "--in-place", "--json"});
    EXPECT_EQ(cut.status, 0);
    EXPECT_EQ(nlohmann::json::parse(cut.output),
              (nlohmann::json{{"file", file}, {"last_frame", 102}, {"bytes", 232}, {"bytes_cut_off", 104}}));
    journal_writer journal = journal_writer::open(file);
    EXPECT_EQ(journal.frame(), 102u);
    EXPECT_EQ(run({"cut", file, "--after", "101", "--in-place"}),
              (printed{2, "", "handlepool-journal: " + file + ": Device or resource busy\n"}));
}

/// A world of one pool: its snapshot of frame 100, journals from 100 to 102 and from 102 to 103, and what a
/// save gave in each frame.
struct replayed_journals : journal_tool {
    replayed_journals() {
        snapshot world;
        world.add("numbers", numbers);
        change_log log(numbers);
        delta_recorder changes;
        changes.add("numbers", log);
        frames.emplace_back();
        world.save(frames.back());
        write_snapshot_file(path("100.snapshot"), frames.back());
        changes.begin(100);
        replay all(frames.back(), 100);
        journal_writer first = journal_writer::create(path("a.journal"), {.world = 7, .frame = 100});
        journal_writer second = journal_writer::create(path("b.journal"), {.world = 7, .frame = 102});
        for (std::uint64_t frame = 101; frame != 104; ++frame) {
            numbers.emplace(static_cast<int>(frame));
            std::vector<std::byte> delta;
            changes.append(frame, delta);
            all.apply(delta);
            frames.emplace_back();
            all.save(frames.back());
            (frame <= 102 ? first : second).append(frame, {{"world", delta}});
        }
    }

    std::string bytes_of(std::uint64_t frame) const {
        const std::vector<std::byte>& bytes = frames[frame - 100];
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    std::string size_of(std::uint64_t frame) const { return std::to_string(frames[frame - 100].size()); }

    pool<int> numbers{{.name = "numbers", .capacity = 100}};
    std::vector<std::vector<std::byte>> frames;
};

TEST_F(replayed_journals, become_the_snapshot_of_any_frame) {
    const std::string out = path("out.snapshot");
    const std::vector<std::string> line = {
        "replay", "-s", path("100.snapshot"), path("a.journal"), path("b.journal"), "-o", out};
    EXPECT_EQ(run(line),
              (printed{0, out + ": the snapshot of frame 103, by 3 deltas, " + size_of(103) + " bytes\n"}));
    EXPECT_EQ(support::read_file(out), bytes_of(103));
    for (std::uint64_t frame = 100; frame != 104; ++frame) {
        std::vector<std::string> to = line;
        to.insert(to.end(), {"--to", std::to_string(frame), "--part", "world"});
        EXPECT_EQ(run(to),
                  (printed{0, out + ": the snapshot of frame " + std::to_string(frame) + ", by " +
                                  std::to_string(frame - 100) + (frame == 101 ? " delta, " : " deltas, ") +
                                  size_of(frame) + " bytes\n"}));
        EXPECT_EQ(support::read_file(out), bytes_of(frame));
    }
    std::vector<std::string> json = line;
    json.insert(json.end(), {"--json", "--to", "101"});
    EXPECT_EQ(run(json), (printed{0, "{\n  \"file\": \"" + out +
                                         "\",\n  \"frame\": 101,\n  \"deltas\": 1,\n  \"bytes\": " +
                                         size_of(101) + "\n}\n"}));
}

TEST_F(replayed_journals, are_refused_unless_they_follow) {
    const std::string out = path("out.snapshot");
    const std::string start = path("100.snapshot");
    const auto refusal = [&](std::vector<std::string> rest) {
        rest.insert(rest.begin(), {"replay", "--output", out, "--snapshot"});
        const printed result = run(std::move(rest));
        EXPECT_EQ(result.status, 1);
        EXPECT_EQ(result.output, "");
        EXPECT_FALSE(std::filesystem::exists(out));
        return result.errors;
    };
    const std::string tool = "handlepool-journal: ";
    EXPECT_EQ(refusal({start, path("a.journal"), "--to", "104"}),
              tool + "the journals end with frame 102; frame 104 is wanted\n");
    EXPECT_EQ(refusal({start, path("a.journal"), "--to", "99"}),
              tool + "the snapshot is of frame 100; frame 99 is wanted\n");
    EXPECT_EQ(refusal({start, path("a.journal"), path("a.journal")}),
              tool + "journal '" + path("a.journal") +
                  "' goes on from frame 100 of world 7; frame 102 of world 7 is expected\n");
    EXPECT_EQ(refusal({start, path("a.journal"), "--part", "moon"}),
              tool + "journal '" + path("a.journal") + "', frame 101: the entry has no part 'moon'\n");
    EXPECT_EQ(refusal({start, file}),
              tool + "journal '" + file +
                  "', frame 101: the entry has 2 parts; --part says which one is the delta\n");
    EXPECT_EQ(refusal({start, file, "--part", "ships"}),
              tool + "delta '" + file + ", frame 101', byte 0: this is no delta; \"hp world\" is expected\n");
    EXPECT_EQ(run({"replay", "-s", path("missing"), path("a.journal"), "-o", out}),
              (printed{2, "", tool + path("missing") + ": No such file or directory\n"}));
    EXPECT_EQ(run({"replay", "-s", start, path("a.journal")}),
              (printed{2, "", "--output is required\nRun with --help for more information.\n"}));
}

TEST_F(journal_tool, explains_itself) {
    for (const char* const command : {"", "list", "verify", "cut", "replay", "diff"}) {
        std::vector<std::string> line{"--help"};
        if (*command != '\0') {
            line.insert(line.begin(), command);
        }
        const printed help = run(line);
        EXPECT_EQ(help.status, 0);
        EXPECT_EQ(help.errors, "");
        EXPECT_THAT(help.output, HasSubstr("\nExamples:\n  handlepool-journal "));
        EXPECT_THAT(help.output, HasSubstr("\nExit code: 0"));
    }
    EXPECT_EQ(run({"--version"}).status, 0);
    EXPECT_THAT(run({"--version"}).output, testing::MatchesRegex("handlepool-journal [0-9.]+\n"));
}

TEST_F(journal_tool, refuses_other_lines) {
    const std::string advice = "\nRun with --help for more information.\n";
    EXPECT_EQ(run({}), (printed{2, "", "A subcommand is required" + advice}));
    EXPECT_EQ(run({"list"}), (printed{2, "", "file is required" + advice}));
    EXPECT_EQ(run({"cut", file, "--after", "101"}),
              (printed{2, "", "--output or --in-place is required" + advice}));
    EXPECT_EQ(run({"cut", file, "--after", "101", "--in-place", "--output", "x"}),
              (printed{2, "", "--output excludes --in-place" + advice}));
    EXPECT_EQ(run({"list", path("missing")}),
              (printed{2, "", "handlepool-journal: " + path("missing") + ": No such file or directory\n"}));
    EXPECT_EQ(run({"cut", path("missing"), "--after", "1", "--in-place"}).status, 2);
    EXPECT_EQ(std::filesystem::file_size(file), 336u);
}

TEST_F(journal_tool, fails_if_its_output_does) {
    for (const char* const command : {"list", "verify"}) {
        const support::run_result result = support::run_program(
            {"sh", "-c", "\"$0\" \"$@\" >/dev/full", support::paths::journal_program, command, file});
        EXPECT_EQ(result.status, 2) << command;
        EXPECT_THAT(result.errors, HasSubstr("No space left on device"));
    }
}

TEST_F(journal_tool, ends_as_ever_if_its_messages_cannot_be_written) {
    damage();
    for (const char* const errors : {" 2>&-", " 2>/dev/full"}) {
        const auto status = [&](const std::string& line) {
            return support::run_program(
                       {"sh", "-c", "\"$0\" " + line + errors, support::paths::journal_program, file})
                .status;
        };
        EXPECT_EQ(status("list \"$1\""), 1) << errors;
        EXPECT_EQ(status("cut \"$1\" --after 103 --in-place"), 1) << errors;
        EXPECT_EQ(status("list /nonexistent"), 2) << errors;
    }
}

TEST_F(journal_tool, shows_progress_on_terminals_only) {
    if (const std::string lack = support::lack_of_terminals(); !lack.empty()) {
        GTEST_SKIP() << lack;
    }
    {
        journal_writer journal = journal_writer::open(file, {.sync_every = 0});
        const std::vector<std::byte> bytes(1 << 20);
        while (journal.frame() != 500) {
            journal.append(journal.frame() + 1, {{"ships", bytes}});
        }
    }
    const support::run_result result = support::run_program({support::paths::journal_program, "verify", file},
                                                            support::errors_to::terminal, 80);
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.errors, HasSubstr("verify"));
    EXPECT_EQ(run({"verify", file}).errors, "");
}

} // namespace
} // namespace handlepool::test
