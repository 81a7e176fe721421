// SPDX-License-Identifier: MIT

// Each scenario does what its name says, and passes.

#include "run/scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace handlepool::stress {
namespace {

const scenario& named(std::string_view name) {
    for (const scenario& each : scenarios()) {
        if (each.name == name) {
            return each;
        }
    }
    throw std::out_of_range(std::string(name));
}

std::string fact(const report& result, const std::string& name) {
    for (const auto& [key, value] : result.facts) {
        if (key == name) {
            return value;
        }
    }
    return {};
}

std::string label_of(std::string_view name, placement_kind placement) {
    std::string label(name);
    return placement == placement_kind::dense ? label : label.append(", ").append(name_of(placement));
}

report run_checked(std::string_view name, const run_options& options) {
    const report result = run_scenario(named(name), options);
    EXPECT_TRUE(result.passed()) << to_text(result);
    EXPECT_EQ(result.command, label_of(name, options.service.placement));
    EXPECT_FALSE(result.summary.empty());
    EXPECT_GT(result.all.operations, 0U);
    EXPECT_GT(result.all.checked, 0U);
    EXPECT_GT(result.timed_operations, 0U);
    EXPECT_FALSE(result.over_time.points().empty());
    return result;
}

TEST(scenarios, are_those_of_the_table) {
    std::vector<std::string> names;
    for (const scenario& each : scenarios()) {
        names.emplace_back(each.name);
    }
    EXPECT_THAT(names, testing::ElementsAre("churn", "stale", "race-erase", "race-find", "overlap", "exhaust",
                                            "retire", "overflow", "threads", "reentrant", "alone", "changes",
                                            "rollback", "deterministic", "throwing", "stopped", "hand-off"));
}

struct each_scenario : testing::TestWithParam<std::tuple<std::string, placement_kind>> {
    const std::string& name = std::get<0>(GetParam());
    const placement_kind placement = std::get<1>(GetParam());
};

TEST_P(each_scenario, passes_with_any_number_of_threads_and_any_executor) {
    struct setting {
        std::size_t threads;
        executor_kind executor;
        std::size_t pools;
    };
    for (const auto& [threads, executor, pools] :
         {setting{1, executor_kind::in_line, 1}, setting{2, executor_kind::threads, 2},
          setting{5, executor_kind::tbb, 4}}) {
        run_checked(name, {.threads = threads,
                           .operations = 20'000,
                           .seed = threads,
                           .alive = 500,
                           .service = {.executor = executor, .placement = placement, .pools = pools}});
        if (name == "stopped") {
            break; // it has threads of its own, and each time it goes through all of its cases
        }
    }
}

TEST_P(each_scenario, passes_with_few_objects_and_a_sample) {
    const report result = run_checked(name, {.threads = 2,
                                             .operations = 5'000,
                                             .seed = 9,
                                             .alive = 16,
                                             .sample = 2,
                                             .service = {.placement = placement}});
    EXPECT_LT(result.all.checked, result.all.operations);
    EXPECT_EQ(result.sampled, 2U);
}

TEST_P(each_scenario, ends_in_time) {
    const report result =
        run_checked(name, {.threads = 2, .seconds = 0.1, .alive = 500, .service = {.placement = placement}});
    EXPECT_GE(result.seconds, 0.1);
    EXPECT_THAT(result.again,
                testing::HasSubstr("run " + name + " --threads 2 --seed 1 --alive 500 --seconds 0.1"));
    EXPECT_THAT(result.again, testing::HasSubstr("--placement " + std::string(name_of(placement))));
    EXPECT_THAT(result.parameters,
                testing::Contains(std::pair<std::string, std::string>("placement", name_of(placement))));
}

INSTANTIATE_TEST_SUITE_P(all, each_scenario,
                         testing::Combine(testing::ValuesIn([] {
                                              std::vector<std::string> names;
                                              for (const scenario& each : scenarios()) {
                                                  names.emplace_back(each.name);
                                              }
                                              return names;
                                          }()),
                                          testing::ValuesIn(placements)),
                         [](const auto& of) {
                             std::string text = std::get<0>(of.param) + '_';
                             text += name_of(std::get<1>(of.param));
                             std::replace(text.begin(), text.end(), '-', '_');
                             return text;
                         });

TEST(run_scenario_test, the_peak_is_not_below_what_is_alive_at_the_end) {
    for (const scenario& each : scenarios()) {
        const report result = run_checked(each.name, {.threads = 2, .operations = 20'000, .alive = 500});
        EXPECT_GE(result.alive_peak, result.pool.alive) << each.name;
        EXPECT_EQ(result.pool.destroyed + result.pool.alive, result.pool.created) << each.name;
    }
    const std::span only_stable = std::span(placements).subspan(1, 1);
    const std::vector<report> results =
        run_soak({.threads = 2, .operations = 400'000, .alive = 500}, only_stable, [](auto&) {});
    EXPECT_EQ(results.size(), scenarios().size());
    for (const report& each : results) {
        EXPECT_THAT(each.command, testing::EndsWith(", stable"));
        EXPECT_GE(each.alive_peak, each.pool.alive) << each.command;
        EXPECT_EQ(each.pool.destroyed + each.pool.alive, each.pool.created) << each.command;
    }
}

TEST(run_scenario_test, an_exception_out_of_turn_is_a_violation) {
    const scenario throws{"throws", "throws", [](test_run&) { throw std::runtime_error("out of turn"); }};
    const report result = run_scenario(throws, {.threads = 1, .seconds = 0.1});
    EXPECT_FALSE(result.passed());
    EXPECT_THAT(result.all.messages, testing::ElementsAre("the scenario ended by an exception: out of turn"));
    const scenario no_memory{"none", "none", [](test_run&) { throw std::bad_alloc(); }};
    EXPECT_THROW(run_scenario(no_memory, {.threads = 1, .seconds = 0.1}), std::bad_alloc);
}

TEST(run_scenario_test, has_a_frame_of_each_part_however_short_the_time) {
    const report result = run_checked("stale", {.threads = 2, .seconds = 0.0001, .alive = 100});
    EXPECT_EQ(result.frames, 3U);
}

TEST(scenario_stale, looks_dead_and_forged_handles_up) {
    const report result = run_checked("stale", {.threads = 2, .operations = 50'000, .alive = 100});
    EXPECT_GT(result.all.stale_lookups, 20'000U);
    EXPECT_GT(result.all.forged_lookups, 5'000U);
    EXPECT_EQ(result.all.stale_accepted, 0U);
}

TEST(scenario_race_erase, has_one_winner_of_each) {
    const report result = run_checked("race-erase", {.threads = 4, .operations = 50'000, .alive = 100});
    EXPECT_EQ(result.all.created, result.all.erased);
    EXPECT_GE(result.latency(operation::erase).count(), 4 * result.all.created) << "each tries each";
}

TEST(scenario_overlap, compacts_all_the_time) {
    const report result = run_checked("overlap", {.threads = 3, .operations = 50'000, .alive = 100});
    EXPECT_GT(result.frames, 10U);
    EXPECT_GT(result.latency(operation::find).count(), 0U) << "under guards";
}

TEST(scenario_overlap, looks_at_objects_that_never_move_while_they_are_compacted) {
    const report result = run_checked(
        "overlap",
        {.threads = 3, .operations = 50'000, .alive = 100, .service = {.placement = placement_kind::stable}});
    EXPECT_GT(4 * result.latency(operation::find).count(), result.latency(operation::contains).count())
        << "far more than under guards";
}

TEST(scenario_retire, uses_pools_up) {
    const report result = run_checked("retire", {.threads = 2, .operations = 50'000});
    EXPECT_GT(result.pool.slots_retired, 500U);
    EXPECT_NE(fact(result, "pools used up"), "");
}

TEST(scenario_overflow, sweeps) {
    const report result = run_checked("overflow", {.threads = 2, .operations = 50'000, .alive = 100});
    EXPECT_GT(result.pool.sweeps, 0U);
}

TEST(scenario_threads, come_and_go) {
    const report result = run_checked("threads", {.threads = 2, .operations = 20'000});
    EXPECT_GT(std::stoul(fact(result, "threads born")), 100U);
}

TEST(scenario_throwing, constructors_do_throw) {
    const report result = run_checked("throwing", {.threads = 2, .operations = 20'000});
    EXPECT_GT(std::stoul(fact(result, "constructors that threw")), 500U);
    EXPECT_GT(result.all.undone, 500U);
}

TEST(run_all_test, goes_through_all_of_them_with_all_placements) {
    std::vector<std::string> done;
    const std::vector<report> results =
        run_all({.threads = 2, .operations = 100'000, .alive = 200}, placements,
                [&](const report& result) { done.push_back(result.command); });
    ASSERT_EQ(results.size(), placements.size() * scenarios().size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i].command, done[i]);
        EXPECT_EQ(done[i],
                  label_of(scenarios()[i / placements.size()].name, placements[i % placements.size()]));
        EXPECT_TRUE(results[i].passed()) << to_text(results[i]);
    }
}

TEST(run_soak_test, takes_turns_with_other_seeds) {
    std::set<std::string> commands;
    std::size_t turns = 0;
    const std::vector<report> results =
        run_soak({.threads = 2, .operations = 700'000, .alive = 100}, placements, [&](const report& result) {
            commands.insert(result.again);
            ++turns;
        });
    ASSERT_EQ(results.size(), placements.size() * scenarios().size());
    EXPECT_GE(turns, results.size());
    EXPECT_EQ(commands.size(), turns) << "a turn was repeated with the same seed";
    std::uint64_t operations = 0;
    for (const report& each : results) {
        EXPECT_TRUE(each.passed()) << to_text(each);
        operations += each.timed_operations;
    }
    EXPECT_GE(operations, 700'000U);
}

} // namespace
} // namespace handlepool::stress
