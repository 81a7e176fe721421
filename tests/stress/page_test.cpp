// SPDX-License-Identifier: MIT

// Pages: their numbers, axes and texts. What a browser makes of them is in page_browser_test.cpp.

#include "page/axis.hpp"
#include "page/columns.hpp"
#include "page_sample.hpp"
#include "results/numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::size_t count_of(std::string_view part, std::string_view text) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
        ++found;
    }
    return found;
}

std::vector<std::string> labels(const page::axis& shown) {
    std::vector<std::string> all;
    for (const page::tick& each : shown.ticks) {
        all.push_back(each.label);
    }
    return all;
}

// Spaces that don't break are easier to compare as spaces.
std::string plain(std::string_view text) {
    constexpr std::string_view unbreakable = "\u00a0";
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const bool found = text.substr(at).starts_with(unbreakable);
        result += found ? ' ' : text[at];
        at += found ? unbreakable.size() : 1;
    }
    return result;
}

// ---- Numbers

TEST(page_numbers, have_three_digits_and_a_unit) {
    EXPECT_EQ(plain(nanoseconds_text(61)), "61 ns");
    EXPECT_EQ(plain(nanoseconds_text(4200)), "4.2 µs");
    EXPECT_EQ(plain(nanoseconds_text(812'345)), "812 µs");
    EXPECT_EQ(plain(nanoseconds_text(999'600)), "1 ms");
    EXPECT_EQ(plain(nanoseconds_text(0)), "0 ns");
    EXPECT_EQ(plain(microseconds_text(0.05)), "50 ns");
    EXPECT_EQ(plain(seconds_text(8.574)), "8.57 s");
    EXPECT_EQ(plain(duration_text(123.4)), "2 min 3 s");
    EXPECT_EQ(plain(duration_text(7300)), "2 h 1 min");
    EXPECT_EQ(plain(short_number(4'811'500.2)), "4.81 M");
    EXPECT_EQ(plain(short_number(100)), "100");
    EXPECT_EQ(plain(mebibytes_text(3'300'000)), "3.15 MiB");
    EXPECT_EQ(plain(small_part_text(6.53e-9)), "6.5 × 10⁻⁹");
    EXPECT_EQ(plain(small_part_text(3e-12)), "3.0 × 10⁻¹²");
    EXPECT_EQ(plain(small_part_text(0.25)), "0.25");
    EXPECT_EQ(grouped(std::uint64_t{41'234'567}), "41,234,567");
    EXPECT_EQ(grouped(18'446'744'073'709'551'615U), "18,446,744,073,709,551,615");
    EXPECT_EQ(grouped_rounded(1499.7), "1,500");
    EXPECT_EQ(plural(1, "violation", "violations"), "1 violation");
}

// ---- Axes

TEST(page_axis, linear_ticks_are_1_2_or_5_times_a_power_of_ten) {
    const page::axis shown = page::linear_axis("", 5.3e6, short_number, true);
    EXPECT_EQ(shown.high, 6e6);
    EXPECT_THAT(labels(shown),
                ElementsAre("0", "1\u00a0M", "2\u00a0M", "3\u00a0M", "4\u00a0M", "5\u00a0M", "6\u00a0M"));
    EXPECT_EQ(page::linear_axis("", 8.6, seconds_text, false).high, 8.6);
    EXPECT_THAT(labels(page::linear_axis("", 0, short_number, true)), Not(IsEmpty()));
    EXPECT_THAT(labels(page::linear_axis("", 3, short_number, false, 1)), ElementsAre("0", "1", "2", "3"));
}

TEST(page_axis, logarithmic_ticks_are_powers_of_ten_or_finer) {
    const page::axis wide = page::logarithmic_axis("", 14, 2.5e6, nanoseconds_text);
    EXPECT_THAT(labels(wide), ElementsAre("10\u00a0ns", "100\u00a0ns", "1\u00a0µs", "10\u00a0µs",
                                          "100\u00a0µs", "1\u00a0ms"));
    EXPECT_EQ(wide.part(10), 0);
    EXPECT_EQ(wide.part(5e6), 1);
    EXPECT_THAT(labels(page::logarithmic_axis("", 12, 40, short_number)), ElementsAre("10", "20", "50"));
    EXPECT_THAT(labels(page::logarithmic_axis("", 12, 12, short_number)), ElementsAre("5", "10", "20", "50"));
}

TEST(page_axis, percentiles_reach_as_far_as_there_are_values) {
    EXPECT_THAT(labels(page::percentile_axis("", 20'000)), ElementsAre("50", "90", "99", "99.9", "99.99"));
    EXPECT_THAT(page::nines(1, 1000), DoubleNear(3, 1e-9)); // one of a thousand is above: 99.9 %
    EXPECT_THAT(page::nines(0, 1000), DoubleNear(3, 1e-9));
}

// ---- Columns

TEST(page_columns, throughput_is_the_growth_of_the_total) {
    const timeline_points line{.seconds = {0.5, 1, 1, 2}, .operations = {100, 200, 250, 300}};
    const std::vector<page::column> columns = page::throughput(line);
    ASSERT_EQ(columns.size(), 3);
    EXPECT_EQ(columns[0].mean, 200); // from 0 on
    EXPECT_EQ(columns[1].mean, 200);
    EXPECT_EQ(columns[2].mean, 100); // with what came at the same time as the point before
    EXPECT_EQ(columns[2].from, 1);
    EXPECT_EQ(columns[2].to, 2);
}

TEST(page_columns, joined_ones_keep_extremes_and_the_weighted_mean) {
    const std::vector<page::column> columns = {{0, 1, 4, 4, 4}, {1, 4, 8, 8, 8}, {4, 5, 1, 1, 1}};
    const std::vector<page::column> two = page::joined(columns, 2);
    ASSERT_EQ(two.size(), 2);
    EXPECT_EQ(two[0].low, 4);
    EXPECT_EQ(two[0].high, 8);
    EXPECT_EQ(two[0].mean, 7);
    EXPECT_EQ(two[0].to, 4);
    EXPECT_EQ(two[1].mean, 1);
    EXPECT_EQ(page::joined(std::vector<page::column>(1000, {0, 1, 1, 1, 1})).size(), 143);
}

// ---- Pages

TEST(page, a_whole_result_has_all_charts) {
    const std::string text = page_of({sample_document({sample_result("overlap"), sample_result("clear")})});
    for (const char* chart : {"throughput", "alive", "latency", "compaction", "reuse"}) {
        EXPECT_EQ(count_of("data-chart=\"" + std::string(chart) + "\"", text), 2) << chart;
    }
    EXPECT_EQ(count_of("role=\"img\"", text), 10);
    EXPECT_EQ(count_of("<desc", text), 10);
}

TEST(page, without_data_charts_and_rows_are_left_out) {
    const std::string text = page_of({sample_replay()});
    EXPECT_THAT(text, Not(HasSubstr("data-chart")));
    EXPECT_THAT(text, Not(HasSubstr("operations checked")));
    EXPECT_THAT(text, Not(HasSubstr("smallest reuse distance")));
    EXPECT_THAT(text, HasSubstr("compaction, median"));
    EXPECT_THAT(page_of({{{"command", "churn"}, {"violations", 0}}}),
                AllOf(HasSubstr("churn"), Not(HasSubstr("compaction, median"))));
}

TEST(page, empty_curves_are_left_out) {
    nlohmann::json sample = sample_result("overlap");
    const nlohmann::json none = nlohmann::json::array();
    sample["timeline"] = {{"seconds", none}, {"operations", none}, {"alive", none}};
    sample["compaction_by_frame"] = {{"frame", none}, {"microseconds", none}};
    sample["reuse_distances"] = {{"upper", {64, 128}}, {"counts", {0, 0}}};
    sample["latencies_nanoseconds"] = {{"find", {{"upper", none}, {"counts", none}}}};
    EXPECT_THAT(page_of({sample}), Not(HasSubstr("data-chart")));
}

// All that is measured may be zero, or the only value.
TEST(page, curves_of_one_point_and_of_zeros_are_drawn) {
    nlohmann::json sample = sample_result("overlap");
    sample["timeline"] = {{"seconds", {0.1}}, {"operations", {0}}, {"alive", {0}}};
    sample["compaction_by_frame"] = {{"frame", {0}}, {"microseconds", {0}}};
    sample["compaction_microseconds"] = {{"median", 0}, {"p99", 0}, {"worst", 0}};
    sample["reuse_distances"] = {{"upper", {0}}, {"counts", {1}}};
    sample["reuse_delay"] = 0;
    sample["latencies_nanoseconds"] = {{"find", {{"upper", {0}}, {"counts", {1}}}}};
    const std::string text = page_of({sample});
    EXPECT_EQ(count_of("data-chart", text), 5);
    EXPECT_THAT(text, Not(ContainsRegex("[MVHL\" ]-?(nan|inf)[MVHLZ\" ]")));
}

TEST(page, passed_ones_say_so_with_the_bound_over_all) {
    const std::string text =
        page_of({sample_document({sample_result("a"), sample_result("b")}), sample_replay()});
    EXPECT_THAT(text, HasSubstr("All 3 results passed"));
    EXPECT_THAT(text, HasSubstr("<title>handlepool-stress: passed</title>"));
    EXPECT_THAT(text, HasSubstr("9,000,000")); // stale look-ups of all
    EXPECT_THAT(plain(text), HasSubstr("below 3.3 × 10⁻⁷ of all tries, with 95 % confidence"));
    EXPECT_THAT(text, Not(HasSubstr("badge bad")));
}

TEST(page, failed_ones_say_so_first_and_show_the_messages) {
    nlohmann::json failed = sample_result("clear");
    failed["violations"] = 23;
    failed["again"] = "handlepool-stress run clear --seed 7";
    failed["stale_accepted"] = 1;
    failed["stale_accepted_bound_95"] = nullptr;
    failed["violation_messages"] = {"slot 17:\n  was accepted", "another"};
    const std::string text = page_of({sample_document({sample_result("overlap"), failed})});
    EXPECT_THAT(text, HasSubstr("23 violations in 1 of 2 results"));
    EXPECT_THAT(text, HasSubstr("<title>handlepool-stress: 1 FAILED</title>"));
    EXPECT_THAT(text, HasSubstr("<pre>\nslot 17:\n  was accepted</pre>"));
    EXPECT_THAT(text, HasSubstr("and 21 more"));
    EXPECT_THAT(text, HasSubstr("To run it again: <code>handlepool-stress run clear --seed 7</code>"));
    EXPECT_THAT(text, Not(HasSubstr("of all tries")));
}

// Counts that would wrap to 0 when they are summed up.
nlohmann::json failed_half_of_all_numbers(const std::string& name) {
    nlohmann::json failed = sample_result(name);
    failed["violations"] = failed["stale_lookups"] = std::uint64_t{1} << 63;
    return failed;
}

TEST(page, failed_results_fail_however_large_the_sum_of_their_violations) {
    const std::string text = page_of(
        {sample_document({failed_half_of_all_numbers("first"), failed_half_of_all_numbers("second")})});
    EXPECT_THAT(text, Not(HasSubstr("passed: no wrong answer")));
    EXPECT_THAT(text, HasSubstr("at least 18,446,744,073,709,551,615 violations in 2 of 2 results"));
    EXPECT_THAT(text, HasSubstr("<title>handlepool-stress: 2 FAILED</title>"));
}

TEST(page, sums_that_are_too_large_are_shown_as_the_least_that_they_are) {
    nlohmann::json first = failed_half_of_all_numbers("first");
    first["stale_accepted"] = first["operations"] = first["operations_checked"] = std::uint64_t{1} << 63;
    const std::string text = page_of({sample_document({first, first})});
    std::size_t tiles = 0;
    for (std::size_t at = 0;
         (at = text.find("<dd>at least 18,446,744,073,709,551,615</dd>", at)) != text.npos; ++at) {
        ++tiles;
    }
    EXPECT_EQ(tiles, 4) << "operations, checked, stale look-ups, wrongly accepted";
}

TEST(page, says_where_the_results_come_from) {
    const std::string text = page_of({sample_document({sample_result("overlap")})});
    EXPECT_THAT(text, HasSubstr("handlepool-stress run all --threads 2 --seed 1"));
    EXPECT_THAT(text, HasSubstr("2026-11-21 10:12:00 UTC"));
    EXPECT_THAT(text, HasSubstr("Linux 6.1.0 x86_64"));
    EXPECT_THAT(text, HasSubstr("Release, contracts not checked"));
}

TEST(page, several_files_have_a_group_each) {
    const std::string text = page_of({sample_document({sample_result("a")}), sample_replay()});
    EXPECT_THAT(text, HasSubstr("<h2 id=\"f1\">file1.json</h2>"));
    EXPECT_THAT(text, HasSubstr("<h2 id=\"f2\">file2.json</h2>"));
    EXPECT_THAT(page_of({sample_replay()}), Not(HasSubstr("id=\"f1\"")));
}

TEST(page, texts_are_escaped) {
    nlohmann::json sample = sample_result("<b>&\"'");
    for (const char* key : {"summary", "command"}) {
        sample[key] = "<b>&\"'";
    }
    sample["parameters"] = {{"<b>&\"'", "<b>&\"'"}};
    sample["facts"] = {{"<b>&\"'", "<b>&\"'\x01"}};
    sample["latencies_nanoseconds"]["<b>&\"'"] = sample_latency(10);
    sample["violations"] = 1;
    sample["violation_messages"] = {"<b>&\"'"};
    nlohmann::json document = sample_document({sample});
    document["command_line"] = document["started"] = document["version"] = "<b>&\"'";
    document["machine"]["system"] = "<b>&\"'";
    const std::string text = page_of({document});
    EXPECT_THAT(text, Not(HasSubstr("<b>&\"")));
    EXPECT_THAT(text, HasSubstr("&lt;b&gt;&amp;&quot;&#39;\ufffd"));
}

TEST(page, needs_nothing_from_elsewhere) {
    const std::string text = page_of({sample_document({sample_result("overlap")})});
    for (const char* part :
         {"<script", "<link", "<img", "http://", "https://", "url(", "@import", " src=", "onload"}) {
        EXPECT_THAT(text, Not(HasSubstr(part)));
    }
    EXPECT_THAT(text, HasSubstr("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
}

TEST(page, ids_are_unique) {
    const nlohmann::json document = sample_document({sample_result("same"), sample_result("same")});
    const std::string text = page_of({document, document});
    std::vector<std::string> ids;
    for (std::size_t at = 0; (at = text.find(" id=\"", at)) != text.npos;) {
        at += 5;
        ids.push_back(text.substr(at, text.find('"', at) - at));
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
    EXPECT_GT(ids.size(), 40);
}

TEST(page, each_element_is_closed) {
    nlohmann::json failed = sample_result("clear");
    failed["violations"] = 2;
    failed["violation_messages"] = {"one"};
    const std::string text = page_of({sample_document({sample_result("overlap"), failed}), sample_replay()});
    std::vector<std::string> open;
    for (std::size_t at = text.find("<html"); at != text.npos; at = text.find('<', at + 1)) {
        const std::size_t end = text.find('>', at);
        const bool closing = text[at + 1] == '/';
        const std::size_t begin = at + (closing ? 2 : 1);
        const std::string name = text.substr(begin, text.find_first_of(" >/", begin) - begin);
        if (closing) {
            ASSERT_FALSE(open.empty()) << name;
            ASSERT_EQ(open.back(), name) << text.substr(at - 200, 220);
            open.pop_back();
        } else if (text[end - 1] != '/' && name != "meta" && name != "input") {
            open.push_back(name);
        }
    }
    EXPECT_THAT(open, IsEmpty());
}

TEST(page, nothing_to_report_is_an_error) {
    EXPECT_THROW(page::make_page({}), std::runtime_error);
}

} // namespace
} // namespace handlepool::stress
