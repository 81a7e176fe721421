// SPDX-License-Identifier: MIT
#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/thread_executor.hpp>
#include <handlepool/timeline.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

/// Nanoseconds, which the format has as thousandths.
std::int64_t nanoseconds(const json& microseconds) {
    return static_cast<std::int64_t>(microseconds.get<double>() * 1000 + 0.5);
}

/// A trace that is what its format says, or the test fails.
class trace {
public:
    explicit trace(const timeline& records) {
        std::ostringstream out;
        records.write(out);
        all = json::parse(out.str());
        for (const json& event : all.at("traceEvents")) {
            check(event);
        }
        for (auto& [track, spans] : spans_by_track) {
            check_nesting(track, std::move(spans));
        }
    }

    std::vector<std::string> names(std::string_view phase) const {
        std::vector<std::string> found;
        for (const json& event : all.at("traceEvents")) {
            if (event.at("ph") == phase) {
                found.push_back(event.at("name"));
            }
        }
        return found;
    }
    json event(std::string_view name) const {
        for (const json& event : all.at("traceEvents")) {
            if (event.at("name") == name) {
                return event;
            }
        }
        ADD_FAILURE() << "no event " << name;
        return json::object();
    }
    std::string track_of(std::string_view name) const { return tracks.at(event(name).at("tid")); }

    json all;
    std::map<std::uint32_t, std::string> tracks;

private:
    struct span {
        std::int64_t begin;
        std::int64_t end;
    };

    void check(const json& event) {
        SCOPED_TRACE(event.dump());
        EXPECT_TRUE(event.at("name").is_string());
        EXPECT_EQ(event.at("pid"), 1);
        const std::string phase = event.at("ph");
        if (phase == "M") {
            EXPECT_TRUE(event.at("args").at("name").is_string());
            if (event.at("name") == "thread_name") {
                EXPECT_TRUE(tracks.emplace(event.at("tid"), event.at("args").at("name")).second);
            } else {
                EXPECT_EQ(event.at("name"), "process_name");
            }
        } else if (phase == "X") {
            EXPECT_TRUE(event.at("ts").is_number());
            EXPECT_GE(event.at("dur").get<double>(), 0);
            const std::uint32_t track = event.at("tid");
            EXPECT_TRUE(tracks.contains(track)) << "its track has no name";
            const std::int64_t begin = nanoseconds(event.at("ts"));
            spans_by_track[track].push_back({begin, begin + nanoseconds(event.at("dur"))});
        } else {
            EXPECT_EQ(phase, "C");
            EXPECT_TRUE(event.at("ts").is_number());
            EXPECT_FALSE(event.at("args").empty());
            for (const auto& [name, value] : event.at("args").items()) {
                EXPECT_TRUE(value.is_number_unsigned()) << name;
            }
        }
    }

    // Of two spans, one contains the other, or ends before it begins.
    static void check_nesting(std::uint32_t track, std::vector<span> spans) {
        std::ranges::sort(spans, [](const span& one, const span& other) {
            return std::pair(one.begin, -one.end) < std::pair(other.begin, -other.end);
        });
        std::vector<std::int64_t> open;
        for (const span& each : spans) {
            while (!open.empty() && open.back() <= each.begin) {
                open.pop_back();
            }
            EXPECT_TRUE(open.empty() || each.end <= open.back()) << "spans of track " << track << " overlap";
            open.push_back(each.end);
        }
    }

    std::map<std::uint32_t, std::vector<span>> spans_by_track;
};

std::string own_track() {
    return "thread " + std::to_string(this_thread::index());
}

TEST(timeline_test, an_empty_one_is_a_trace_too) {
    const timeline records;
    const trace written(records);
    EXPECT_EQ(written.all.at("displayTimeUnit"), "ms");
    EXPECT_EQ(written.all.at("otherData").at("dropped"), 0);
    EXPECT_THAT(written.names("M"), ElementsAre("process_name"));
    EXPECT_EQ(records.size(), 0U);
}

TEST(timeline_test, spans_have_times_since_the_timelines_making) {
    const auto before = timeline::clock::now();
    timeline records;
    const auto begin = timeline::clock::now();
    records.add_span("work", begin, begin + 1'234'567ns);
    const json work = trace(records).event("work");
    EXPECT_EQ(nanoseconds(work.at("dur")), 1'234'567);
    EXPECT_GE(nanoseconds(work.at("ts")), 0);
    EXPECT_LE(nanoseconds(work.at("ts")), (begin - before).count());
}

TEST(timeline_test, long_times_keep_their_nanoseconds) {
    timeline records;
    const auto begin = timeline::clock::now();
    records.add_span("day", begin + 24h, begin + 48h + 1ns);
    EXPECT_EQ(nanoseconds(trace(records).event("day").at("dur")), 86'400'000'000'001);
}

TEST(timeline_test, spans_are_on_the_callers_track_or_on_a_named_one) {
    timeline records;
    const auto now = timeline::clock::now();
    records.add_span("mine", now, now);
    records.add_span("frame 1", now, now, "frames");
    records.add_span("frame 2", now, now, "frames");
    records.add_span("other", now, now, "others");
    std::uint32_t other_thread = 0;
    std::jthread([&] {
        other_thread = this_thread::index();
        records.add_span("theirs", now, now);
    }).join();
    const trace written(records);
    EXPECT_EQ(written.event("mine").at("tid"), this_thread::index());
    EXPECT_EQ(written.track_of("mine"), own_track());
    EXPECT_EQ(written.event("theirs").at("tid"), other_thread);
    EXPECT_EQ(written.track_of("frame 1"), "frames");
    EXPECT_EQ(written.track_of("frame 2"), "frames");
    EXPECT_EQ(written.track_of("other"), "others");
    EXPECT_EQ(written.tracks.size(), 4U);
}

TEST(timeline_test, threads_have_the_names_that_they_gave_themselves) {
    timeline records;
    records.name_thread("draft");
    records.name_thread("main");
    const auto now = timeline::clock::now();
    records.add_span("mine", now, now);
    EXPECT_EQ(trace(records).track_of("mine"), "main");
}

TEST(timeline_test, counters_have_their_values) {
    timeline records;
    records.add_counters("ships", {{"alive", 7}, {"removed", ~0ULL}});
    const json counters = trace(records).event("ships");
    EXPECT_EQ(counters.at("ph"), "C");
    EXPECT_EQ(counters.at("args").size(), 2U);
    EXPECT_EQ(counters.at("args").at("alive"), 7);
    EXPECT_EQ(counters.at("args").at("removed"), ~0ULL);
}

TEST(timeline_test, counters_without_values_are_no_span) {
    timeline records;
    records.add_counters("ships", {});
    EXPECT_THAT(trace(records).names("X"), IsEmpty());
}

TEST(timeline_test, a_span_object_records_its_life) {
    timeline records;
    {
        const timeline_span outer(records, "outer");
        const timeline_span inner(records, "inner");
        EXPECT_EQ(records.size(), 0U);
    }
    const trace written(records);
    EXPECT_THAT(written.names("X"), ElementsAre("inner", "outer"));
    EXPECT_LE(written.event("outer").at("ts"), written.event("inner").at("ts"));
}

TEST(timeline_test, names_may_be_any_bytes) {
    const std::string strange = "a \"b\" \\ c\n\t\x01 {} </script> \xc3\xa9";
    timeline records;
    const auto now = timeline::clock::now();
    records.name_thread(strange);
    records.add_span(strange, now, now);
    records.add_span("on a track", now, now, strange + "!");
    records.add_counters("counters", {{strange, 1}});
    records.add_span("not \xff UTF-8 \xc3(", now, now);
    const trace written(records);
    EXPECT_EQ(written.track_of(strange), strange);
    EXPECT_EQ(written.track_of("on a track"), strange + "!");
    EXPECT_EQ(written.event("counters").at("args").at(strange), 1);
    EXPECT_EQ(written.event("not \xef\xbf\xbd UTF-8 \xef\xbf\xbd(").at("ph"), "X");
}

TEST(timeline_test, what_finds_no_room_is_counted) {
    timeline records(2);
    const auto now = timeline::clock::now();
    records.add_span("first", now, now);
    records.add_counters("second", {{"a", 1}});
    records.add_span("third", now, now);
    records.add_counters("fourth", {{"a", 1}});
    EXPECT_EQ(records.size(), 2U);
    EXPECT_EQ(records.dropped(), 2U);
    const trace written(records);
    EXPECT_EQ(written.all.at("otherData").at("dropped"), 2);
    EXPECT_THAT(written.names("X"), ElementsAre("first"));
    EXPECT_THAT(written.names("C"), ElementsAre("second"));
}

TEST(timeline_test, many_threads_add_at_the_same_time) {
    constexpr std::size_t each = 500;
    timeline records;
    in_threads(4, [&](std::size_t thread) {
        records.name_thread("worker " + std::to_string(thread));
        for (std::size_t i = 0; i != each; ++i) {
            const timeline_span outer(records, "outer");
            const timeline_span inner(records, "inner " + std::to_string(thread));
            records.add_counters("count", {{"done", i}});
            if (i % 100 == 0) {
                std::ostringstream unfinished;
                records.write(unfinished);
                EXPECT_TRUE(json::accept(unfinished.str()));
            }
        }
    });
    EXPECT_EQ(records.size(), 4 * each * 3);
    const trace written(records);
    for (int thread = 0; thread != 4; ++thread) {
        const std::string number = std::to_string(thread);
        EXPECT_EQ(written.track_of("inner " + number), "worker " + number);
        EXPECT_EQ(std::ranges::count(written.names("X"), "inner " + number),
                  static_cast<std::ptrdiff_t>(each));
    }
}

// ---- Files

class timeline_file : public testing::Test {
protected:
    timeline_file() {
        std::filesystem::create_directories(folder);
        const auto now = timeline::clock::now();
        records.add_span("work", now, now);
    }
    ~timeline_file() override { std::filesystem::remove_all(folder); }

    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                      std::filesystem::directory_iterator()));
    }

    timeline records;
    std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) /
        (std::string("handlepool timeline ") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(timeline_file, holds_what_write_writes) {
    const auto file = folder / "trace.json";
    std::ofstream(file) << "what was there before";
    records.save(file);
    std::ifstream in(file);
    std::ostringstream written;
    records.write(written);
    EXPECT_EQ(json::parse(in), json::parse(written.str()));
    EXPECT_EQ(files(), 1U) << "and no other is left";
}

TEST_F(timeline_file, one_that_can_not_be_made_is_named) {
    const auto file = folder / "no such folder" / "trace.json";
    EXPECT_THAT([&] { records.save(file); },
                ThrowsMessage<std::system_error>(AllOf(HasSubstr(file.string()), HasSubstr("No such file"))));
}

TEST_F(timeline_file, one_whose_place_is_taken_by_a_folder_leaves_nothing_behind) {
    const auto file = folder / "taken";
    std::filesystem::create_directories(file / "by another");
    EXPECT_THAT([&] { records.save(file); }, ThrowsMessage<std::system_error>(HasSubstr(file.string())));
    EXPECT_EQ(files(), 1U);
    EXPECT_TRUE(std::filesystem::is_directory(file));
}

TEST_F(timeline_file, a_full_disk_leaves_the_former_file) {
    const auto file = folder / "trace.json";
    std::ofstream(file) << "before";
    {
        const support::file_size_limit limit(10);
        EXPECT_THAT([&] { records.save(file); }, ThrowsMessage<std::system_error>(AllOf(
                                                     HasSubstr(file.string()), HasSubstr("too large"))));
    }
    std::string text;
    std::ifstream(file) >> text;
    EXPECT_EQ(text, "before");
    EXPECT_EQ(files(), 1U);
}

// ---- Compactions

TEST(traced_executor_test, records_a_compaction_with_its_phases_and_counters) {
    timeline records;
    pool<int> ships({.name = "ships", .capacity = 5000});
    for (int i = 0; i != 2000; ++i) { // so many that the executor gets them in parts
        ships.emplace(i);
    }
    ships.erase(ships.oldest(1)[0]);
    traced_executor<inline_executor> executor(records);
    ships.compact(executor);
    const trace written(records);
    std::vector<std::string> phases;
    for (const std::string& name : written.names("X")) {
        if (!name.ends_with(", part")) {
            phases.push_back(name);
        }
        EXPECT_EQ(written.track_of(name), own_track());
    }
    EXPECT_THAT(phases, ElementsAre("collect removals", "destroy", "collect newborns", "place newborns",
                                    "fill holes", "give back", "compact ships"));
    const json whole = written.event("compact ships");
    EXPECT_LE(whole.at("ts"), written.event("collect removals").at("ts"));
    EXPECT_THAT(written.names("X"), testing::Contains("place newborns, part"));
    const json counters = written.event("ships");
    EXPECT_EQ(counters.at("args"), (json{{"alive", 1999}, {"removed", 1}}));
}

TEST(traced_executor_test, is_used_for_one_compaction_after_the_other) {
    timeline records;
    pool<int> ships({.name = "ships", .capacity = 100});
    pool<int> rockets({.name = "rockets", .capacity = 100});
    traced_executor<inline_executor> executor(records);
    for (int i = 0; i != 3; ++i) {
        ships.compact(executor);
        rockets.compact(executor);
    }
    const trace written(records);
    EXPECT_EQ(std::ranges::count(written.names("X"), "compact ships"), 3);
    EXPECT_EQ(std::ranges::count(written.names("X"), "compact rockets"), 3);
    EXPECT_EQ(std::ranges::count(written.names("C"), "rockets"), 3);
}

TEST(traced_executor_test, records_the_parts_of_all_threads) {
    constexpr int count = 20'000; // enough to be divided
    timeline records;
    pool<int> ships({.name = "ships", .capacity = count});
    std::vector<handle<int>> handles;
    ships.emplace_n(count, std::back_inserter(handles), 7);
    traced_executor<thread_executor> executor(records, 3U);
    EXPECT_EQ(ships.compact(executor).born, static_cast<std::size_t>(count));
    ships.erase(handles);
    EXPECT_EQ(ships.compact(executor).removed, static_cast<std::size_t>(count));
    const trace written(records); // whose spans nest, on each track
    const auto names = written.names("X");
    EXPECT_GT(std::ranges::count(names, "place newborns, part"), 1);
    EXPECT_GT(std::ranges::count(names, "destroy, part"), 1);
}

} // namespace
} // namespace handlepool::test
