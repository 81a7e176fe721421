// SPDX-License-Identifier: MIT
#include <handlepool/error.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/tbb/frame_graph.hpp>
#include <handlepool/timeline.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct task_failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// start -> before -> compaction -> after, of a service with one pool.
class frame_graph_test : public testing::Test {
protected:
    frame_graph_test() {
        tbb::flow::make_edge(frame.start(), before);
        tbb::flow::make_edge(before, frame.compaction());
        tbb::flow::make_edge(frame.compaction(), after);
    }

    void note(const std::string& name) {
        const std::scoped_lock lock(mutex);
        ran.push_back(name);
    }
    std::vector<std::string> take_ran() { return std::exchange(ran, {}); }

    service world;
    pool<int>& ints = world.add<pool<int>>("ints", {.capacity = 10'000});
    std::mutex mutex;
    std::vector<std::string> ran;
    std::function<void()> in_before;
    std::function<void()> in_after;

    frame_graph frame{world};
    frame_graph::node& before = frame.add_task("before", [this] {
        note("before");
        if (in_before) {
            in_before();
        }
    });
    frame_graph::node& after = frame.add_task("after", [this] {
        note("after");
        if (in_after) {
            in_after();
        }
    });
};

TEST_F(frame_graph_test, a_task_may_have_exclusive_access_to_a_pool) {
    in_before = [&] { ints.emplace(1); };
    std::vector<std::size_t> sizes;
    auto& serial = frame.add_exclusive_task("serial", ints, [&](exclusive_pool<int>& alone) {
        note("serial");
        alone.erase(alone.handle_at(0));
        alone.emplace(2);
        alone.emplace(3);
        sizes.push_back(alone.items().size());
    });
    tbb::flow::make_edge(after, serial);
    frame.run(3).rethrow();
    EXPECT_THAT(take_ran(), ElementsAre("before", "after", "serial", "before", "after", "serial", "before",
                                        "after", "serial"));
    EXPECT_THAT(sizes, ElementsAre(2U, 4U, 6U));
    EXPECT_EQ(ints.size(), 6U);
}

TEST_F(frame_graph_test, exclusive_access_that_is_refused_ends_the_run) {
    in_after = [] {};
    auto& serial = frame.add_exclusive_task("serial", ints, [&](auto& alone) {
        alone.emplace(1);
        static_cast<void>(ints.exclusive_access());
    });
    tbb::flow::make_edge(after, serial);
    const frame_run done = frame.run(3);
    EXPECT_EQ(done.frames, 0U);
    EXPECT_EQ(done.failed_task, "serial");
    EXPECT_THROW(done.rethrow(), compaction_conflict);
    EXPECT_EQ(ints.size(), 1U);
    EXPECT_TRUE(ints.try_exclusive_access());
}

TEST_F(frame_graph_test, tasks_run_in_the_order_of_their_edges_and_compaction_where_it_stands) {
    in_before = [&] { ints.emplace(1); };
    std::vector<std::size_t> sizes;
    in_after = [&] { sizes.push_back(ints.items().size()); };
    const frame_run done = frame.run(3);
    EXPECT_EQ(done.frames, 3U);
    EXPECT_FALSE(done.cancelled);
    EXPECT_EQ(done.failure, nullptr);
    EXPECT_EQ(done.failed_task, "");
    done.rethrow();
    EXPECT_THAT(ran, ElementsAre("before", "after", "before", "after", "before", "after"));
    EXPECT_THAT(sizes, ElementsAre(1U, 2U, 3U));
    EXPECT_EQ(world.frames(), 3U);
}

TEST_F(frame_graph_test, a_task_waits_for_all_before_it) {
    std::atomic<int> done = 0;
    std::atomic<int> too_early = 0;
    auto& last = frame.add_task("last", [&] { too_early += done.exchange(0) == 8 ? 0 : 1; });
    for (int i = 0; i != 8; ++i) {
        auto& one = frame.add_task("one of many", [&] { ++done; });
        tbb::flow::make_edge(frame.start(), one);
        tbb::flow::make_edge(one, last);
    }
    EXPECT_EQ(frame.run(100).frames, 100U);
    EXPECT_EQ(too_early, 0);
}

TEST_F(frame_graph_test, a_task_without_an_edge_never_runs) {
    frame.add_task("alone", [&] { ADD_FAILURE() << "it has no edge"; });
    EXPECT_EQ(frame.run(2).frames, 2U);
}

TEST_F(frame_graph_test, reports_each_frame_with_its_tasks_and_its_compaction) {
    in_before = [&] { ints.emplace(1); };
    std::vector<frame_report> reports;
    frame.run(2, [&](const frame_report& report) { reports.push_back(report); });
    ASSERT_THAT(reports, SizeIs(2));
    for (std::size_t i = 0; i != 2; ++i) {
        const frame_report& report = reports[i];
        EXPECT_EQ(report.frame, i);
        EXPECT_EQ(report.compaction.born, 1U);
        ASSERT_THAT(report.tasks, SizeIs(3));
        EXPECT_EQ(report.tasks[0].name, "compaction");
        EXPECT_EQ(report.tasks[1].name, "before");
        EXPECT_EQ(report.tasks[2].name, "after");
        const auto end = [](const task_times& task) { return task.begin + task.duration; };
        EXPECT_GE(report.tasks[1].begin.count(), 0);
        EXPECT_GE(report.tasks[0].begin, end(report.tasks[1]));
        EXPECT_GE(report.tasks[2].begin, end(report.tasks[0]));
        EXPECT_GE(report.duration, end(report.tasks[2]));
    }
}

TEST_F(frame_graph_test, a_task_that_has_lost_its_edge_takes_no_time) {
    EXPECT_EQ(frame.run(1).frames, 1U);
    tbb::flow::remove_edge(frame.compaction(), after);
    std::vector<frame_report> reports;
    EXPECT_EQ(frame.run(1, [&](const frame_report& report) { reports.push_back(report); }).frames, 1U);
    EXPECT_THAT(take_ran(), ElementsAre("before", "after", "before"));
    ASSERT_THAT(reports, SizeIs(1));
    ASSERT_THAT(reports[0].tasks, SizeIs(3));
    EXPECT_GT(reports[0].tasks[1].begin.count(), 0);
    EXPECT_EQ(reports[0].tasks[2].name, "after");
    EXPECT_EQ(reports[0].tasks[2].begin.count(), 0);
    EXPECT_EQ(reports[0].tasks[2].duration.count(), 0);
}

TEST_F(frame_graph_test, frames_are_numbered_over_all_runs) {
    std::vector<std::uint64_t> numbers;
    const auto note_number = [&](const frame_report& report) { numbers.push_back(report.frame); };
    frame.run(2, note_number);
    frame.run(1, note_number);
    EXPECT_THAT(numbers, ElementsAre(0U, 1U, 2U));
}

TEST_F(frame_graph_test, no_frames_are_no_work) {
    EXPECT_EQ(frame.run(0).frames, 0U);
    EXPECT_THAT(ran, IsEmpty());
    EXPECT_EQ(world.frames(), 0U);
}

// ---- Failures

TEST_F(frame_graph_test, a_task_that_throws_ends_the_run_and_the_rest_of_its_frame) {
    int frames = 0;
    int reports = 0;
    in_before = [&] {
        if (++frames == 3) {
            throw task_failure("the task fails");
        }
    };
    const frame_run done = frame.run(10, [&](const frame_report&) { ++reports; });
    EXPECT_EQ(done.frames, 2U);
    EXPECT_EQ(reports, 2);
    EXPECT_EQ(done.failed_task, "before");
    EXPECT_FALSE(done.cancelled);
    EXPECT_THAT([&] { done.rethrow(); }, testing::ThrowsMessage<task_failure>("the task fails"));
    EXPECT_THAT(take_ran(), ElementsAre("before", "after", "before", "after", "before"));
    EXPECT_EQ(world.frames(), 2U) << "the frame's compaction did not run";

    std::vector<std::uint64_t> numbers;
    const frame_run next = frame.run(1, [&](const frame_report& report) { numbers.push_back(report.frame); });
    EXPECT_EQ(next.frames, 1U);
    EXPECT_EQ(next.failure, nullptr);
    EXPECT_EQ(next.failed_task, "");
    EXPECT_THAT(take_ran(), ElementsAre("before", "after"));
    EXPECT_THAT(numbers, ElementsAre(3U)) << "the failed frame has a number too";
}

TEST_F(frame_graph_test, of_several_failures_one_is_told) {
    for (const char* const name : {"first", "second", "third"}) {
        auto& one = frame.add_task(name, [name] { throw task_failure(name); });
        tbb::flow::make_edge(frame.start(), one);
    }
    const frame_run done = frame.run(10);
    EXPECT_EQ(done.frames, 0U);
    EXPECT_THAT(done.failed_task, AnyOf("first", "second", "third"));
    EXPECT_THAT([&] { done.rethrow(); }, testing::ThrowsMessage<task_failure>(done.failed_task))
        << "of that task";
}

TEST_F(frame_graph_test, of_failures_at_the_same_time_the_first_is_told_with_its_task) {
    std::atomic<int> running = 0;
    const auto meet = [&] { // unless there is one thread alone, which runs one of them
        const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        for (++running; running < 2 && std::chrono::steady_clock::now() < patience;) {
            std::this_thread::yield();
        }
    };
    auto& soon = frame.add_task("soon", [&] {
        meet();
        throw task_failure("soon");
    });
    auto& later = frame.add_task("later", [&] {
        meet();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        throw task_failure("later");
    });
    tbb::flow::make_edge(frame.start(), soon);
    tbb::flow::make_edge(frame.start(), later);
    const frame_run done = frame.run(1);
    EXPECT_THAT([&] { done.rethrow(); }, testing::ThrowsMessage<task_failure>(done.failed_task));
}

TEST_F(frame_graph_test, a_compaction_that_fails_is_a_task_that_fails) {
    in_before = [&] {}; // the guard is held by the thread that runs the frame
    tbb::task_arena one(1);
    one.execute([&] {
        frame_graph alone(world); // in this arena, so that all tasks run in this thread
        tbb::flow::make_edge(alone.start(), alone.compaction());
        const auto guard = world.access();
        const frame_run done = alone.run(10);
        EXPECT_EQ(done.frames, 0U);
        EXPECT_EQ(done.failed_task, "compaction");
        EXPECT_THROW(done.rethrow(), compaction_conflict);
    });
}

TEST_F(frame_graph_test, what_a_foreign_node_throws_ends_the_run) {
    int frames = 0;
    tbb::flow::continue_node<tbb::flow::continue_msg> foreign(frame.graph(),
                                                              [&](const tbb::flow::continue_msg&) {
                                                                  if (++frames == 2) {
                                                                      throw task_failure("the node fails");
                                                                  }
                                                              });
    tbb::flow::make_edge(before, foreign);
    const frame_run done = frame.run(10);
    EXPECT_EQ(done.frames, 1U);
    EXPECT_EQ(done.failed_task, "a node of another kind");
    EXPECT_THAT([&] { done.rethrow(); }, testing::ThrowsMessage<task_failure>("the node fails"));
    const frame_run next = frame.run(5);
    EXPECT_EQ(next.frames, 5U);
    EXPECT_EQ(next.failure, nullptr);
    EXPECT_EQ(frames, 7);
}

TEST_F(frame_graph_test, what_a_foreign_node_throws_leaves_no_node_with_half_of_its_messages) {
    std::atomic<bool> joined = false;
    int frames = 0;
    tbb::flow::continue_node<tbb::flow::continue_msg> foreign(
        frame.graph(), [&](const tbb::flow::continue_msg&) {
            if (++frames == 1) {
                throw task_failure("the node fails");
            }
            const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
            while (!joined && std::chrono::steady_clock::now() < patience) {
                std::this_thread::yield();
            }
            EXPECT_FALSE(joined) << "which comes after it";
        });
    frame_graph::node& join = frame.add_task("join", [&] { joined = true; });
    tbb::flow::make_edge(frame.start(), join);
    tbb::flow::make_edge(frame.start(), foreign);
    tbb::flow::make_edge(foreign, join);
    EXPECT_EQ(frame.run(1).failed_task, "a node of another kind");
    for (int i = 0; i != 3; ++i) {
        joined = false;
        EXPECT_EQ(frame.run(1).frames, 1U);
        EXPECT_TRUE(joined);
    }
}

TEST_F(frame_graph_test, exceptions_of_any_type_are_kept) {
    in_after = [] { throw 42; };
    const frame_run done = frame.run(1);
    EXPECT_EQ(done.frames, 0U);
    EXPECT_THROW(done.rethrow(), int);
    EXPECT_EQ(done.failed_task, "after");
}

TEST_F(frame_graph_test, what_after_frame_throws_comes_out_and_the_next_run_goes_on_behind) {
    std::vector<std::uint64_t> numbers;
    EXPECT_THROW(frame.run(10,
                           [&](const frame_report& report) {
                               numbers.push_back(report.frame);
                               if (report.frame == 1) {
                                   throw task_failure("after the frame");
                               }
                           }),
                 task_failure);
    EXPECT_THAT(numbers, ElementsAre(0U, 1U));
    const frame_run next = frame.run(1, [&](const frame_report& report) { numbers.push_back(report.frame); });
    EXPECT_EQ(next.frames, 1U);
    EXPECT_EQ(next.failure, nullptr);
    EXPECT_THAT(numbers, ElementsAre(0U, 1U, 2U)) << "the frame before was run to its end";
}

// ---- Ending a run

TEST_F(frame_graph_test, a_task_may_cancel_the_run) {
    int frames = 0;
    in_before = [&] {
        if (++frames == 3) {
            frame.cancel();
        }
    };
    const frame_run done = frame.run(10);
    EXPECT_EQ(done.frames, 2U);
    EXPECT_TRUE(done.cancelled);
    EXPECT_EQ(done.failure, nullptr);
    EXPECT_THAT(take_ran(), ElementsAre("before", "after", "before", "after", "before"));
    EXPECT_EQ(frame.run(2).frames, 2U) << "the next run is another one";
}

// ThreadSanitizer tells when nothing orders the reason.
TEST_F(frame_graph_test, what_a_thread_did_before_it_cancelled_happens_before_the_end_of_the_run) {
    std::string reason;
    const std::jthread other([&] {
        reason = "enough";
        frame.cancel();
    });
    EXPECT_TRUE(frame.run(std::numeric_limits<std::uint64_t>::max()).cancelled);
    EXPECT_EQ(reason, "enough");
}

TEST_F(frame_graph_test, a_frame_whose_last_task_cancels_was_run_to_its_end) {
    in_after = [&] { frame.cancel(); };
    int reports = 0;
    const frame_run done = frame.run(10, [&](const frame_report&) { ++reports; });
    EXPECT_TRUE(done.cancelled);
    EXPECT_EQ(done.frames, 1U);
    EXPECT_EQ(reports, 1);
}

// A cancelled node leaves its successors with a part of their messages: a frame later they would run too
// early.
TEST_F(frame_graph_test, a_cancelled_graph_ends_the_run_and_its_edges_still_hold) {
    std::atomic<bool> slow_ended = false;
    std::atomic<int> too_early = 0;
    bool cancelling = true;
    auto& quick = frame.add_task("quick", [&] {
        if (cancelling) {
            frame.graph().cancel();
        }
    });
    auto& slow = frame.add_task("slow", [&] { slow_ended = true; });
    auto& both = frame.add_task("both", [&] { too_early += slow_ended ? 0 : 1; });
    tbb::flow::make_edge(frame.start(), quick);
    tbb::flow::make_edge(after, slow);
    tbb::flow::make_edge(quick, both);
    tbb::flow::make_edge(slow, both);
    const frame_run first = frame.run(5);
    EXPECT_TRUE(first.cancelled);
    EXPECT_EQ(first.frames, 0U);
    cancelling = false;
    const frame_run second = frame.run(3, [&](const frame_report&) { slow_ended = false; });
    EXPECT_FALSE(second.cancelled);
    EXPECT_EQ(second.frames, 3U);
    EXPECT_EQ(too_early, 0);
}

TEST_F(frame_graph_test, a_cancelled_group_of_tasks_around_a_run_cuts_no_frame) {
    tbb::task_group group;
    in_before = [&] { group.cancel(); };
    frame_run done;
    group.run_and_wait([&] { done = frame.run(10); });
    EXPECT_EQ(done.frames, 10U);
    EXPECT_EQ(world.frames(), 10U);
    EXPECT_THAT(ran, SizeIs(20));
}

TEST_F(frame_graph_test, after_frame_may_cancel_the_run) {
    const frame_run done = frame.run(10, [&](const frame_report& report) {
        if (report.frame == 2) {
            frame.cancel();
        }
    });
    EXPECT_EQ(done.frames, 3U);
    EXPECT_TRUE(done.cancelled);
}

TEST_F(frame_graph_test, cancel_before_a_run_ends_the_next_one) {
    frame.cancel();
    const frame_run done = frame.run(10);
    EXPECT_EQ(done.frames, 0U);
    EXPECT_TRUE(done.cancelled);
    EXPECT_THAT(ran, IsEmpty());
    EXPECT_EQ(frame.run(1).frames, 1U);
}

TEST_F(frame_graph_test, a_cancel_in_the_last_frame_of_a_run_ends_the_next_one) {
    const frame_run done = frame.run(3, [&](const frame_report& report) {
        if (report.frame == 2) {
            frame.cancel();
        }
    });
    EXPECT_EQ(done.frames, 3U);
    EXPECT_FALSE(done.cancelled) << "all of it was run";
    const frame_run next = frame.run(10);
    EXPECT_EQ(next.frames, 0U);
    EXPECT_TRUE(next.cancelled);
    EXPECT_EQ(frame.run(1).frames, 1U);
}

TEST_F(frame_graph_test, a_frame_that_is_cancelled_and_fails_ends_one_run) {
    const std::function<void()> each_cancel[] = {[&] { frame.cancel(); }, [&] { frame.graph().cancel(); }};
    for (const auto& cancel : each_cancel) {
        in_before = [&] {
            cancel();
            throw task_failure("the task fails");
        };
        const frame_run done = frame.run(10);
        EXPECT_EQ(done.frames, 0U);
        EXPECT_TRUE(done.cancelled);
        EXPECT_EQ(done.failed_task, "before");
        EXPECT_THROW(done.rethrow(), task_failure);
        in_before = {};
        const frame_run next = frame.run(2);
        EXPECT_EQ(next.frames, 2U);
        EXPECT_FALSE(next.cancelled);
        EXPECT_EQ(next.failure, nullptr);
    }
    EXPECT_THAT(ran, ElementsAre("before", "before", "after", "before", "after", "before", "before", "after",
                                 "before", "after"));
}

// The run that it was for returned nothing that could tell of it.
TEST_F(frame_graph_test, a_cancel_before_after_frame_throws_ends_the_next_run) {
    EXPECT_THROW(frame.run(10,
                           [&](const frame_report&) {
                               frame.cancel();
                               throw task_failure("after the frame");
                           }),
                 task_failure);
    const frame_run next = frame.run(10);
    EXPECT_EQ(next.frames, 0U);
    EXPECT_TRUE(next.cancelled);
    EXPECT_EQ(frame.run(1).frames, 1U);
}

TEST_F(frame_graph_test, another_thread_may_cancel_an_endless_run) {
    std::atomic<bool> running = false;
    in_before = [&] { running = true; };
    std::jthread other([&] {
        while (!running) {
            std::this_thread::yield();
        }
        frame.cancel();
    });
    const frame_run done = frame.run(~std::uint64_t{0});
    EXPECT_TRUE(done.cancelled);
    EXPECT_EQ(done.failure, nullptr);
    EXPECT_GE(world.frames(), done.frames);
}

// ---- Recording

TEST_F(frame_graph_test, tasks_frames_and_compactions_are_recorded_until_it_is_told_otherwise) {
    timeline records;
    frame.record(&records);
    in_before = [&] { ints.emplace(1); };
    frame.run(2);
    const std::size_t recorded = records.size();
    frame.record(nullptr);
    frame.run(1);
    EXPECT_EQ(records.size(), recorded);

    std::ostringstream out;
    records.write(out);
    std::vector<std::string> spans;
    std::vector<std::string> counters;
    const auto written = nlohmann::json::parse(out.str());
    for (const auto& event : written.at("traceEvents")) {
        if (event.at("ph") == "X") {
            spans.push_back(event.at("name"));
        } else if (event.at("ph") == "C") {
            counters.push_back(event.at("name"));
        }
    }
    for (const char* const name :
         {"before", "after", "compaction", "frame", "compact ints", "place newborns"}) {
        EXPECT_EQ(std::ranges::count(spans, name), 2) << name;
    }
    EXPECT_THAT(counters, ElementsAre("ints", "ints"));
}

// ---- Arenas

class frame_graph_arena_test : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(threads, frame_graph_arena_test, testing::Values(1, 2, 4));

TEST_P(frame_graph_arena_test, runs_in_arenas_of_any_size) {
    tbb::task_arena arena(GetParam());
    arena.execute([] {
        service world;
        auto& ints = world.add<pool<int>>("ints", {.capacity = 100'000});
        std::atomic<std::uint64_t> seen = 0;
        frame_graph frame(world);
        auto& reader = frame.add_task("reader", [&] { seen += ints.items().size(); });
        tbb::flow::make_edge(frame.compaction(), reader);
        for (int i = 0; i != 4; ++i) {
            auto& writer = frame.add_task("writer", [&] {
                for (int k = 0; k != 500; ++k) {
                    ints.emplace(k);
                }
                for (const auto old : ints.oldest(100)) {
                    ints.erase(old);
                }
            });
            tbb::flow::make_edge(frame.start(), writer);
            tbb::flow::make_edge(writer, frame.compaction());
        }
        EXPECT_EQ(frame.run(20).frames, 20U);
        EXPECT_GE(seen, 20 * 21 / 2 * 4 * 400U);
        EXPECT_EQ(ints.items().size(), ints.size());
    });
}

TEST_P(frame_graph_arena_test, may_be_run_from_another_arena_than_it_was_made_in) {
    service world;
    auto& ints = world.add<pool<int>>("ints", {.capacity = 10'000});
    frame_graph frame(world);
    auto& writer = frame.add_task("writer", [&] { ints.emplace(1); });
    tbb::flow::make_edge(frame.start(), writer);
    tbb::flow::make_edge(writer, frame.compaction());
    tbb::task_arena(GetParam()).execute([&] { EXPECT_EQ(frame.run(50).frames, 50U); });
    EXPECT_EQ(ints.items().size(), 50U);
}

} // namespace
} // namespace handlepool::test
