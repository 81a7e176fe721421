// SPDX-License-Identifier: MIT

// What the scripts of ci/ say, install and run.

#include "scripts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <support/programs/run_program.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace handlepool::test {

using namespace support;

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(scripts, explain_themselves_with_examples_and_do_nothing_else) {
    for (const std::string& script : all()) {
        for (const char* const option : {"--help", "-h"}) {
            SCOPED_TRACE(script + " " + option);
            const run_result result = run(script, {option});
            EXPECT_EQ(result.status, 0);
            EXPECT_THAT(result.output, StartsWith("usage: ci/" + script));
            EXPECT_THAT(result.output, ContainsRegex("\nexamples:\n  [^\n]*ci/" + script));
            EXPECT_THAT(result.output, Not(HasSubstr("set -euo"))); // ends where the script begins
            EXPECT_THAT(result.errors, IsEmpty());
            EXPECT_THAT(calls(), IsEmpty());
        }
    }
}

TEST_F(scripts, say_what_is_wrong_with_their_arguments_and_do_nothing_else) {
    struct wrong_call {
        std::string script;
        std::vector<std::string> arguments;
        std::string complaint;
    };
    std::vector<wrong_call> wrong_calls{
        {"asan.sh", {"g++", "0"}, "SECONDS is '0', and must be a number from 1 on"},
        {"asan.sh",
         {"g++", "5", "handlepool_tests", "stress"},
         "PROGRAM is 'stress', and must be handlepool-stress or a program of tests, such as "
         "handlepool_tests"},
        {"bench.sh", {"--json"}, "--json needs a value"},
        {"bench.sh", {"--rounds", "9", "more"}, "unexpected argument 'more'"},
        {"coherence.sh", {"--picture"}, "--picture needs a value"},
        {"coherence.sh", {"--seed", "7", "more"}, "unexpected argument 'more'"},
        {"compilers.sh", {"libc++", "more"}, "unexpected argument 'more'"},
        {"fuzz.sh", {"some"}, "SECONDS is 'some', and must be a number from 1 on"},
        {"fuzz.sh", {"5", "bag", "bug"}, "TARGET is 'bug', and must be one of bag bag_edits bag_json"},
        {"format.sh", {"--fix", "more"}, "unexpected argument 'more'"},
        {"tools/install.sh", {"hammer"}, "unknown tool 'hammer'"},
        {"tools/install.sh", {"--harness", "gdb"}, "unexpected argument 'gdb'"},
        {"model.sh", {"--deep", "more"}, "unexpected argument 'more'"},
        {"mutants", {"--json"}, "argument --json: expected one argument"},
        {"mutants", {"--jobs", "some"}, "argument --jobs: is 'some', and must be a number from 1 on"},
        {"mutants", {"--timeout", "0"}, "argument --timeout: is '0', and must be a number from 1 on"},
        {"mutants",
         {"--json", "no-such/file"},
         "--json is 'no-such/file', and must be a file in a folder that exists"},
        {"mutants", {"no-such"}, "there is no tests/mutants/no-such.patch; --list prints the names"},
        {"packages.sh", {"rpm"}, "PART is 'rpm', and must be debian, conan, vcpkg or meson"},
        {"peers.sh", {"--json"}, "--json needs a value"},
        {"peers.sh", {"--quick", "more"}, "unexpected argument 'more'"},
        {"tools/onetbb_tsan.sh", {"icc"}, "COMPILER is 'icc', and must be g++ or clang++-19"},
        {"tools/onetbb_tsan.sh", {"g++", "more"}, "unexpected argument 'more'"},
        {"stress.sh", {}, "SECONDS is '', and must be a number from 1 on"},
        {"test.sh", {"debug"}, "PRESET is 'debug', and must be dev or release"},
        {"tsan.sh", {"clang++-19", "some"}, "SECONDS is 'some', and must be a number from 1 on"},
    };
    for (const std::string& script : all()) {
        if (script != "demo.sh") { // which passes them on
            wrong_calls.push_back({script, {"--no-such"}, "'--no-such'"});
        }
    }
    for (const auto& [script, arguments, complaint] : wrong_calls) {
        SCOPED_TRACE(script + ": " + complaint);
        const run_result result = run(script, arguments);
        EXPECT_EQ(result.status, 2);
        EXPECT_THAT(result.output, IsEmpty());
        EXPECT_THAT(result.errors, StartsWith("ci/" + script + ": "));
        EXPECT_THAT(result.errors, HasSubstr(complaint));
        EXPECT_THAT(result.errors, HasSubstr("\nusage: ci/" + script));
        EXPECT_THAT(calls(), IsEmpty());
    }
}

TEST_F(scripts, bench_passes_its_arguments_on) {
    make_program(root / "build/release/bench/handlepool-bench", "printf '<%s>' \"$@\"");
    const run_result result = run("bench.sh", {"--json", "a file", "--benchmark_filter=x"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(result.output, "<--json><a file><--benchmark_filter=x>"); // and nothing of what was built
}

TEST_F(scripts, demo_installs_what_the_harness_needs_only) {
    EXPECT_EQ(run("demo.sh").status, 0);
    EXPECT_THAT(
        calls(),
        ContainsRegex("\napt-get install [^\n]* --no-install-recommends g\\+\\+ cmake ninja-build pkg-config "
                      "libboost1.81-dev libcli11-dev libfmt-dev libtbb-dev libzstd-dev "
                      "nlohmann-json3-dev\n"));
}

TEST_F(scripts, install_shows_how_far_it_is) {
    make_program(tools / "apt-get", "[ \"$1\" = install ] || exit 0\n"
                                    "echo 'dlstatus:1:3.25:Retrieving file 1 of 2' >&3\n"
                                    "echo 'dlstatus:2:14.5:Retrieving file 2 of 2' >&3\n"
                                    "echo 'dlstatus:2:15.5:Retrieving file 2 of 2' >&3\n"
                                    "echo 'media-change: no number' >&3\n"
                                    "echo 'pmstatus:g++:100.0000:Installed g++' >&3\n"
                                    "echo 'what apt says besides'");
    const run_result result = run("tools/install.sh", {"--harness"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(result.output,
              "installing: g++ cmake ninja-build pkg-config libboost1.81-dev libcli11-dev libfmt-dev "
              "libtbb-dev libzstd-dev nlohmann-json3-dev\n"
              "fetching 3 %\nfetching 14 %\nunpacking 100 %\n");
}

TEST_F(scripts, those_that_run_the_tests_install_a_browser) {
    EXPECT_EQ(run("test.sh").status, 0);
    EXPECT_THAT(calls(), ContainsRegex("apt-get install [^\n]* g\\+\\+ [^\n]*chromium-headless-shell"));
    EXPECT_THAT(calls(), ContainsRegex("\nctest --test-dir "));
    for (const char* const script : {"asan.sh", "tsan.sh"}) {
        std::filesystem::remove(directory / "calls");
        run(script); // ends where it wants to run what was not built
        EXPECT_THAT(calls(), ContainsRegex("apt-get install [^\n]*chromium-headless-shell")) << script;
    }
}

TEST_F(scripts, those_that_run_the_example_for_vulkan_install_a_driver_that_needs_no_hardware) {
    EXPECT_EQ(run("test.sh").status, 0);
    EXPECT_THAT(calls(),
                ContainsRegex("apt-get install [^\n]* libvulkan-dev [^\n]*mesa-vulkan-drivers[^\n]*\n"));
    std::filesystem::remove(directory / "calls");
    run("asan.sh"); // ends where it wants to run what was not built
    EXPECT_THAT(calls(),
                ContainsRegex("apt-get install [^\n]* libvulkan-dev [^\n]*mesa-vulkan-drivers[^\n]*\n"));
}

TEST_F(scripts, demo_runs_in_a_path_with_spaces_from_where_it_was_called) {
    const run_result result = run("demo.sh", {"replay", "my trace.zst"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, EndsWith("\n<replay><my trace.zst>"));
    EXPECT_THAT(result.output, HasSubstr(std::filesystem::canonical(directory).string() + "\n"));
    EXPECT_THAT(calls(), HasSubstr(root.string() + "/build/replay"));
}

TEST_F(scripts, demo_builds_for_a_replay_that_command_only) {
    EXPECT_EQ(run("demo.sh").status, 0);
    EXPECT_THAT(calls(),
                AllOf(HasSubstr(" -D HANDLEPOOL_STRESS_COMMANDS=replay "), HasSubstr("/build/replay\n")));
    std::filesystem::remove(directory / "calls");
    EXPECT_EQ(run("demo.sh", {"churn"}).status, 0);
    EXPECT_THAT(calls(),
                AllOf(HasSubstr(" -D HANDLEPOOL_STRESS_COMMANDS=run;replay;churn;record;recover;report "),
                      HasSubstr("/build/stress\n")));
}

TEST_F(scripts, demo_replays_a_shipped_trace) {
    std::filesystem::create_directories(root / "stress/traces");
    std::ofstream(root / "stress/traces/some.zst");
    const run_result result = run("demo.sh");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, EndsWith("<replay><" + root.string() + "/stress/traces/some.zst>"));
}

TEST_F(scripts, demo_ends_like_what_it_runs) {
    make_program(root / "build/replay/stress/handlepool-stress", "exit 1");
    EXPECT_EQ(run("demo.sh").status, 1);
    make_program(tools / "cmake", "exit 3");
    EXPECT_EQ(run("demo.sh").status, 3);
    make_program(tools / "apt-get", "exit 100");
    EXPECT_EQ(run("demo.sh").status, 100);
}

TEST_F(scripts, who_is_not_root_learns_what_is_missing_and_how_to_install_it) {
    make_program(tools / "id", "echo 1000");
    make_program(tools / "dpkg-query", "case \"$*\" in *g++ | *cmake) exit 1 ;; *) echo installed ;; esac");
    const run_result result = run("demo.sh");
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.errors, "ci/tools/install.sh: these packages are missing: g++ cmake\n"
                             "Only root can install them:\n"
                             "    apt-get update && apt-get install -y --no-install-recommends g++ cmake\n");
    EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(scripts, who_is_not_root_needs_no_root_when_all_is_there) {
    make_program(tools / "id", "echo 1000");
    make_program(tools / "dpkg-query", "echo installed");
    EXPECT_EQ(run("demo.sh").status, 0);
    EXPECT_THAT(calls(), AllOf(StartsWith("cmake "), Not(HasSubstr("apt-get"))));
}

TEST_F(scripts, docs_installs_doxygen_and_ends_like_it) {
    make_program(tools / "doxygen", "echo \"${0##*/} $*\" >>\"$CALLS\"");
    EXPECT_EQ(run("docs.sh").status, 0);
    EXPECT_THAT(calls(), ContainsRegex("apt-get install [^\n]* doxygen"));
    EXPECT_THAT(calls(), EndsWith("\ndoxygen docs/Doxyfile\n"));
    make_program(tools / "doxygen", "exit 1");
    EXPECT_EQ(run("docs.sh").status, 1);
}

TEST_F(scripts, install_knows_its_tools) {
    EXPECT_EQ(run("tools/install.sh", {"--all"}).status, 0);
    for (const char* const package :
         {"chromium-headless-shell", "clang-14", "clang-19", "libc++-19-dev", "lib32stdc++-12-dev",
          "clang-format-19", "doxygen", "dpkg-dev", "gdb", "lldb-19", "mesa-vulkan-drivers",
          "python3-kiwisolver", "python3-numpy", "librust-sharded-slab-dev"}) {
        EXPECT_THAT(calls(), HasSubstr(std::string(" ") + package));
    }
}

} // namespace
} // namespace handlepool::test
