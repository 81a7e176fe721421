// SPDX-License-Identifier: MIT

// What ci/mutants says of a mutant: of a library that is one line of text, with a CMake that compiles
// nothing.

#include "scripts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace handlepool::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Configures by noting where the sources are. Of a program to build, makes a script that is red when they
// have a bug.
constexpr const char* fake_cmake = R"sh(
echo "cmake $*" >>"$CALLS"
while [ $# -gt 0 ]; do
    case $1 in
        -S) sources=$2; shift ;;
        -B) mkdir "$2"; echo "$sources" >"$2/sources"; shift ;;
        --build) build=$2; shift ;;
        tests/*)
            library=$(cat "$build/sources")/include/library.hpp
            if grep -q garbage "$library"; then
                echo "FAILED: it is garbage"
                exit 1
            fi
            mkdir -p "$build/$(dirname "$1")"
            cat >"$build/$1" <<TEXT
#!/bin/sh
echo "\$0 \$*" >>"\$CALLS"
if grep -q endless '$library'; then
    echo '[ RUN      ] suite.waits'
    exec sleep 60
fi
if grep -q 'bug of models' '$library'; then
    echo '| some model | random | FAILED: a word is lost |'
elif grep -q bug '$library'; then
    echo '[ RUN      ] suite.sees_it'
    echo 'some_test.cpp:1: Failure'
else
    exit 0
fi
exit 1
TEXT
            chmod +x "$build/$1"
            ;;
    esac
    shift
done)sh";

struct mutants : scripts {
    mutants() {
        make_program(tools / "cmake", fake_cmake);
        make_file("include/library.hpp", "text\n");
        make_file("src/library.cpp", "");
        make_file("tests/some_test.cpp", "");
        make_file("tests/folder/other_test.cpp", "");
    }

    void make_file(const std::filesystem::path& name, const std::string& text) const {
        std::filesystem::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text;
    }

    void make_mutant(const std::string& name, const std::string& text, const std::string& tests = "some_test",
                     const std::string& former_text = "text") const {
        make_file("tests/mutants/" + name + ".patch",
                  "# What: the text is " + text + "\n# Killed by: " + tests +
                      "\n--- a/include/library.hpp\n+++ b/include/library.hpp\n@@ -1 +1 @@\n-" + former_text +
                      "\n+" + text + "\n");
    }
};

TEST_F(mutants, are_killed_by_the_first_test_that_is_red) {
    make_mutant("bug", "a bug", "folder/other_test some_test");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("without a mutant: 2 test files are green"));
    EXPECT_THAT(result.output,
                ContainsRegex("killed    bug .*  folder/other_test: suite.sees_it \\(fails\\)\n"));
    EXPECT_THAT(result.output, HasSubstr("killed 1 / 1 in "));
    EXPECT_THAT(calls(), ContainsRegex("cmake --build [^\n]* --target tests/folder/other_test\n"));
}

TEST_F(mutants, that_no_test_sees_survive) {
    make_mutant("harmless", "other text");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.output, ContainsRegex("SURVIVED  harmless .*the text is other text"));
    EXPECT_THAT(result.output, HasSubstr("killed 0 / 1 in "));
}

TEST_F(mutants, are_killed_by_a_test_that_does_not_end) {
    make_mutant("loop", "endless");
    const run_result result = run("mutants", {"--timeout", "1"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, ContainsRegex("killed    loop .*  some_test: suite.waits \\(hangs\\)\n"));
}

TEST_F(mutants, begin_with_the_library_as_it_is) {
    make_mutant("a-bug", "a bug");
    make_mutant("b-harmless", "other text");
    make_mutant("c-bug", "another bug");
    const run_result result = run("mutants", {"--jobs", "1"});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.output, AllOf(HasSubstr("killed    a-bug"), HasSubstr("SURVIVED  b-harmless"),
                                     HasSubstr("killed    c-bug")));
    EXPECT_THAT(result.output, HasSubstr("killed 2 / 3 in "));
}

TEST_F(mutants, whose_patch_does_not_apply_are_errors) {
    make_mutant("bug", "a bug");
    make_mutant("late", "a bug", "some_test", "former text");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, ContainsRegex("ERROR     late .*tests/mutants/late.patch does not apply"));
    EXPECT_THAT(result.output, HasSubstr("killed    bug"));
}

TEST_F(mutants, that_do_not_compile_are_errors) {
    make_mutant("garbage", "garbage");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, ContainsRegex("ERROR     garbage .*does not compile"));
    EXPECT_THAT(result.errors, HasSubstr("it is garbage"));
}

TEST_F(mutants, prove_nothing_when_a_test_is_red_without_them) {
    make_file("include/library.hpp", "a bug\n");
    make_mutant("bug", "another bug", "some_test", "a bug");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.errors, HasSubstr("some_test is red without a mutant: suite.sees_it"));
    EXPECT_THAT(result.output, Not(HasSubstr("killed")));
}

TEST_F(mutants, name_tests_that_there_are) {
    make_mutant("bug", "a bug", "no_such_test");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(
        result.errors,
        HasSubstr("tests/mutants/bug.patch names no_such_test, but there is no tests/no_such_test.cpp"));
}

TEST_F(mutants, say_what_they_do_and_what_kills_them) {
    make_file("tests/mutants/bug.patch", "# What: the text is a bug\n");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.errors, HasSubstr("tests/mutants/bug.patch has no line '# Killed by: '"));
    EXPECT_EQ(calls(), "");
}

TEST_F(mutants, may_be_for_the_models_to_kill) {
    make_mutant("bug", "a bug of models", "models");
    make_mutant("other", "a bug");
    const run_result result = run("mutants");
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                ContainsRegex("killed    bug .*  models: some model: a word is lost \\(fails\\)\n"));
    EXPECT_THAT(result.output, ContainsRegex("killed    other .*  some_test: suite.sees_it \\(fails\\)\n"));
    EXPECT_THAT(calls(),
                AllOf(HasSubstr("model/handlepool-model run "), HasSubstr("model/handlepool-model stops ")));
}

TEST_F(mutants, may_survive_the_models_alone) {
    make_mutant("bug", "a bug of models", "some_test");
    make_mutant("harmless", "other text", "some_test");
    const run_result result = run("mutants", {"--models"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, AllOf(HasSubstr("killed    bug"), HasSubstr("SURVIVED  harmless")));
    EXPECT_THAT(calls(), Not(HasSubstr("some_test")));
}

TEST_F(mutants, are_listed_without_being_built) {
    make_mutant("bug", "a bug");
    const run_result result = run("mutants", {"--list"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, ContainsRegex("^bug +the text is a bug\n$"));
    EXPECT_EQ(calls(), "");
}

TEST_F(mutants, are_checked_without_being_built) {
    make_mutant("bug", "a bug");
    const run_result right = run("mutants", {"--check"});
    EXPECT_EQ(right.status, 0) << right.errors;
    EXPECT_EQ(right.output, "1 of 1 patches apply\n");
    make_mutant("late", "a bug", "some_test", "former text");
    make_mutant("later", "a bug", "some_test", "another text");
    const run_result wrong = run("mutants", {"--check"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_EQ(wrong.output, "1 of 3 patches apply\n");
    EXPECT_THAT(wrong.errors, AllOf(HasSubstr("tests/mutants/late.patch does not apply"),
                                    HasSubstr("tests/mutants/later.patch does not apply")));
    EXPECT_EQ(calls(), "");
}

TEST_F(mutants, are_written_to_a_file) {
    make_mutant("bug", "a \"bug\"");
    const run_result result = run("mutants", {"--json", "results.json"});
    EXPECT_EQ(result.status, 0) << result.errors;
    std::ifstream stream(directory / "results.json");
    const std::string written(std::istreambuf_iterator<char>(stream), {});
    EXPECT_THAT(written, HasSubstr(R"({"killed": 1, "total": 1, "errors": 0, )"));
    EXPECT_THAT(
        written,
        HasSubstr(R"({"name": "bug", "what": "the text is a \"bug\"", "verdict": "killed", "how": "fails", )"
                  R"("file": "some_test", "test": "suite.sees_it", )"));
}

} // namespace
} // namespace handlepool::test
