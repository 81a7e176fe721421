// SPDX-License-Identifier: MIT

// The program handlepool-coherence as its users meet it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::coherence {
namespace {

using testing::AllOf;
using testing::HasSubstr;

support::run_result run_coherence(std::vector<std::string> line) {
    line.insert(line.begin(), support::paths::coherence_program);
    return support::run_program(std::move(line), support::errors_to::file);
}

TEST(command_line, HelpHasExamples) {
    const auto result = run_coherence({"--help"});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, AllOf(HasSubstr("--json"), HasSubstr("examples:")));
}

TEST(command_line, WritesATableAndJson) {
    const support::scratch_directory directory;
    const std::string file = (directory.path() / "result.json").string();
    const auto result = run_coherence({"--threads", "1,2", "--alive", "2560", "--warm-up", "1", "--frames",
                                       "1", "--erase", "own", "--json", file});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, AllOf(HasSubstr("pool, emplace"), HasSubstr("packed array behind a lock"),
                                     HasSubstr("slots over one queue"), HasSubstr("slot tags")));
    std::ifstream stream(file);
    const nlohmann::json json = nlohmann::json::parse(stream);
    EXPECT_EQ(json.at("runs").size(), 8U);
    EXPECT_GT(json.at("runs")
                  .at(1)
                  .at("operations")
                  .at("emplace")
                  .at("arrays")
                  .at("nursery owners")
                  .at("transfers"),
              0.0);
}

TEST(command_line, RefusesWhatItDoesNotKnow) {
    EXPECT_NE(run_coherence({"--threads", "256"}).status, 0);
    EXPECT_NE(run_coherence({"--contenders", "map"}).status, 0);
    EXPECT_NE(run_coherence({"--erase", "nothing"}).status, 0);
    EXPECT_EQ(run_coherence({"--json", "/nowhere/result.json", "--threads", "1"}).status, 2);
}

} // namespace
} // namespace handlepool::coherence
