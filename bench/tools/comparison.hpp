// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace handlepool_bench {

/// Where a quarter, a half and three quarters of the values are below.
struct quartiles {
    explicit quartiles(std::vector<double> values) {
        std::ranges::sort(values);
        const auto at = [&](std::size_t quarter) { return values[(values.size() - 1) * quarter / 4]; };
        lower = at(1);
        median = at(2);
        upper = at(3);
    }

    /// Half of the values lie within so much, as a part of the median.
    double spread() const { return (upper - lower) / median; }

    double lower;
    double median;
    double upper;
};

/// Nanoseconds that `work()` takes.
double nanoseconds_of(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    benchmark::ClobberMemory();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// Outcome of a comparison: median nanoseconds of each contender, and the rounds' ratios.
struct comparison {
    double ours;
    double theirs;
    quartiles ratio; // ours to theirs
};

/// Lets two contenders alternate, round by round, after a warm-up round of each: what the machine does
/// meanwhile hits both. Each round returns its nanoseconds an operation.
template <class Ours, class Theirs>
comparison compare(benchmark::State& state, Ours&& ours, Theirs&& theirs) {
    ours();
    theirs();
    std::vector<double> our_times;
    std::vector<double> their_times;
    std::vector<double> ratios;
    for ([[maybe_unused]] const auto round : state) {
        our_times.push_back(ours());
        their_times.push_back(theirs());
        ratios.push_back(our_times.back() / their_times.back());
        state.SetIterationTime(our_times.back() * 1e-9);
    }
    const comparison outcome{quartiles(our_times).median, quartiles(their_times).median, quartiles(ratios)};
    state.counters["theirs_ns"] = outcome.theirs;
    state.counters["ratio"] = outcome.ratio.median;
    state.counters["from"] = outcome.ratio.lower;
    state.counters["to"] = outcome.ratio.upper;
    return outcome;
}

} // namespace handlepool_bench
