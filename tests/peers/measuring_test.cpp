// SPDX-License-Identifier: MIT

// What the comparison makes of times, and how its program answers.

#include <bench/peers/judged_row.hpp>
#include <bench/peers/latencies.hpp>
#include <bench/peers/random.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/files/read_file.hpp>
#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace handlepool_bench::peers {
namespace {

using handlepool::support::run_program;
using handlepool::support::run_result;
using testing::HasSubstr;

run_result run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), handlepool::support::paths::peers_program);
    return run_program(arguments);
}

// As the Rust program's test has it.
TEST(random_numbers, are_those_of_the_other_program) {
    EXPECT_EQ(random_numbers(1234567).next(), 6457827717110365317U);
}

// As the Rust program's test has it.
TEST(latencies, have_quantiles_of_the_sorted_times) {
    std::vector<std::uint32_t> times(10'000);
    std::iota(times.rbegin(), times.rend(), 0U);
    figures found;
    add_quantiles(found, "find", times);
    EXPECT_EQ(found, (figures{{"find_50", 5000},
                              {"find_99", 9900},
                              {"find_99.9", 9990},
                              {"find_99.99", 9999},
                              {"find_worst", 9999}}));
}

TEST(judged_row, is_the_median_of_the_ratios_of_rounds) {
    const judged_row holds({10, 60, 30}, {100, 100, 100});
    EXPECT_EQ(holds.ratio, 0.3);
    EXPECT_TRUE(holds.holds());
    EXPECT_THAT(holds.to_text(), HasSubstr("0.30 ×"));
    EXPECT_THAT(holds.to_text(), HasSubstr("reaches the aim"));
    EXPECT_THAT(judged_row({50}, {100}).to_text(), HasSubstr(": holds"));
    const judged_row misses({66}, {100});
    EXPECT_FALSE(misses.holds());
    EXPECT_THAT(misses.to_text(), HasSubstr("MISSES"));
    EXPECT_EQ(misses.to_json().at("holds"), false);
}

TEST(peers_program, measures_and_writes_json) {
    const handlepool::support::scratch_directory scratch;
    const std::string file = (scratch.path() / "peers.json").string();
    const run_result result =
        run({"--filter", "^packed array$|^handlepool::pool$", "--sizes", "1000,100000", "--threads", "1",
             "--part", "frames,start", "--rounds", "3", "--objects", "1000", "--json", file});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                HasSubstr("frames, 1000 alive, 1 thread: median [best round]\n  handlepool::pool "));
    const auto rows = nlohmann::json::parse(handlepool::support::read_file(file)).at("results");
    EXPECT_EQ(rows.size(), 6);
    for (const auto& row : rows) {
        for (const auto& [name, figure] : row.at("figures").items()) {
            EXPECT_GE(figure.at("best").get<double>(), 0) << name;
            EXPECT_LE(figure.at("best"), figure.at("median")) << name;
            EXPECT_LE(figure.at("lower"), figure.at("upper")) << name;
        }
    }
}

TEST(peers_program, lists_its_contenders) {
    const run_result result = run({"--contenders"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("\n1 1 packed array\n"));
    EXPECT_THAT(run({"--help"}).output, HasSubstr("examples:"));
}

TEST(peers_program, says_what_is_wrong) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
        {{"--serve", "nobody"}, "there is no contender 'nobody'"},
        {{"--serve", "packed array", "--on", "2"}, "packed array is for 1 to 1 threads, not 2"},
        {{"--serve", "handlepool::pool", "--alive", "1", "--on", "2"},
         "an object for each of 2 threads, not 1"},
        {{"--filter", "nobody"}, "--filter: no contender matches 'nobody'"},
        {{"--part", "nothing"}, "nothing not in"},
        {{"--json", "/no/such/folder/file", "--filter", "packed"}, "--json"},
    };
    for (const auto& [arguments, complaint] : wrong) {
        const run_result result = run(arguments);
        EXPECT_NE(result.status, 0);
        EXPECT_THAT(result.errors + result.output, HasSubstr(complaint));
    }
}

} // namespace
} // namespace handlepool_bench::peers
