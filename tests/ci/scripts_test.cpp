// What the scripts of ci/ install and run, with programs on PATH that only note how they were called.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/read_file.hpp>
#include <support/run_program.hpp>
#include <support/scratch_directory.hpp>

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

struct scripts : testing::Test {
    scripts() {
        std::filesystem::create_directories(root / "build/stress/stress");
        std::filesystem::copy(HANDLEPOOL_SCRIPTS, root / "ci");
        std::filesystem::create_directory(tools);
        for (const char* const name : {"apt-get", "cmake", "ctest"}) {
            make_program(tools / name, "echo \"${0##*/} $*\" >>\"$CALLS\"");
        }
        make_program(tools / "dpkg-query", "exit 1"); // nothing is installed
        make_program(tools / "id", "echo 0");         // root
        make_program(root / "build/stress/stress/handlepool-stress", "pwd; printf '<%s>' \"$@\"");
    }

    static void make_program(const std::filesystem::path& file, const std::string& text) {
        std::filesystem::remove(file);
        std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }

    // Runs a script as its users may do: from another folder.
    run_result run(const std::string& script, const std::vector<std::string>& arguments = {}) const {
        std::vector<std::string> command{"sh",
                                         "-c",
                                         "cd \"$1\" && export CALLS=\"$1/calls\" PATH=\"$1/tools:$PATH\" && "
                                         "unset CXX && shift && exec \"$@\"",
                                         "sh",
                                         directory.string(),
                                         (std::filesystem::path("a path/with spaces/ci") / script).string()};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return run_program(command);
    }

    // One line for each.
    std::string calls() const {
        const std::filesystem::path file = directory / "calls";
        return std::filesystem::exists(file) ? read_file(file) : std::string();
    }

    const scratch_directory scratch;
    const std::filesystem::path& directory = scratch.path();
    const std::filesystem::path root = directory / "a path/with spaces";
    const std::filesystem::path tools = directory / "tools";
};

TEST_F(scripts, demo_explains_itself_without_installing_and_building) {
    for (const char* const option : {"--help", "-h"}) {
        const run_result result = run("demo.sh", {option});
        EXPECT_EQ(result.status, 0) << result.errors;
        EXPECT_THAT(result.output, HasSubstr("usage: ci/demo.sh "));
        EXPECT_THAT(calls(), IsEmpty());
    }
}

TEST_F(scripts, demo_installs_no_browser) {
    EXPECT_EQ(run("demo.sh").status, 0);
    EXPECT_THAT(calls(),
                AllOf(HasSubstr("apt-get install "), HasSubstr(" g++ "), Not(HasSubstr("chromium"))));
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

TEST_F(scripts, demo_runs_in_a_path_with_spaces_from_where_it_was_called) {
    const run_result result = run("demo.sh", {"replay", "my trace.zst"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, EndsWith("\n<replay><my trace.zst>"));
    EXPECT_THAT(result.output, HasSubstr(std::filesystem::canonical(directory).string() + "\n"));
    EXPECT_THAT(calls(), HasSubstr(root.string() + "/build/stress"));
}

TEST_F(scripts, demo_replays_a_shipped_trace) {
    std::filesystem::create_directories(root / "stress/traces");
    std::ofstream(root / "stress/traces/some.zst");
    const run_result result = run("demo.sh");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, EndsWith("<replay><" + root.string() + "/stress/traces/some.zst>"));
}

TEST_F(scripts, demo_ends_like_what_it_runs) {
    make_program(root / "build/stress/stress/handlepool-stress", "exit 1");
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
    EXPECT_EQ(result.errors, "ci/install.sh: these packages are missing: g++ cmake\n"
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

TEST_F(scripts, install_knows_its_tools) {
    EXPECT_EQ(run("install.sh", {"--all"}).status, 0);
    for (const char* const package : {"chromium-headless-shell", "clang-14", "clang-19", "libc++-19-dev",
                                      "lib32stdc++-12-dev", "clang-format-19", "dpkg-dev"}) {
        EXPECT_THAT(calls(), HasSubstr(std::string(" ") + package));
    }
    const run_result unknown = run("install.sh", {"hammer"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.errors, HasSubstr("usage: ci/install.sh "));
}

} // namespace
} // namespace handlepool::test
