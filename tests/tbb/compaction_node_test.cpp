// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/tbb/compaction_node.hpp>

#include <gtest/gtest.h>
#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>
#include <tests/support/hostile_types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using tbb::flow::continue_msg;
using step = tbb::flow::continue_node<continue_msg>;

TEST(compaction_node_test, runs_between_its_predecessors_and_its_successors) {
    pool<int> ints({.name = "ints", .capacity = 10'000});
    tbb::flow::graph graph;
    std::atomic<std::size_t> seen = 0;
    tbb::flow::broadcast_node<continue_msg> start(graph);
    step left(graph, [&](const continue_msg&) { ints.emplace(1); });
    step right(graph, [&](const continue_msg&) { ints.emplace(2); });
    compaction_node compaction(graph, ints);
    step after(graph, [&](const continue_msg&) { seen = ints.items().size(); });
    tbb::flow::make_edge(start, left);
    tbb::flow::make_edge(start, right);
    tbb::flow::make_edge(left, compaction);
    tbb::flow::make_edge(right, compaction);
    tbb::flow::make_edge(compaction, after);
    for (std::size_t frame = 1; frame != 100; ++frame) {
        start.try_put(continue_msg());
        graph.wait_for_all();
        ASSERT_EQ(seen, 2 * frame);
        ASSERT_EQ(ints.stats().compactions, frame);
    }
}

TEST(compaction_node_test, tells_what_each_compaction_did) {
    pool<int> ints({.name = "ints", .capacity = 10'000});
    std::vector<compaction_stats> all;
    tbb::flow::graph graph;
    compaction_node compaction(graph, ints, [&](const compaction_stats& stats) { all.push_back(stats); });
    const auto first = ints.emplace(1);
    compaction.try_put(continue_msg());
    graph.wait_for_all();
    ints.erase(first);
    compaction.try_put(continue_msg());
    graph.wait_for_all();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].born, 1U);
    EXPECT_EQ(all[1].removed, 1U);
}

TEST(compaction_node_test, compacts_a_service_too) {
    service world;
    world.add<pool<int>>("ints", {.capacity = 10}).emplace(1);
    world.add<pool<long>>("longs", {.capacity = 10}).emplace(1);
    service_compaction last;
    tbb::flow::graph graph;
    compaction_node compaction(graph, world, [&](const service_compaction& done) { last = done; });
    compaction.try_put(continue_msg());
    graph.wait_for_all();
    EXPECT_EQ(last.pools, 2U);
    EXPECT_EQ(last.born, 2U);
    EXPECT_EQ(world.frames(), 1U);
}

TEST(compaction_node_test, its_error_comes_out_of_wait_for_all_and_successors_do_not_run) {
    pool<re_entrant> nested({.name = "nested", .capacity = 10});
    tbb::flow::graph graph;
    bool ran_after = false;
    compaction_node compaction(graph, nested);
    step after(graph, [&](const continue_msg&) { ran_after = true; });
    tbb::flow::make_edge(compaction, after);
    // The graph is run from the destructor of an object: in the middle of a compaction.
    int conflicts = 0;
    nested.erase(nested.emplace(re_entrant::callback(), [&] {
        compaction.try_put(continue_msg());
        try {
            graph.wait_for_all();
        } catch (const compaction_conflict&) {
            ++conflicts;
        }
    }));
    nested.compact();
    EXPECT_EQ(conflicts, 1);
    EXPECT_FALSE(ran_after);

    graph.reset();
    compaction.try_put(continue_msg());
    graph.wait_for_all();
    EXPECT_TRUE(ran_after) << "after a reset the graph works again";
}

TEST(compaction_node_test, other_arenas_create_and_erase_meanwhile) {
    census counts;
    pool<counted> ships({.name = "ships", .capacity = 20'000});
    std::atomic<bool> done = false;
    std::atomic<int> wrong = 0;
    std::jthread other([&] {
        tbb::task_arena arena(2);
        arena.execute([&] {
            std::vector<handle<counted>> mine;
            for (std::uint64_t i = 0; !done || i < 1000; ++i) {
                if (const auto made = ships.try_emplace(counts, i)) {
                    mine.push_back(made);
                }
                if (mine.size() > 1000) {
                    const auto guard = ships.access();
                    wrong += ships.find(mine.back()) != nullptr ? 0 : 1;
                    wrong += ships.erase(mine) == mine.size() ? 0 : 1;
                    mine.clear();
                }
            }
        });
    });
    tbb::flow::graph graph;
    compaction_node compaction(graph, ships);
    std::uint64_t frames = 0;
    while (frames < 50 || ships.stats().destroyed < 5000) {
        compaction.try_put(continue_msg());
        graph.wait_for_all();
        ++frames;
    }
    done = true;
    other.join();
    EXPECT_EQ(wrong, 0);
    ships.compact();
    EXPECT_EQ(counts.alive(), static_cast<std::int64_t>(ships.size()));
}

} // namespace
} // namespace handlepool::test
