// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>

namespace handlepool_bench {

/// Returns a function that registers a benchmark of so many rounds, which says itself how long each took.
inline auto register_with(std::size_t rounds) {
    return [rounds](const std::string& name, auto body) {
        benchmark::RegisterBenchmark(name.c_str(), body)
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds))
            ->Unit(benchmark::kNanosecond);
    };
}

} // namespace handlepool_bench
