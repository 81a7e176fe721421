// SPDX-License-Identifier: MIT
#include <bench/tools/comparison.hpp>
#include <bench/tools/contenders.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/suite.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace handlepool_bench {

namespace {

using mutexed = locked<bare_array>;

// With more objects both contenders wait for memory, and the ratio tells less of the lock: that is a remark.
constexpr std::size_t judged_alive = 100'000;

/// `phase` runs a round and tells the nanoseconds of the operation in question.
template <class Phase>
void against_the_mutex(benchmark::State& state, table& results, figure place, std::size_t alive,
                       Phase phase) {
    population<our_pool> pool(alive, 2);
    population<mutexed> array(alive, 2);
    const comparison outcome = compare(state, [&] { return phase(pool); }, [&] { return phase(array); });
    if (alive == judged_alive) {
        results.record(place, 1 / outcome.ratio.median, outcome.ratio.spread());
    } else {
        results.remark(fmt::format("{}, {} alive: {:.1f} × faster", results.name(place), alive,
                                   1 / outcome.ratio.median));
    }
}

/// The pool alone: what a second thread adds to the cost of an emplace.
void create_against_one(benchmark::State& state, table& results, std::size_t alive) {
    population<our_pool> two(alive, 2);
    population<our_pool> one(alive, 1);
    const std::size_t frames = 1'000'000 / alive;
    const comparison outcome =
        compare(state, [&] { return two.frames(frames).create; }, [&] { return one.frames(frames).create; });
    results.record(figure::create_2_against_1, outcome.ratio.median, outcome.ratio.spread());
}

} // namespace

void register_two_threads(table& results, std::size_t rounds) {
    const auto add = [&results, rounds](const std::string& name, figure place, std::size_t alive,
                                        auto phase) {
        benchmark::RegisterBenchmark((name + "/2 threads/" + std::to_string(alive)).c_str(),
                                     [=, &results](benchmark::State& state) {
                                         against_the_mutex(state, results, place, alive, phase);
                                     })
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds));
    };
    benchmark::RegisterBenchmark(
        "create/2 threads against 1/100000",
        [&results](benchmark::State& state) { create_against_one(state, results, judged_alive); })
        ->UseManualTime()
        ->Iterations(static_cast<benchmark::IterationCount>(rounds));
    for (const std::size_t alive : {judged_alive, std::size_t{1'000'000}}) {
        const std::size_t frames = 1'000'000 / alive;
        const std::size_t passes = 1'000'000 / alive;
        add("create", figure::create_2_threads, alive, [=](auto& one) { return one.frames(frames).create; });
        add("erase", figure::erase_2_threads, alive, [=](auto& one) { return one.frames(frames).erase; });
        add("find", figure::find_2_threads, alive, [=](auto& one) { return one.finds(passes); });
    }
}

} // namespace handlepool_bench
