// SPDX-License-Identifier: MIT
#include "comparison.hpp"
#include "suite.hpp"
#include "timed_team.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace handlepool_bench {

namespace {

/// Nanoseconds a step, of as many steps as keep the multipliers of a thread busy, in each of the threads.
double multiply(timed_team& team) {
    constexpr std::size_t steps = 1'000'000;
    const double spent = team.run([](unsigned thread) {
        std::array<std::uint64_t, 4> words{thread, 1, 2, 3};
        for (std::size_t i = 0; i != steps; ++i) {
            for (std::uint64_t& word : words) {
                word = word * 6364136223846793005U + 1;
            }
            benchmark::DoNotOptimize(words);
        }
    });
    return spent / static_cast<double>(steps * team.size());
}

void two_processors(benchmark::State& state, table& results) {
    timed_team one(1);
    timed_team two(2);
    const comparison outcome = compare(state, [&] { return multiply(two); }, [&] { return multiply(one); });
    results.remark(
        fmt::format("two threads that share nothing do {:.2f} times the work of one on this machine, "
                    "half of the time {:.2f} to {:.2f}",
                    1 / outcome.ratio.median, 1 / outcome.ratio.upper, 1 / outcome.ratio.lower));
}

} // namespace

void register_machine(table& results, std::size_t rounds) {
    benchmark::RegisterBenchmark("machine/2 threads",
                                 [&results](auto& state) { two_processors(state, results); })
        ->UseManualTime()
        ->Iterations(static_cast<benchmark::IterationCount>(rounds))
        ->Unit(benchmark::kNanosecond);
}

} // namespace handlepool_bench
