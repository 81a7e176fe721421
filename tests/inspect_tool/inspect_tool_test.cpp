// SPDX-License-Identifier: MIT

// The program handlepool-inspect as its users meet it.

#include <handlepool/detail/text/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/files/read_file.hpp>
#include <support/programs/run_program.hpp>
#include <support/programs/started_program.hpp>
#include <tests/inspect_tool/wait_for_output.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using nlohmann::json;
using support::run_result;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

run_result inspect(std::vector<std::string> line) {
    line.insert(line.begin(), support::paths::inspect_program);
    return support::run_program(std::move(line));
}

/// The program that is inspected, and the handles that it has printed.
struct inspect_tool : testing::Test {
    void SetUp() override {
        std::istringstream(wait_for_output(output, "(0x.*)\n")[1]) >> kept >> lost;
        ASSERT_NE(lost, "");
        process = std::to_string(example.id());
        const run_result listed = inspect({"--json"});
        ASSERT_EQ(listed.status, 0) << listed.errors;
        json listed_here;
        for (const json& each : json::parse(listed.output)) {
            if (each.at("process") == example.id()) {
                listed_here = each;
            }
        }
        EXPECT_EQ(listed_here, (json{{"process", example.id()},
                                     {"name", "handlepool_inspect_example"},
                                     {"pools", {"stations", "sparks"}}}));
    }

    support::scratch_directory directory;
    std::filesystem::path output = directory.path() / "output";
    support::started_program example{{support::paths::inspect_example}, output};
    std::string kept;
    std::string lost;
    std::string process;
};

TEST_F(inspect_tool, finds_who_erased_a_handle) {
    const run_result result = inspect({process, "--handle", lost});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(
        result.output,
        MatchesRegex(
            "stations #1 generation 1: erased 1 frame ago by thread \"logic\" in game::explode\\(\\) at "
            "example.cpp:[0-9]+; created 6 frames ago by thread \"logic\" in game::found\\(\\) at "
            "example.cpp:[0-9]+\n"));
    const run_result as_json = inspect({process, "--handle", lost, "--json", "--bytes"});
    EXPECT_EQ(json::parse(as_json.output),
              json::array({{{"pool", "stations"},
                            {"alive", false},
                            {"text", result.output.substr(0, result.output.size() - 1)},
                            {"bytes", nullptr}}}));
}

TEST_F(inspect_tool, shows_a_living_object) {
    const run_result result = inspect({process, "--handle", kept, "--bytes"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                MatchesRegex("stations #0 generation 1: alive; created 6 frames ago by thread \"logic\" in "
                             "game::found\\(\\) at example.cpp:[0-9]+\n  07000000\n"));
}

TEST_F(inspect_tool, finds_a_leak_and_a_guard) {
    const run_result result = inspect({process, "--pool", "stations", "--over", "0"});
    EXPECT_EQ(result.status, 0) << result.errors;
    const std::string text =
        std::regex_replace(std::regex_replace(result.output, std::regex("[0-9.]+ (KiB|MiB)"), "# KiB"),
                           std::regex("[0-9.]+ (ms|s),"), "# ms,");
    const std::string collapsed = std::regex_replace(text, std::regex(" +"), " ");
    EXPECT_THAT(
        collapsed,
        MatchesRegex("handlepool_inspect_example \\(" + process +
                     "\\): 1 pool\n"
                     "pool id alive capacity used newborn waiting created/s erased/s frames/s compaction "
                     "memory state type\n"
                     "stations 5 6 100 6% 0 0 - - - - # KiB guarded game::station\n"
                     "the service - - - - - - - - - - - guarded service\n"
                     "the service: thread \"network\" holds 1 guard for # ms, made in game::serve\\(.*\\) at "
                     "example.cpp:[0-9]+\n"
                     "stations: thread \"render\" holds 1 guard for # ms, made in game::draw\\(.*\\) at "
                     "example.cpp:[0-9]+\n"
                     "\n"
                     "Ages in frames: the youngest 2, a quarter up to 3, half up to 4, three quarters up to "
                     "5, the oldest 6\n"
                     "\n"
                     " alive change youngest oldest created in\n"
                     " 5 - 2 6 game::leak\\(\\) at example.cpp:[0-9]+\n"
                     " 1 - 6 6 game::found\\(\\) at example.cpp:[0-9]+\n"
                     "\n"
                     "The oldest objects:\n"
                     "( 0x[0-9a-f]+ stations #[0-9]+ generation 1: alive; created [2-6] frames ago by thread "
                     "\"logic\" in game::(found|leak)\\(\\) at example.cpp:[0-9]+\n)+"));
}

TEST_F(inspect_tool, prints_all_as_json) {
    const run_result result = inspect({process, "--json", "--over", "0.05"});
    EXPECT_EQ(result.status, 0) << result.errors;
    json programs = json::parse(result.output);
    json& pools = programs.at(0).at("pools");
    ASSERT_EQ(pools.size(), 2U);
    for (json& each : pools) {
        EXPECT_GT(each.at("bytes_resident"), 0);
        EXPECT_GT(each.at("compaction_nanoseconds"), 0);
        EXPECT_EQ(each.at("timed_compactions"), 1);
        EXPECT_EQ(each.at("phase_nanoseconds").size(), 8U);
        EXPECT_GT(each.at("phase_nanoseconds").at("place newborns"), 0);
        for (const char* const time_or_size :
             {"bytes_resident", "compaction_nanoseconds", "timed_compactions", "phase_nanoseconds"}) {
            each.erase(time_or_size);
        }
    }
    for (json* const gate : {&pools.at(0).at("gate"), &programs.at(0).at("services").at(0).at("gate")}) {
        json& guard = gate->at("guards").at(0);
        EXPECT_GT(guard.at("nanoseconds"), 0);
        EXPECT_THAT(guard.at("place").get<std::string>(), HasSubstr("example.cpp:"));
        guard.erase("nanoseconds");
        guard.erase("place");
        guard.erase("thread_number");
    }
    EXPECT_EQ(programs,
              json::parse(R"([{"process": )" + process + R"(, "name": "handlepool_inspect_example", "pools": [
        {"name": "stations", "id": 5, "layout": "32.22.10", "type": "game::station", "object_bytes": 4, "is_stable": false,
         "capacity": 100, "alive": 6, "dense": 6, "newborn": 0, "waiting_removals": 0, "reserved": 0, "created": 7, "erased": 1,
         "destroyed": 1, "frames": 6, "created_per_second": 0.0, "erased_per_second": 0.0,
         "frames_per_second": 0.0, "compaction_nanoseconds_per_frame": null, "growth_per_second": null,
         "gate": {"state": "open", "thread": "", "waiter": null, "waited_nanoseconds": 0,
                  "guards": [{"thread": "render", "guards": 1, "task": ""}]}},
        {"name": "sparks", "id": 6, "layout": "32.22.10", "type": "game::spark", "object_bytes": 4, "is_stable": true,
         "capacity": 40, "alive": 1, "dense": 1, "newborn": 0, "waiting_removals": 0, "reserved": 0, "created": 1, "erased": 0,
         "destroyed": 0, "frames": 1, "created_per_second": 0.0, "erased_per_second": 0.0,
         "frames_per_second": 0.0, "compaction_nanoseconds_per_frame": null, "growth_per_second": null,
         "gate": {"state": "open", "thread": "", "waiter": null, "waited_nanoseconds": 0, "guards": []}}],
        "services": [{"number": 0,
         "gate": {"state": "open", "thread": "", "waiter": null, "waited_nanoseconds": 0,
                  "guards": [{"thread": "network", "guards": 1, "task": ""}]}}]}])"));
}

TEST_F(inspect_tool, shows_names_of_any_bytes) {
    const std::filesystem::path printed_by_it = directory.path() / "strange";
    const support::started_program strange({support::paths::inspect_example, "strange"}, printed_by_it);
    wait_for_output(printed_by_it, "0x[0-9a-f]+ 0x[0-9a-f]+");
    const std::string number = std::to_string(strange.id());
    const std::string name = "a\n\x1b[2J\"\\\xff";
    const std::string shown = "a\uFFFD\uFFFD[2J\"\\\uFFFD";

    const run_result text = inspect({number, "--over", "0"});
    EXPECT_THAT(text.output, HasSubstr('\n' + shown + "  ")) << text.errors;
    EXPECT_EQ(
        json::parse(inspect({number, "--json", "--over", "0"}).output).at(0).at("pools").at(2).at("name"),
        shown);
    const run_result metrics = inspect({number, "--prometheus", "--over", "0"});
    EXPECT_THAT(metrics.output, HasSubstr(",pool=\"a\\n\uFFFD[2J\\\"\\\\\uFFFD\",pool_id="))
        << metrics.errors;

    const run_result listed = inspect({});
    EXPECT_THAT(listed.output,
                HasSubstr(number + "  handlepool_inspect_example: stations, sparks, " + shown + '\n'));
    const run_result one = inspect({number, "--pool", name, "--over", "0"});
    EXPECT_THAT(one.output, HasSubstr('\n' + shown + "  ")) << one.errors;
    const run_result none = inspect({number, "--pool", name + '!', "--over", "0"});
    EXPECT_EQ(none.errors, "handlepool-inspect: process " + number + " has no pool '" + shown +
                               "!'; it has stations, sparks, " + shown + '\n');
    for (const run_result& each : {text, metrics, listed, one, none}) {
        EXPECT_TRUE(detail::is_utf8(each.output + each.errors));
        EXPECT_THAT(each.output + each.errors, Not(HasSubstr("\x1b")));
    }
}

TEST_F(inspect_tool, prints_for_prometheus) {
    const run_result result = inspect({process, "--prometheus", "--over", "0"});
    EXPECT_EQ(result.status, 0) << result.errors;
    const std::string labels = "{program=\"handlepool_inspect_example\",process=\"" + process +
                               "\",pool=\"stations\",pool_id=\"5\",layout=\"32.22.10\",copy=\"0\"} ";
    EXPECT_THAT(result.output, HasSubstr("# HELP handlepool_inspected_alive Objects whose handles resolve.\n"
                                         "# TYPE handlepool_inspected_alive gauge\n"
                                         "handlepool_inspected_alive" +
                                         labels + "6\n"));
    EXPECT_THAT(result.output, HasSubstr("\nhandlepool_inspected_created_total" + labels + "7\n"));
    EXPECT_THAT(result.output, HasSubstr("\nhandlepool_inspected_guard_threads" + labels + "1\n"));
    EXPECT_THAT(result.output,
                HasSubstr("\nhandlepool_inspected_waiting_for_guards_seconds" + labels + "0\n"));
    const std::string of_service =
        "{program=\"handlepool_inspect_example\",process=\"" + process + "\",service=\"1\",copy=\"0\"} ";
    EXPECT_THAT(result.output,
                HasSubstr("\nhandlepool_inspected_service_guard_threads" + of_service + "1\n"));
    EXPECT_THAT(result.output,
                HasSubstr("\nhandlepool_inspected_service_waiting_for_guards_seconds" + of_service + "0\n"));
    EXPECT_THAT(result.output,
                ContainsRegex(
                    "\nhandlepool_inspected_service_longest_guard_seconds[{][^}]*[}] [0-9]*[.1-9][0-9.]*\n"));
    for (std::istringstream lines(result.output); lines.good();) {
        std::string line;
        std::getline(lines, line);
        EXPECT_THAT(line, MatchesRegex("|# (HELP|TYPE) handlepool_inspected_[a-z_]+ .+|"
                                       "handlepool_inspected_[a-z_]+\\{.*\\} [0-9.e+-]+"));
    }
}

TEST_F(inspect_tool, watches_until_the_program_ends) {
    const std::filesystem::path printed = directory.path() / "watch";
    support::started_program watch({support::paths::inspect_program, process, "--watch", "0.1", "--json"},
                                   printed);
    wait_for_output(printed, "\n.*\n"); // it has looked twice
    example.kill();
    EXPECT_EQ(watch.wait(), 2);
    std::istringstream lines(support::read_file(printed.string()));
    std::string line;
    while (std::getline(lines, line) && line.starts_with("[")) {
        EXPECT_EQ(json::parse(line).at(0).at("pools").size(), 2U);
    }
    EXPECT_EQ(line, "handlepool-inspect: there is no process " + process + " any more");
    EXPECT_FALSE(std::getline(lines, line));
}

TEST(inspect_tool_watch, names_the_pools_that_grow) {
    const support::scratch_directory directory;
    const std::filesystem::path output = directory.path() / "output";
    const std::filesystem::path printed_by_game = directory.path() / "game";
    support::started_program game({support::paths::inspect_example, "busy"}, printed_by_game);
    wait_for_output(printed_by_game, "\n"); // it can be looked at
    support::started_program watch(
        {support::paths::inspect_program, std::to_string(game.id()), "--watch", "0.12"}, output);
    wait_for_output(output, "rocks: [0-9]+ objects, and [0-9]+[.][0-9] more each second: --pool tells where "
                            "they are created\n");
    const std::string printed = support::read_file(output.string());
    EXPECT_EQ(printed.find("stations: 6 objects"), printed.npos) << "which does not grow";
}

TEST_F(inspect_tool, refuses_what_it_does_not_know) {
    const auto errors_of = [](std::vector<std::string> line) {
        const run_result result = inspect(std::move(line));
        EXPECT_EQ(result.status, 2);
        EXPECT_EQ(result.output, "");
        return result.errors;
    };
    EXPECT_EQ(errors_of({process, "--pool", "cars"}),
              "handlepool-inspect: process " + process + " has no pool 'cars'; it has stations, sparks\n");
    EXPECT_EQ(errors_of({process, "--handle", "ship 7"}),
              "handlepool-inspect: 'ship 7' is no handle: a handle is a number of 64 bits, 4294968317 or "
              "0x1000003fd\n");
    EXPECT_EQ(errors_of({process, "--handle", "0x100000000"}),
              "handlepool-inspect: no pool in process " + process +
                  " has the pool id of the handle 0x100000000\n");
    EXPECT_EQ(errors_of({process, "--handle", lost, "--pool", "sparks"}),
              "handlepool-inspect: no pool 'sparks' in process " + process +
                  " has the pool id of the handle " + lost + "\n");
    EXPECT_EQ(errors_of({"1073741825"}), "handlepool-inspect: there is no process 1073741825 any more\n");
    EXPECT_EQ(errors_of({"no such program"}), "handlepool-inspect: no process that may be read runs a "
                                              "program 'no such program' with pools; without "
                                              "arguments, this lists those that do\n");
    EXPECT_EQ(errors_of({"--pool", "stations"}),
              "program is required\nRun with --help for more information.\n");
    EXPECT_EQ(errors_of({process, "--json", "--prometheus"}),
              "--json excludes --prometheus\nRun with --help for more information.\n");
}

TEST(inspect_tool_errors, need_not_be_heard) {
    for (const char* const errors : {" 2>&-", " 2>/dev/full"}) {
        const std::string line = std::string("exec \"$0\" 1073741825") + errors;
        EXPECT_EQ(support::run_program({"sh", "-c", line, support::paths::inspect_program}).status, 2)
            << line;
    }
}

TEST(inspect_tool_help, has_examples) {
    const run_result result = inspect({"--help"});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, HasSubstr("Examples:\n  handlepool-inspect\n  handlepool-inspect game\n"));
}

} // namespace
} // namespace handlepool::test
