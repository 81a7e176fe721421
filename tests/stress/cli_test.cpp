// SPDX-License-Identifier: MIT

// The program handlepool-stress as its users meet it.

#include "traces/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/files/read_file.hpp>
#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using arguments = std::vector<std::string>;

support::run_result run_stress(arguments line, support::errors_to errors = support::errors_to::file,
                               unsigned short columns = 0) {
    line.insert(line.begin(), support::paths::stress_program);
    return support::run_program(std::move(line), errors, columns);
}

struct command_line : testing::Test {
    std::string path(const std::string& name) const { return (directory / name).string(); }

    // A trace of one object that crosses threads and one that lives on.
    std::string small_trace() const {
        write_trace(path("small.zst"),
                    {.header = {.command = {"program"}, .duration_ns = 100},
                     .events = {trace_event::allocate(0, 0, 0, 8), trace_event::allocate(1, 1, 1, 8),
                                trace_event::free(2, 1, 0)}});
        return path("small.zst");
    }

    nlohmann::json json_in(const std::string& file) const {
        std::ifstream stream(file);
        return nlohmann::json::parse(stream);
    }

    // Expects that the run can't be made, says why, and leaves no file behind.
    void expect_error(const arguments& line, const testing::Matcher<std::string>& errors) const {
        const std::size_t before = files();
        const support::run_result result = run_stress(line);
        EXPECT_EQ(result.status, 2) << testing::PrintToString(line);
        EXPECT_THAT(result.errors, errors);
        EXPECT_THAT(result.output, IsEmpty());
        EXPECT_EQ(files(), before) << "something was left behind";
    }

    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
    }

    const support::scratch_directory scratch;
    const std::filesystem::path& directory = scratch.path();
};

const arguments short_churn{"churn", "--alive", "100", "--frames", "3", "--lookups", "5"};

arguments operator+(arguments line, const arguments& more) {
    line.insert(line.end(), more.begin(), more.end());
    return line;
}

TEST_F(command_line, help_has_examples) {
    for (const char* const command : {"", "run", "replay", "churn", "report", "record", "recover"}) {
        const support::run_result result =
            run_stress(*command == '\0' ? arguments{"--help"} : arguments{command, "--help"});
        EXPECT_EQ(result.status, 0);
        EXPECT_THAT(result.errors, IsEmpty());
        EXPECT_THAT(result.output, ContainsRegex("Examples?:\n  handlepool-stress " + std::string(command)));
    }
}

TEST_F(command_line, version_says_how_it_was_built) {
    const support::run_result result = run_stress({"--version"});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.output, ContainsRegex("^handlepool-stress [0-9]+\\.[0-9]+\\.[0-9]+\n"
                                             "[^\n]+, contracts (un)?checked\n$"));
}

TEST_F(command_line, a_subcommand_is_needed) {
    expect_error({}, HasSubstr("A subcommand is required"));
    expect_error({"explode"}, HasSubstr("not expected: explode"));
    expect_error({"replay"}, HasSubstr("trace is required"));
    expect_error({"record"}, HasSubstr("program is required"));
    expect_error({"recover"}, HasSubstr("log is required"));
}

TEST_F(command_line, unknown_options_are_named) {
    for (const char* const command : {"replay", "churn", "record"}) {
        expect_error({command, "x", "--bogus"}, HasSubstr("--bogus"));
    }
}

TEST_F(command_line, wrong_values_are_told_with_what_is_allowed) {
    const auto refuse = [&](const std::string& command, const std::string& option, const std::string& value,
                            const std::string& allowed) {
        expect_error({command, "x", option, value},
                     StartsWith(option + ": '" + value + "' is not allowed (allowed: " + allowed + ")"));
    };
    for (const char* const value : {"0", "-1", "1025", "x", "1.5", "99999999999999999999", "0x10", "2 "}) {
        refuse("replay", "--threads", value, "1 to 1024");
        refuse("churn", "--threads", value, "1 to 1024");
    }
    for (const char* const value : {"0", "-1", "nan", "inf", "1e7", "x"}) {
        refuse("replay", "--frame-ms", value, "0.001 to 1000000");
    }
    for (const char* const value : {"-0.1", "1.1", "nan", "half"}) {
        refuse("churn", "--churn", value, "0 to 1");
    }
    refuse("churn", "--alive", "0", "1 to 500000000");
    refuse("churn", "--frames", "0", "1 to 100000000");
    refuse("churn", "--lookups", "1000001", "0 to 1000000");
    refuse("replay", "--lookups", "many", "0 to 1000000");
    refuse("replay", "--seed", "-1", "0 to 18446744073709551615");
    refuse("record", "--limit", "0", "1 to 67108864");
}

TEST_F(command_line, frames_far_shorter_than_the_trace_are_refused_at_once) {
    const std::string trace = path("idle.zst");
    write_trace(trace,
                {.header = {.command = {"program"}, .duration_ns = 93'000'000'000},
                 .events = {trace_event::allocate(0, 0, 0, 8), trace_event::free(93'000'000'000, 0, 0)}});
    EXPECT_LT(std::filesystem::file_size(trace), 200U);
    expect_error(
        {"replay", trace, "--frame-ms", "0.001", "--json", path("result.json")},
        StartsWith("handlepool-stress: --frame-ms: '0.001' would cut the 93 s of the trace into 93,000,001 "
                   "frames for 1 thread (allowed: at most 1,000,000, which is 0.094 ms and more)"));
}

TEST_F(command_line, more_objects_than_memory_are_refused_at_once) {
    expect_error(
        {"churn", "--alive", "500000000", "--churn", "1", "--json", path("result.json")},
        AllOf(StartsWith("handlepool-stress: --alive: '500000000' with --churn 1 needs about 521.5 GiB of "
                         "memory, and "),
              HasSubstr(" GiB are available")));
    for (const char* const scenario : {"overflow", "all", "soak"}) {
        expect_error(
            {"run", scenario, "--alive", "10000000", "--json", path("result.json")},
            StartsWith(
                "handlepool-stress: --alive: '10000000' in 'overflow' needs about 186.3 GiB of memory"));
    }
}

TEST_F(command_line, numbers_are_decimal) {
    const support::run_result result =
        run_stress(short_churn + arguments{"--threads", "03", "--seed", "010"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("threads                      3\n"));
    EXPECT_THAT(result.output, HasSubstr("  seed                       10\n"));
}

TEST_F(command_line, churn_passes) {
    const support::run_result result = run_stress(short_churn + arguments{"--json", path("result.json")});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.errors, IsEmpty()) << "no progress without a terminal";
    EXPECT_THAT(result.output,
                AllOf(StartsWith("run                          churn\n"),
                      HasSubstr("alive, peak and final        100, 100\n"), HasSubstr("result ")));
    const nlohmann::json json = json_in(path("result.json"));
    EXPECT_EQ(json["command"], "churn");
    EXPECT_EQ(json["alive_final"], 100);
    EXPECT_EQ(json["frames"], 3);
    EXPECT_EQ(json["violations"], 0);
    EXPECT_EQ(files(), 1U);
}

TEST_F(command_line, a_scenario_passes) {
    const support::run_result result =
        run_stress({"run", "race-erase", "--threads", "3", "--operations", "20000", "--seed", "7", "--alive",
                    "100", "--json", path("result.json")});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.errors, IsEmpty()) << "no progress without a terminal";
    EXPECT_THAT(result.output, AllOf(StartsWith("run                          race-erase\n"),
                                     HasSubstr("threads                      3\n"), HasSubstr("passed")));
    const nlohmann::json json = json_in(path("result.json"));
    EXPECT_THAT(json["command_line"].get<std::string>(),
                StartsWith("handlepool-stress run race-erase --threads 3"));
    ASSERT_EQ(json["scenarios"].size(), 1U);
    EXPECT_EQ(json["scenarios"][0]["name"], "race-erase");
    EXPECT_EQ(json["scenarios"][0]["violations"], 0);
    EXPECT_GE(json["scenarios"][0]["operations_checked"], 20'000);
}

TEST_F(command_line, a_run_on_any_executor_writes_its_timeline) {
    for (const std::string executor : {"inline", "threads", "tbb"}) {
        const support::run_result result =
            run_stress({"run", "churn", "--operations", "50000", "--alive", "500", "--executor", executor,
                        "--pools", "2", "--trace", path("timeline.json")});
        EXPECT_EQ(result.status, 0) << result.errors;
        EXPECT_THAT(result.output, AllOf(HasSubstr("executor                   " + executor + "\n"),
                                         HasSubstr("pools                      2\n")));
        std::map<std::string, int> events;
        const nlohmann::json timeline = json_in(path("timeline.json"));
        for (const nlohmann::json& event : timeline["traceEvents"]) {
            ++events[event["name"].get<std::string>() + " " + event["ph"].get<std::string>()];
        }
        EXPECT_GT(events["churn X"], 0) << "the threads' parts";
        EXPECT_GT(events["compact churn X"], 0);
        EXPECT_GT(events["compact neighbour 1 X"], 0);
        EXPECT_GT(events["place newborns X"], 0);
        EXPECT_GT(events["churn C"], 0) << "alive and removed";
    }
}

TEST_F(command_line, executors_and_pools_that_cannot_be) {
    expect_error({"run", "churn", "--executor", "magic"},
                 AllOf(HasSubstr("--executor"), HasSubstr("magic"), HasSubstr("inline,threads,tbb")));
    expect_error({"run", "churn", "--pools", "0"}, AllOf(HasSubstr("--pools"), HasSubstr("1")));
    expect_error({"run", "churn", "--operations", "1000", "--trace", path("no/timeline.json")},
                 HasSubstr(path("no/timeline.json")));
}

TEST_F(command_line, all_scenarios_pass_and_make_a_page) {
    const support::run_result result =
        run_stress({"run", "all", "--operations", "100000", "--alive", "100", "--json", path("result.json")});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.output,
                AllOf(StartsWith("scenario "), HasSubstr("\nchurn "), HasSubstr("\nchurn, stable "),
                      HasSubstr("\nhand-off, columns "), HasSubstr("\nviolations                   0\n")));
    const nlohmann::json json = json_in(path("result.json"));
    constexpr std::array placements{"dense", "stable", "columns"};
    ASSERT_EQ(json["scenarios"].size(), placements.size() * 17U);
    for (std::size_t i = 0; i < json["scenarios"].size(); ++i) {
        const auto& each = json["scenarios"][i];
        EXPECT_EQ(each["parameters"]["placement"], placements[i % placements.size()]);
        EXPECT_EQ(each["violations"], 0);
        EXPECT_TRUE(each.contains("stale_lookups") && each.contains("stale_accepted"));
        EXPECT_GT(each["operations"], 0);
    }
    run_stress(short_churn + arguments{"--json", path("churn.json")});
    const support::run_result page =
        run_stress({"report", path("result.json"), path("churn.json"), "-o", path("page.html")});
    EXPECT_EQ(page.status, 0) << page.errors;
    const std::string html = support::read_file(path("page.html"));
    EXPECT_THAT(html, AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr(">race-find</a>"),
                            HasSubstr(">race-find, stable</a>"), HasSubstr("<svg"), HasSubstr("churn.json"),
                            Not(HasSubstr("<script"))));
}

TEST_F(command_line, a_scenario_passes_on_a_stable_pool) {
    const support::run_result result = run_stress({"run", "hand-off", "--placement", "stable", "--operations",
                                                   "20000", "--alive", "100", "--json", path("result.json")});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, AllOf(StartsWith("run                          hand-off, stable\n"),
                                     HasSubstr("  placement                  stable\n")));
    const nlohmann::json json = json_in(path("result.json"))["scenarios"];
    ASSERT_EQ(json.size(), 1U);
    EXPECT_EQ(json[0]["name"], "hand-off, stable");
    EXPECT_EQ(json[0]["parameters"]["placement"], "stable");
    EXPECT_THAT(
        json[0]["again"].get<std::string>(),
        AllOf(StartsWith("handlepool-stress run hand-off --threads 2 "), HasSubstr(" --placement stable")));
}

TEST_F(command_line, all_scenarios_with_one_placement) {
    const support::run_result result = run_stress({"run", "all", "--placement", "stable", "--operations",
                                                   "20000", "--alive", "50", "--json", path("result.json")});
    EXPECT_EQ(result.status, 0) << result.output;
    const nlohmann::json json = json_in(path("result.json"))["scenarios"];
    EXPECT_EQ(json.size(), 17U);
    for (const auto& each : json) {
        EXPECT_EQ(each["parameters"]["placement"], "stable");
    }
}

TEST_F(command_line, churn_and_replay_pass_with_other_placements) {
    for (const std::string placement : {"stable", "columns"}) {
        for (const arguments& line : {short_churn, arguments{"replay", small_trace()}}) {
            const support::run_result result =
                run_stress(line + arguments{"--placement", placement, "--json", path("result.json")});
            EXPECT_EQ(result.status, 0) << result.output;
            EXPECT_EQ(json_in(path("result.json"))["parameters"]["placement"], placement);
        }
    }
}

TEST_F(command_line, placements_that_cannot_be) {
    expect_error({"run", "churn", "--placement", "sparse"},
                 AllOf(HasSubstr("--placement"), HasSubstr("sparse"), HasSubstr("dense,stable,columns")));
    expect_error({"churn", "--placement", "both"}, HasSubstr("--placement"));
}

TEST_F(command_line, a_scenario_that_is_not_there) {
    expect_error({"run", "nothing"}, AllOf(HasSubstr("there is no scenario 'nothing'"),
                                           HasSubstr("race-erase"), HasSubstr("soak"), HasSubstr("all")));
    expect_error({"run"}, HasSubstr("scenario is required"));
    expect_error({"run", "churn", "--seconds", "0"},
                 HasSubstr("--seconds: '0' is not allowed (allowed: 0.01"));
    expect_error({"run", "churn", "--sample", "0"}, HasSubstr("--sample: '0' is not allowed"));
    expect_error({"run", "churn", "--alive", "15"}, HasSubstr("--alive: '15' is not allowed (allowed: 16"));
}

TEST_F(command_line, a_page_of_what_is_no_result) {
    std::ofstream(path("bad.json")) << "{\"command\": 7, \"violations\": 0}";
    expect_error({"report", path("bad.json"), "-o", path("page.html")},
                 AllOf(StartsWith("handlepool-stress: " + path("bad.json")), HasSubstr("/command")));
    expect_error({"report", path("bad.json"), "-o", path("bad.json")}, HasSubstr("is one of the results"));
    expect_error({"report", path("missing.json"), "-o", path("page.html")}, HasSubstr("No such file"));
    expect_error({"report", path("bad.json"), "-o", path("no/page.html")},
                 StartsWith("handlepool-stress: --output: " + path("no/page.html") + " cannot be written"));
}

TEST_F(command_line, a_violation_in_a_scenario_is_told_with_the_command_that_does_it_again) {
    const support::run_result result =
        support::run_program({support::paths::failing_stress_program, "run", "churn", "--seed", "7", "--json",
                              path("result.json")});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("violations                   1\n  something was wrong\n"),
                      HasSubstr("handlepool-stress run churn --threads 2 --seed 7 --alive 20000 "
                                "--seconds 10 --executor tbb --pools 3 --placement dense\n"),
                      HasSubstr("FAILED")));
    EXPECT_THAT(json_in(path("result.json"))["scenarios"][0]["again"].get<std::string>(),
                HasSubstr("--seed 7"));
    const support::run_result all = support::run_program(
        {support::paths::failing_stress_program, "run", "all", "--operations", "1000", "--alive", "100"});
    EXPECT_EQ(all.status, 1);
    EXPECT_THAT(all.output, AllOf(HasSubstr("something was wrong"), HasSubstr("FAILED")));
}

TEST_F(command_line, replay_passes) {
    const std::string trace = small_trace();
    const support::run_result result =
        run_stress({"replay", trace, "--threads", "3", "--seed", "7", "--json", path("result.json")});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.errors, IsEmpty()) << "no progress without a terminal";
    EXPECT_THAT(result.output, AllOf(HasSubstr("  trace                      " + trace + "\n"),
                                     HasSubstr("program"), HasSubstr("passed")));
    const nlohmann::json json = json_in(path("result.json"));
    EXPECT_EQ(json["command"], "replay");
    EXPECT_EQ(json["parameters"]["trace"], trace);
    EXPECT_EQ(json["parameters"]["seed"], "7");
    EXPECT_EQ(json["threads"], 3);
    EXPECT_EQ(json["created"], 2);
    EXPECT_EQ(json["destroyed"], 1);
    EXPECT_EQ(json["alive_final"], 1);
}

TEST_F(command_line, a_violation_has_an_exit_code_of_its_own) {
    const support::run_result result = support::run_program(
        {support::paths::failing_stress_program, "churn", "--json", path("result.json")});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.output, HasSubstr("violations                   1\n  something was wrong\n"));
    EXPECT_THAT(result.output, HasSubstr("FAILED"));
    EXPECT_EQ(json_in(path("result.json"))["violation_messages"][0], "something was wrong");
}

struct terminal : command_line {
    void SetUp() override {
        if (const std::string lack = support::lack_of_terminals(); !lack.empty()) {
            GTEST_SKIP() << lack;
        }
    }

    // The lines that were shown one after the other in the place of one.
    static std::vector<std::string> shown(const std::string& errors) {
        constexpr std::string_view begin_of_line = "\r\033[K";
        std::vector<std::string> lines;
        std::size_t at = begin_of_line.size();
        while (at < errors.size()) {
            const std::size_t end = std::min(errors.find(begin_of_line, at), errors.size());
            lines.push_back(errors.substr(at, end - at));
            at = end + begin_of_line.size();
        }
        return lines;
    }
};

TEST_F(terminal, shows_the_progress) {
    for (const arguments& line : {short_churn, arguments{"replay", small_trace()}}) {
        const support::run_result result = run_stress(line, support::errors_to::terminal);
        EXPECT_EQ(result.status, 0);
        EXPECT_THAT(result.errors, AllOf(StartsWith("\r\033[K" + line.front() + " ["), HasSubstr(" %  "),
                                         HasSubstr("million operations/s"), HasSubstr("s left")));
        EXPECT_TRUE(result.errors.ends_with("\r\033[K")) << "the line is not cleared";
        EXPECT_THAT(result.output, HasSubstr("passed"));
    }
}

TEST_F(terminal, shows_no_line_that_it_is_too_narrow_for) {
    for (const unsigned short columns : std::initializer_list<unsigned short>{1, 20, 40, 80}) {
        const support::run_result result =
            run_stress({"run", "race-erase", "--seconds", "0.15", "--alive", "100"},
                       support::errors_to::terminal, columns);
        EXPECT_EQ(result.status, 0);
        EXPECT_THAT(result.errors, Not(HasSubstr("\n")));
        for (const std::string& line : shown(result.errors)) {
            EXPECT_LT(line.size(), columns) << line;
        }
    }
}

TEST_F(terminal, that_knows_no_width_has_that_of_the_environment) {
    const support::run_result result =
        support::run_program({"env", "COLUMNS=30", support::paths::stress_program, "run", "race-erase",
                              "--seconds", "0.1", "--alive", "100"},
                             support::errors_to::terminal);
    EXPECT_EQ(result.status, 0);
    for (const std::string& line : shown(result.errors)) {
        EXPECT_LT(line.size(), 30U) << line;
    }
}

TEST_F(terminal, shows_which_of_all_scenarios_it_is) {
    const support::run_result all = run_stress({"run", "all", "--operations", "1000", "--alive", "100"},
                                               support::errors_to::terminal, 80);
    EXPECT_EQ(all.status, 0);
    EXPECT_THAT(all.errors, AllOf(HasSubstr("\033[Kscenario 1 of 51, churn ["),
                                  HasSubstr("\033[Kscenario 8 of 51, race-erase, stable ["),
                                  HasSubstr("\033[Kscenario 49 of 51, hand-off [")));
}

TEST_F(command_line, a_trace_that_cannot_be_read) {
    const std::string json = path("result.json");
    expect_error({"replay", path("missing.zst"), "--json", json},
                 AllOf(StartsWith("handlepool-stress: " + path("missing.zst")), HasSubstr("No such file")));
    expect_error({"replay", directory.string(), "--json", json}, HasSubstr("Is a directory"));
    std::ofstream(path("text.zst")) << "no trace";
    expect_error({"replay", path("text.zst"), "--json", json}, HasSubstr("not a zstd frame"));
    const std::string trace = small_trace();
    {
        std::fstream stream(trace, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekg(-1, std::ios::end);
        const int last = stream.get();
        stream.seekp(-1, std::ios::end);
        stream.put(static_cast<char>(last ^ 1));
    }
    expect_error({"replay", trace, "--json", json}, AllOf(HasSubstr(trace), HasSubstr("damaged")));
    std::filesystem::resize_file(trace, 20);
    expect_error({"replay", trace, "--json", json}, AllOf(HasSubstr(trace), HasSubstr("cut off")));
}

TEST_F(command_line, a_result_that_cannot_be_written) {
    const std::string json = path("no/such/directory.json");
    for (const arguments& line :
         {short_churn, arguments{"replay", small_trace()}, arguments{"record", "/bin/true"}}) {
        expect_error(line + arguments{"--json", json},
                     StartsWith("handlepool-stress: --json: " + json + " cannot be written: No such file"));
    }
}

// The standard error need not be there, or take anything: what a run comes to is the same.
TEST_F(command_line, messages_that_cannot_be_written) {
    const auto run_with = [](const std::string& streams, const arguments& line) {
        return support::run_program(
            arguments{"sh", "-c", "exec \"$0\" \"$@\" " + streams, support::paths::stress_program} + line);
    };
    for (const char* const errors : {"2>&-", "2>/dev/full"}) {
        EXPECT_EQ(run_with(errors, {"replay", "/nonexistent"}).status, 2) << errors;
        EXPECT_EQ(run_with(errors, short_churn).status, 0) << errors;
        EXPECT_EQ(run_with(errors, {"record", "-o", path("trace.zst"), "--", "sh", "-c", ":"}).status, 0)
            << errors;
    }
    // Nor may a file take the place of what is closed.
    const char* const all = "<&- >&- 2>&-";
    const std::string json = path("result.json");
    EXPECT_EQ(run_with(all, short_churn + arguments{"--json", json}).status, 2);
    EXPECT_FALSE(std::filesystem::exists(json));
    const std::string trace = path("trace.zst");
    EXPECT_EQ(run_with(all, {"record", "--json", json, "-o", trace, "--", "sh", "-c",
                             "for i in 0 1 2; do test /proc/$$/fd/$i -ef /dev/null || exit 1; done"})
                  .status,
              0);
    EXPECT_EQ(json_in(json)["exit_status"], 0);
    EXPECT_EQ(run_stress({"replay", trace}).status, 0);
}

TEST_F(command_line, a_report_that_cannot_be_written) {
    const support::run_result result = support::run_program(
        {"sh", "-c", "exec \"$0\" churn --frames 2 >/dev/full", support::paths::stress_program});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.errors, HasSubstr("No space left on device"));
}

TEST_F(command_line, a_result_for_a_pipe) {
    const support::run_result result =
        support::run_program({"sh", "-c", "\"$0\" churn --alive 100 --frames 2 --json /dev/stdout | cat",
                              support::paths::stress_program});
    EXPECT_EQ(result.errors, "");
    EXPECT_THAT(result.output, AllOf(HasSubstr("passed"), HasSubstr("\"command\": \"churn\"")));
}

TEST_F(command_line, a_result_larger_than_a_file_may_be) {
    const support::run_result result = support::run_program(
        {"sh", "-c", "ulimit -f 1; exec \"$@\" >/dev/null", "sh", support::paths::stress_program, "churn",
         "--alive", "100", "--frames", "2", "--json", path("result.json")});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.errors,
              "handlepool-stress: --json: " + path("result.json") + " cannot be written: File too large\n");
    EXPECT_EQ(files(), 0U);
}

TEST_F(command_line, files_come_all_or_none) {
    const arguments line{"run", "race-erase", "--operations", "1000", "--alive", "100"};
    const support::run_result unprinted =
        support::run_program({"sh", "-c", "exec \"$@\" >/dev/full", "sh", support::paths::stress_program,
                              "run", "race-erase", "--operations", "1000", "--alive", "100", "--json",
                              path("result.json"), "--trace", path("timeline.json")});
    EXPECT_EQ(unprinted.status, 2);
    EXPECT_EQ(files(), 0U) << "the exit code says that there is no result";
    const support::run_result untraced =
        run_stress(line + arguments{"--json", path("result.json"), "--trace", "/dev/full"});
    EXPECT_EQ(untraced.status, 2);
    EXPECT_THAT(untraced.errors, HasSubstr("--trace: /dev/full cannot be written: No space left on device"));
    EXPECT_EQ(files(), 0U);
    EXPECT_EQ(
        run_stress(line + arguments{"--json", path("result.json"), "--trace", path("timeline.json")}).status,
        0);
    EXPECT_EQ(files(), 2U);
}

TEST_F(command_line, no_file_is_written_over_another) {
    const std::string trace = small_trace();
    const std::string again = path("../" + directory.filename().string() + "/small.zst");
    expect_error({"replay", trace, "--json", again},
                 HasSubstr("the trace and --json name the same file: " + again));
    expect_error({"replay", trace, "--trace", trace},
                 HasSubstr("the trace and --trace name the same file: " + trace));
    expect_error(short_churn + arguments{"--json", path("new"), "--trace", path("./new")},
                 HasSubstr("--json and --trace name the same file: "));
    expect_error({"record", "-o", path("new"), "--json", path("new"), "--", "true"},
                 HasSubstr("--output and --json name the same file: "));
    std::filesystem::create_symlink("nothing", path("one"));
    std::filesystem::create_symlink("nothing", path("other"));
    expect_error(short_churn + arguments{"--json", path("one"), "--trace", path("other")},
                 HasSubstr("--json and --trace name the same file: " + path("other")));
    EXPECT_EQ(run_stress(short_churn + arguments{"--json", "/dev/null", "--trace", "/dev/null"}).status, 0);
}

// None of the files exists yet.
TEST_F(command_line, no_file_is_written_over_another_in_the_folder_where_it_runs) {
    const auto run_there = [this](const arguments& line) {
        return support::run_program(arguments{"sh", "-c", "cd \"$0\" && exec \"$@\"", directory.string(),
                                              support::paths::stress_program} +
                                    line);
    };
    for (const std::string& other : arguments{"./new", path("new"), "link"}) {
        std::filesystem::remove(path("link"));
        std::filesystem::create_symlink("new", path("link"));
        EXPECT_THAT(run_there({"record", "-o", "new", "--json", other, "--", "/bin/true"}).errors,
                    HasSubstr("--output and --json name the same file: " + other));
        EXPECT_THAT(run_there(short_churn + arguments{"--json", "new", "--trace", other}).errors,
                    HasSubstr("--json and --trace name the same file: " + other));
        EXPECT_FALSE(std::filesystem::exists(path("new")));
    }
}

TEST_F(command_line, records_and_replays) {
    const std::string trace = path("recorded.zst");
    const support::run_result recorded =
        run_stress({"record", "--output", trace, "--json", path("record.json"), "--",
                    support::paths::record_fixture, "cross"});
    ASSERT_EQ(recorded.status, 0) << recorded.errors;
    EXPECT_THAT(recorded.output, IsEmpty()) << "it is the program's";
    EXPECT_THAT(recorded.errors,
                AllOf(StartsWith(trace + ": "), HasSubstr("allocations"), Not(HasSubstr("exited"))));
    const nlohmann::json json = json_in(path("record.json"));
    EXPECT_EQ(json["program"][1], "cross");
    EXPECT_EQ(json["exit_status"], 0);
    const support::run_result replayed = run_stress({"replay", trace, "--json", path("replay.json")});
    EXPECT_EQ(replayed.status, 0) << replayed.errors;
    EXPECT_EQ(json_in(path("replay.json"))["created"], json["allocations"]);
    EXPECT_EQ(json_in(path("replay.json"))["destroyed"], json["frees"]);
}

TEST_F(command_line, recording_a_program_that_fails) {
    const std::string trace = path("recorded.zst");
    const support::run_result failed =
        run_stress({"record", "--output", trace, "--", support::paths::record_fixture, "fail"});
    EXPECT_EQ(failed.status, 2);
    EXPECT_THAT(failed.errors, HasSubstr("exited with 3; its trace was written"));
    EXPECT_TRUE(std::filesystem::exists(trace));
    const support::run_result killed =
        run_stress({"record", "--output", trace, "--", support::paths::record_fixture, "kill"});
    EXPECT_EQ(killed.status, 2);
    EXPECT_THAT(killed.errors, HasSubstr("killed by signal 9"));
    expect_error({"record", "--output", trace, "--json", path("result.json"), "--", "no-such-program"},
                 HasSubstr("cannot run no-such-program"));
}

} // namespace
} // namespace handlepool::stress
