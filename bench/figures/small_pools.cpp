// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool_bench {

namespace {

constexpr std::size_t small = 100; // objects

handlepool::pool_options options_of_small() {
    return {.name = "small", .capacity = small};
}

/// KiB of memory that the process occupies, page tables included.
double occupied() {
    std::ifstream status("/proc/self/status");
    double sum = 0;
    int found = 0;
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:") || line.starts_with("VmPTE:")) {
            sum += std::stod(line.substr(6));
            ++found;
        }
    }
    if (found != 2) {
        throw std::runtime_error("/proc/self/status has no VmRSS and VmPTE");
    }
    return sum;
}

/// KiB a pool beside its objects, of 1,000 pools that were filled and compacted once.
template <class Pool>
double memory_of_each() {
    constexpr std::size_t count = 1000;
    std::vector<std::unique_ptr<Pool>> pools(count);
    Pool(options_of_small()).emplace(1U); // what the process needs once
    const double before = occupied();
    for (auto& each : pools) {
        each = std::make_unique<Pool>(options_of_small());
    }
    for (auto& each : pools) {
        for (std::size_t i = 0; i != small; ++i) {
            each->emplace(i);
        }
        each->compact();
    }
    return (occupied() - before) / count - static_cast<double>(small * sizeof(object)) / 1024;
}

struct lifetime {
    double construction; // microseconds
    double destruction;
};

/// Of one pool after the other.
template <class Pool>
lifetime one_life() {
    using clock = std::chrono::steady_clock;
    constexpr int count = 200;
    std::chrono::duration<double, std::micro> constructing{};
    std::chrono::duration<double, std::micro> destroying{};
    for (int i = 0; i != count; ++i) {
        std::optional<Pool> pool;
        const auto start = clock::now();
        pool.emplace(options_of_small());
        const auto made = clock::now();
        pool.reset();
        destroying += clock::now() - made;
        constructing += made - start;
    }
    return {constructing.count() / count, destroying.count() / count};
}

template <class Pool>
void measure_memory(benchmark::State& state, table& results, bool judged) {
    double beside = 0;
    for ([[maybe_unused]] const auto round : state) {
        // Once: what the allocator keeps of the last round would not be seen in the next.
        if (beside == 0) {
            beside = memory_of_each<Pool>();
        }
        state.SetIterationTime(0);
    }
    state.counters["KiB"] = beside;
    if (judged) {
        results.record(figure::small_pool_memory, beside);
    } else {
        results.remark(
            fmt::format("1,000 stable pools of 100 objects: {:.1f} KiB a pool beside the objects, page "
                        "tables included",
                        beside));
    }
}

template <class Pool>
void measure_lifetime(benchmark::State& state, table& results, bool judged) {
    std::vector<double> construction;
    std::vector<double> destruction;
    one_life<Pool>();
    for ([[maybe_unused]] const auto round : state) {
        const lifetime found = one_life<Pool>();
        construction.push_back(found.construction);
        destruction.push_back(found.destruction);
        state.SetIterationTime((found.construction + found.destruction) * 1e-6);
    }
    const quartiles made(construction);
    const quartiles destroyed(destruction);
    if (judged) {
        results.record(figure::small_pool_construction, made.median, made.spread());
        results.record(figure::small_pool_destruction, destroyed.median, destroyed.spread());
    } else {
        results.remark(
            fmt::format("a stable pool with a capacity of 100: {:.1f} µs to construct, {:.1f} µs to "
                        "destroy",
                        made.median, destroyed.median));
    }
}

} // namespace

void register_small_pools(table& results, std::size_t rounds) {
    const auto add = [rounds](const std::string& name, auto body) {
        benchmark::RegisterBenchmark(name.c_str(), body)
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds))
            ->Unit(benchmark::kMicrosecond);
    };
    using pool = handlepool::pool<object>;
    using stable_pool = handlepool::stable_pool<object>;
    // The memory first: it is measured from what the process has at that time.
    add("small pools: memory", [&results](auto& state) { measure_memory<pool>(state, results, true); });
    add("small stable pools: memory",
        [&results](auto& state) { measure_memory<stable_pool>(state, results, false); });
    add("small pools: lifetime", [&results](auto& state) { measure_lifetime<pool>(state, results, true); });
    add("small stable pools: lifetime",
        [&results](auto& state) { measure_lifetime<stable_pool>(state, results, false); });
}

} // namespace handlepool_bench
