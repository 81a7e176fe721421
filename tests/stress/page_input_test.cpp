// SPDX-License-Identifier: MIT

// The inputs of a page: what is read, and what is rejected with which words.

#include "page/result_file.hpp"
#include "page_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

namespace handlepool::stress {
namespace {

using page::parse_result_file;
using page::read_result_file;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Optional;
using testing::Property;
using testing::SizeIs;
using testing::StartsWith;

std::string error_of(const std::string& text) {
    return test::message_of<std::runtime_error>([&] { parse_result_file("some.json", text); });
}

result result_in(const nlohmann::json& file) {
    return parse_result_file("r.json", file.dump()).document.scenarios.front();
}

// A document whose second scenario has this value at this place.
std::string error_with(const std::string& pointer, const nlohmann::json& value) {
    nlohmann::json document = sample_document({sample_result("a"), sample_result("b")});
    document[nlohmann::json::json_pointer("/scenarios/1" + pointer)] = value;
    return error_of(document.dump());
}

std::string error_without(const std::string& parent, const std::string& key) {
    nlohmann::json document = sample_document({sample_result("a"), sample_result("b")});
    document[nlohmann::json::json_pointer("/scenarios/1" + parent)].erase(key);
    return error_of(document.dump());
}

// ---- What is read

TEST(page_input, documents_of_run_have_all_scenarios_in_their_order) {
    const page::result_file file =
        parse_result_file("all.json", sample_document({sample_result("b"), sample_result("a")}).dump());
    EXPECT_EQ(file.name, "all.json");
    EXPECT_EQ(file.document.started, "2026-11-21T10:12:00Z");
    ASSERT_TRUE(file.document.machine);
    EXPECT_EQ(file.document.machine->processors, 2);
    EXPECT_EQ(file.document.machine->system, "Linux 6.1.0 x86_64");
    EXPECT_EQ(file.document.machine->compiler, "g++ 12.2.0");
    EXPECT_THAT(file.document.machine->build, Optional(HasSubstr("Release")));
    EXPECT_THAT(file.document.scenarios,
                ElementsAre(Property(&result::title, "b"), Property(&result::title, "a")));
    const result& read = file.document.scenarios.front();
    EXPECT_TRUE(read.passed());
    EXPECT_EQ(read.operations, 41'234'567);
    EXPECT_EQ(read.timeline->seconds.size(), 300);
    EXPECT_EQ(read.compaction_by_frame->frame.size(), 400);
    EXPECT_EQ(read.smallest_reuse_distance, 71);
}

TEST(page_input, operations_come_in_a_fixed_order) {
    nlohmann::json sample = sample_result("a");
    sample["latencies_nanoseconds"]["another"] = sample_latency(10);
    const result read = result_in(sample);
    EXPECT_THAT(read.latencies_nanoseconds, ElementsAre(Key("emplace"), Key("erase"), Key("find"),
                                                        Key("contains"), Key("compact"), Key("another")));
}

TEST(page_input, the_document_of_replay_is_one_result) {
    const page::result_file file = parse_result_file("r.json", sample_replay().dump());
    ASSERT_THAT(file.document.scenarios, SizeIs(1));
    const result& read = file.document.scenarios.front();
    EXPECT_EQ(read.title(), "replay");
    EXPECT_THAT(read.latencies_nanoseconds, IsEmpty());
    EXPECT_EQ(read.reuse_delay, std::nullopt);
}

TEST(page_input, bounds_and_distances_may_be_null_and_keys_unknown) {
    nlohmann::json sample = sample_replay();
    sample["stale_accepted_bound_95"] = nullptr;
    sample["smallest_reuse_distance"] = nullptr;
    sample["of a later version"] = {1, 2, 3};
    const result read = result_in(sample);
    EXPECT_EQ(read.stale_accepted_bound_95, std::nullopt);
    EXPECT_EQ(read.smallest_reuse_distance, std::nullopt);
}

TEST(page_input, a_timeline_without_counts_is_written_and_read_again) {
    nlohmann::json sample = sample_result("a");
    sample["timeline"].erase("operations");
    sample["timeline"].erase("alive");
    const result read = result_in(to_json(result_in(sample)));
    EXPECT_EQ(read.timeline->seconds.size(), 300);
    EXPECT_THAT(read.timeline->operations, IsEmpty());
    EXPECT_THAT(read.timeline->alive, IsEmpty());
}

TEST(page_input, little_is_required) {
    EXPECT_FALSE(result_in({{"command", "churn"}, {"violations", 3}}).passed());
}

// ---- What is no result

TEST(page_input, what_is_no_json_is_rejected_with_its_place) {
    EXPECT_THAT(error_of("{\n\"command\": churn}"),
                AllOf(StartsWith("some.json: is no JSON: parse error at line 2, column"),
                      Not(HasSubstr("json.exception"))));
    EXPECT_THAT(error_of(R"({"command": "churn", "violations": 0)"), HasSubstr("unexpected end of input"));
    EXPECT_THAT(error_of("{\"command\": \"\xff\"}"), HasSubstr("UTF-8"));
    EXPECT_THAT(error_of(R"({"command": "churn", "violations": 1e999})"), HasSubstr("is no JSON"));
}

TEST(page_input, an_empty_file_is_rejected) {
    EXPECT_THAT(error_of(""), StartsWith("some.json: is empty, but must be what run, replay or churn wrote"));
    EXPECT_THAT(error_of(" \n"), HasSubstr("is empty"));
}

TEST(page_input, other_json_is_rejected) {
    EXPECT_EQ(error_of("[1]"), "some.json: the document is an array, but must be an object");
    EXPECT_THAT(
        error_of(R"({"command": "record", "events": 3})"),
        HasSubstr("has neither \"scenarios\" nor \"violations\", but must be what run, replay or churn"));
}

TEST(page_input, nesting_of_any_depth_is_rejected) {
    const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
    EXPECT_THAT(error_of(deep), HasSubstr("is an array"));
    EXPECT_THAT(error_of(R"({"command": )" + deep + R"(, "violations": 0})"),
                HasSubstr("/command is an array, but must be a text"));
}

TEST(page_input, a_document_without_results_is_rejected) {
    EXPECT_EQ(error_of(R"({"scenarios": []})"),
              "some.json: /scenarios is empty, but must have one result at least");
    EXPECT_EQ(error_of(R"({"scenarios": {}})"), "some.json: /scenarios is an object, but must be an array");
}

// ---- Wrong values

TEST(page_input, missing_keys_are_named) {
    EXPECT_EQ(error_without("", "command"), "some.json: /scenarios/1 has no \"command\"");
    EXPECT_EQ(error_without("", "violations"), "some.json: /scenarios/1 has no \"violations\"");
    EXPECT_EQ(error_without("/timeline", "seconds"), "some.json: /scenarios/1/timeline has no \"seconds\"");
    EXPECT_EQ(error_without("/reuse_distances", "counts"),
              "some.json: /scenarios/1/reuse_distances has no \"counts\"");
    EXPECT_EQ(error_without("/compaction_microseconds", "p99"),
              "some.json: /scenarios/1/compaction_microseconds has no \"p99\"");
}

TEST(page_input, whole_numbers_may_have_a_point_or_an_exponent) {
    nlohmann::json sample = sample_result("a");
    sample["frames"] = 1e4; // which is written as 10000.0
    EXPECT_EQ(result_in(sample).frames, 10'000U);
    EXPECT_EQ(error_with("/frames", 0x1p60),
              "some.json: /scenarios/1/frames is 1.152921504606847e+18, but must "
              "be a whole number from 0 to 18446744073709551615");
}

TEST(page_input, wrong_types_are_rejected_with_their_place) {
    const std::string whole = "must be a whole number from 0 to 18446744073709551615";
    EXPECT_EQ(error_with("/frames", -1), "some.json: /scenarios/1/frames is -1, but " + whole);
    EXPECT_EQ(error_with("/frames", 1.5), "some.json: /scenarios/1/frames is 1.5, but " + whole);
    EXPECT_EQ(error_with("/frames", nullptr), "some.json: /scenarios/1/frames is null, but " + whole);
    EXPECT_EQ(error_with("/frames", "many"), "some.json: /scenarios/1/frames is \"many\", but " + whole);
    EXPECT_EQ(error_with("/frames", std::string(1000, 'x')),
              "some.json: /scenarios/1/frames is a text, but " + whole);
    EXPECT_EQ(error_with("/summary", 7), "some.json: /scenarios/1/summary is 7, but must be a text");
    EXPECT_EQ(error_with("/parameters/seed", 7),
              "some.json: /scenarios/1/parameters/seed is 7, but must be a text");
    EXPECT_EQ(error_with("/facts", nlohmann::json::array()),
              "some.json: /scenarios/1/facts is an array, but must be an object");
    EXPECT_EQ(error_with("/seconds", -0.5),
              "some.json: /scenarios/1/seconds is -0.5, but must be a number from 0 to 1e20");
    EXPECT_THAT(error_with("/seconds", 1e300), EndsWith("but must be a number from 0 to 1e20"));
    EXPECT_THAT(error_with("/seconds", true), HasSubstr("/scenarios/1/seconds is true, but"));
    EXPECT_EQ(error_with("", 3), "some.json: /scenarios/1 is 3, but must be an object");
}

TEST(page_input, wrong_elements_are_rejected_with_their_place) {
    EXPECT_THAT(error_with("/latencies_nanoseconds/find/counts/2", -4),
                StartsWith("some.json: /scenarios/1/latencies_nanoseconds/find/counts/2 is -4, but must be"));
    EXPECT_THAT(error_with("/timeline/alive/7", "x"),
                StartsWith("some.json: /scenarios/1/timeline/alive/7 is \"x\", but must be"));
    EXPECT_THAT(
        error_with("/compaction_by_frame/microseconds/0", nullptr),
        StartsWith("some.json: /scenarios/1/compaction_by_frame/microseconds/0 is null, but must be"));
    EXPECT_EQ(error_with("/violation_messages", {1}),
              "some.json: /scenarios/1/violation_messages/0 is 1, but must be a text");
}

TEST(page_input, keys_are_escaped_in_the_place) {
    EXPECT_EQ(error_with("/facts", {{"a/b~c\x1b", 1}}),
              "some.json: /scenarios/1/facts/a~1b~0c\\u001b is 1, but must be a text");
}

TEST(page_input, arrays_that_belong_together_have_one_length) {
    EXPECT_EQ(error_with("/timeline/alive", {1, 2}), "some.json: /scenarios/1/timeline/alive has 2 elements, "
                                                     "but must have 300, as \"seconds\" beside it");
    EXPECT_THAT(error_with("/timeline/operations", {1, 2}), HasSubstr("must have 300"));
    EXPECT_THAT(error_with("/compaction_by_frame/microseconds", {1}),
                HasSubstr("must have 400, as \"frame\""));
    EXPECT_THAT(error_with("/reuse_distances/counts", {1}),
                HasSubstr("must have 14, as \"upper\" beside it"));
}

TEST(page_input, what_grows_must_grow) {
    EXPECT_EQ(error_with("/timeline/seconds/5", 0.25), "some.json: /scenarios/1/timeline/seconds/5 is 0.25, "
                                                       "but must not be below 0.5, the element before it");
    EXPECT_THAT(error_with("/timeline/operations/1", 3),
                HasSubstr("/operations/1 is 3, but must not be below"));
    EXPECT_EQ(
        error_with("/reuse_distances/upper/1", 16),
        "some.json: /scenarios/1/reuse_distances/upper/1 is 16, but must be above 16, the element before it");
    EXPECT_THAT(error_with("/compaction_by_frame/frame/1", 2), HasSubstr("must be above 2"));
}

// A page must not say passed where the figures say otherwise.
TEST(page_input, a_result_that_contradicts_itself_is_rejected) {
    EXPECT_EQ(error_with("/stale_accepted", 2),
              "some.json: /scenarios/1/violations is 0, but must be above 0, "
              "because of \"stale_accepted\" beside it");
    EXPECT_THAT(error_with("/content_mismatches", 1), HasSubstr("because of \"content_mismatches\""));
    EXPECT_THAT(error_with("/violation_messages", {"wrong"}), HasSubstr("because of \"violation_messages\""));
}

// ---- Files

TEST(page_input, files_are_read_and_named_as_they_were_given) {
    const support::scratch_directory scratch;
    const std::string path = scratch.path() / "result.json";
    std::ofstream(path) << sample_replay();
    EXPECT_EQ(read_result_file(path).name, path);
}

TEST(page_input, files_that_cannot_be_read_are_named) {
    const support::scratch_directory scratch;
    const auto error = [](const std::string& path) {
        return test::message_of<std::runtime_error>([&] { read_result_file(path); });
    };
    const std::string missing = scratch.path() / "missing.json";
    EXPECT_EQ(error(missing), missing + ": cannot be read: No such file or directory");
    EXPECT_THAT(error(scratch.path()), HasSubstr(": cannot be read: Is a directory"));
    const std::string empty = scratch.path() / "empty.json";
    std::ofstream{empty};
    EXPECT_THAT(error(empty), StartsWith(empty + ": is empty"));
}

} // namespace
} // namespace handlepool::stress
