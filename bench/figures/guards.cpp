// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

/// What guards and compactions that wait for each other cost.
namespace handlepool_bench {

namespace {

using clock = std::chrono::steady_clock;

double nanoseconds_since(clock::time_point start) {
    return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

double at(std::vector<double>& values, double part) {
    const auto place = static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * part);
    std::nth_element(values.begin(), values.begin() + place, values.end());
    return values[static_cast<std::size_t>(place)];
}

/// Of guarded look-ups, while another thread compacts again and again: what 99.9 % of them take at most, in
/// durations of such a compaction (the median).
double guarded_find(benchmark::State& state) {
    constexpr std::size_t alive = 100'000;
    constexpr std::size_t replaced = 1000;
    handlepool::pool<object> pool({.name = "bench", .capacity = alive + replaced});
    std::vector<handlepool::handle<object>> handles;
    for (std::size_t i = 0; i != alive; ++i) {
        handles.push_back(pool.emplace(i));
    }
    pool.compact();
    std::vector<double> found;
    for ([[maybe_unused]] const auto round : state) {
        std::vector<double> compactions;
        std::vector<double> finds;
        std::atomic<bool> over = false;
        std::thread compacting([&] {
            for (std::size_t next = 0; !over;) {
                for (std::size_t i = 0; i != replaced; ++i, next = next + 1 == alive / 2 ? 0 : next + 1) {
                    pool.erase(handles[next]);
                    handles[next] = pool.emplace(next);
                }
                const auto start = clock::now();
                pool.compact();
                compactions.push_back(nanoseconds_since(start));
            }
        });
        const auto end = clock::now() + std::chrono::milliseconds(500);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; clock::now() < end; ++i) {
            const auto start = clock::now();
            {
                const auto guard = pool.access();
                sum += pool.find(handles[alive / 2 + i % (alive / 2)])->words[0];
            }
            finds.push_back(nanoseconds_since(start));
        }
        over = true;
        compacting.join();
        benchmark::DoNotOptimize(sum);
        found.push_back(at(finds, 0.999) / at(compactions, 0.5));
        state.SetIterationTime(at(finds, 0.999) * 1e-9);
    }
    return at(found, 0.5);
}

double cpu_milliseconds() {
    std::timespec now{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        throw std::runtime_error("the system does not say how much processor time a thread has used");
    }
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Processor time, in milliseconds, of a compaction that waits 400 ms for a guard.
double waiting_compaction(benchmark::State& state) {
    std::vector<double> used;
    for ([[maybe_unused]] const auto round : state) {
        handlepool::pool<object> pool({.name = "bench", .capacity = 10});
        std::optional guard(pool.access());
        double of_thread = 0;
        std::thread waiting([&] {
            const double before = cpu_milliseconds();
            pool.compact();
            of_thread = cpu_milliseconds() - before;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
        guard.reset();
        waiting.join();
        used.push_back(of_thread);
        state.SetIterationTime(of_thread * 1e-3);
    }
    return at(used, 0.5);
}

} // namespace

void register_guards(table& results, std::size_t rounds) {
    const auto add = [&results, rounds](figure place, auto measure) {
        benchmark::RegisterBenchmark(
            results.name(place).c_str(),
            [&results, place, measure](benchmark::State& state) { results.record(place, measure(state)); })
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(std::min<std::size_t>(rounds, 9)));
    };
    add(figure::guarded_find, guarded_find);
    add(figure::waiting_compaction, waiting_compaction);
}

} // namespace handlepool_bench
