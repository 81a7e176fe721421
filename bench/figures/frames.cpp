// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/tbb.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/suite.hpp>
#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>
#include <support/programs/run_program.hpp>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool_bench {

namespace {

using pool = handlepool::pool<object>;
using handle = pool::handle_type;

/// A pool some of whose objects are replaced at random before each compaction, by as many threads as there
/// are, as the tasks of a frame do it.
class replaced_pool {
public:
    replaced_pool(std::size_t alive, std::size_t replaced, int threads)
        : pool_({.name = "bench", .capacity = alive + replaced}),
          handles_(alive),
          replaced_(replaced),
          arena_(threads) {
        for (std::size_t i = 0; i != alive; ++i) {
            handles_[i] = pool_.emplace(i);
        }
        pool_.compact();
        for (int i = 0; i != 5; ++i) {
            compact(handlepool::inline_executor());
        }
    }

    /// Nanoseconds of the compaction alone.
    double compact(auto&& executor) {
        for (std::size_t i = 0; i != replaced_; ++i) {
            std::swap(handles_[i], handles_[i + random_() % (handles_.size() - i)]);
        }
        arena_.execute([&] {
            // Each thread of the arena its share.
            const auto threads = static_cast<std::size_t>(arena_.max_concurrency());
            tbb::parallel_for(
                std::size_t{0}, threads,
                [&](std::size_t thread) {
                    for (std::size_t i = replaced_ * thread / threads;
                         i != replaced_ * (thread + 1) / threads; ++i) {
                        pool_.erase(handles_[i]);
                        handles_[i] = pool_.emplace(i);
                    }
                },
                tbb::static_partitioner());
        });
        return nanoseconds_of([&] { arena_.execute([&] { pool_.compact(executor); }); });
    }

private:
    pool pool_;
    std::vector<handle> handles_;
    std::size_t replaced_;
    std::mt19937_64 random_{20240229};
    tbb::task_arena arena_;
};

/// Two pools that went through the same, one compacted by two threads, the other by one.
double parallel_compaction(benchmark::State& state) {
    constexpr std::size_t count = 200'000;
    replaced_pool one(2 * count, count, 2);
    replaced_pool other(2 * count, count, 2);
    const auto outcome = compare(
        state, [&] { return one.compact(handlepool::tbb_executor()); },
        [&] { return other.compact(handlepool::inline_executor()); });
    return outcome.theirs / outcome.ours;
}

comparison small_compaction(benchmark::State& state) {
    replaced_pool one(100'000, 500, 1);
    replaced_pool other(100'000, 500, 1);
    const auto some = [](replaced_pool& of, auto executor) {
        double sum = 0;
        for (int i = 0; i != 20; ++i) {
            sum += of.compact(executor);
        }
        return sum / 20;
    };
    return compare(
        state, [&] { return some(one, handlepool::tbb_executor()); },
        [&] { return some(other, handlepool::inline_executor()); });
}

/// A compaction of 10,000 removals, of 1,000,000 that wait, against one of all that wait, 10,000.
comparison budgeted_compaction(benchmark::State& state) {
    constexpr std::size_t alive = 1'000'000;
    constexpr std::size_t some = 10'000;
    pool full({.name = "bench", .capacity = alive, .removal_queue_size = alive});
    pool short_of_it({.name = "bench", .capacity = alive + some});
    std::vector<handle> handles;
    std::mt19937_64 random(1);
    const auto fill = [&](pool& one) {
        handles.clear();
        one.emplace_n(alive, std::back_inserter(handles), std::uint64_t{7});
        one.compact();
        std::shuffle(handles.begin(), handles.end(), random);
    };
    fill(short_of_it);
    const std::vector<handle> alive_there = handles;
    std::size_t next = 0;
    return compare(
        state,
        [&] {
            if (full.idle()) {
                fill(full);
                full.erase(handles);
            }
            return nanoseconds_of([&] { full.compact_some(some); });
        },
        [&] {
            for (std::size_t i = 0; i != some; ++i, next = (next + 1) % alive) {
                short_of_it.erase(alive_there[next]);
            }
            return nanoseconds_of([&] { short_of_it.compact(); });
        });
}

void touch(object& one) {
    for (std::uint64_t& word : one.words) {
        word = word * 3 + 1;
    }
}

comparison parallel_for_each(benchmark::State& state) {
    constexpr std::size_t count = 1'000'000;
    constexpr int passes = 4;
    pool ours({.name = "bench", .capacity = count});
    std::vector<object> theirs;
    theirs.reserve(count);
    for (std::size_t i = 0; i != count; ++i) {
        ours.emplace(i);
        theirs.emplace_back(i);
    }
    ours.compact();
    return compare(
        state,
        [&] {
            return nanoseconds_of([&] {
                for (int i = 0; i != passes; ++i) {
                    handlepool::for_each(ours, touch);
                }
            });
        },
        [&] {
            return nanoseconds_of([&] {
                for (int i = 0; i != passes; ++i) {
                    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count), [&](const auto& range) {
                        for (std::size_t at = range.begin(); at != range.end(); ++at) {
                            touch(theirs[at]);
                        }
                    });
                }
            });
        });
}

/// Nanoseconds that an erase takes longer when the service routes it.
std::pair<double, double> routed_erase(benchmark::State& state) {
    constexpr std::size_t count = 20'000;
    handlepool::service world;
    std::vector<pool*> pools;
    for (const char* const name : {"ships", "rocks", "shots", "sparks"}) {
        pools.push_back(&world.add<handlepool::pool<object>>(name, {.capacity = 2 * count}));
    }
    pool& ships = *pools[0];
    std::vector<handle> handles(count);
    const auto refill = [&] {
        world.compact();
        for (handle& each : handles) {
            each = ships.emplace(1U);
        }
        world.compact();
        std::ranges::shuffle(handles, std::mt19937_64{20240229});
    };
    const auto outcome = compare(
        state,
        [&] {
            refill();
            return nanoseconds_of([&] {
                       for (const handlepool::any_handle each : handles) {
                           benchmark::DoNotOptimize(world.erase(each));
                       }
                   }) /
                   count;
        },
        [&] {
            refill();
            return nanoseconds_of([&] {
                       for (const handle each : handles) {
                           benchmark::DoNotOptimize(ships.erase(each));
                       }
                   }) /
                   count;
        });
    return {outcome.ours - outcome.theirs, outcome.ratio.spread()};
}

/// Microseconds that the service's compaction takes when no pool has anything to do.
double idle_pools(benchmark::State& state) {
    constexpr std::size_t count = 1000;
    constexpr int frames = 20;
    handlepool::service world;
    for (std::size_t i = 0; i != count; ++i) {
        auto& one = world.add<handlepool::pool<object>>("pool " + std::to_string(i),
                                                        {.capacity = 100, .max_threads = 64});
        for (std::size_t j = 0; j != 10; ++j) {
            one.emplace(j);
        }
    }
    world.compact();
    std::vector<double> times;
    for ([[maybe_unused]] const auto round : state) {
        const double spent = nanoseconds_of([&] {
                                 for (int i = 0; i != frames; ++i) {
                                     world.compact();
                                 }
                             }) /
                             frames;
        times.push_back(spent / 1000);
        state.SetIterationTime(spent * 1e-9);
    }
    return quartiles(times).median;
}

/// Per cent of a frame of the example that goes to its pools: emplace, erase and compaction.
quartiles pool_shares(benchmark::State& state) {
    std::vector<double> shares;
    for ([[maybe_unused]] const auto round : state) {
        handlepool::support::run_result example;
        const double spent = nanoseconds_of([&] {
            example = handlepool::support::run_program({HANDLEPOOL_ASTEROIDS, "--entities", "100000",
                                                        "--frames", "200", "--threads", "2", "--json"});
        });
        if (example.status != 0) {
            throw std::runtime_error("asteroids failed: " + example.errors);
        }
        shares.push_back(100 * nlohmann::json::parse(example.output).at("pool_share").get<double>());
        state.SetIterationTime(spent * 1e-9);
    }
    return quartiles(shares);
}

} // namespace

void register_frames(table& results, std::size_t rounds) {
    const auto add = [&](figure place, auto body) {
        benchmark::RegisterBenchmark(
            results.name(place).c_str(),
            [&results, place, body](benchmark::State& state) { body(state, place, results); })
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds));
    };
    add(figure::parallel_compaction, [](benchmark::State& state, figure place, table& into) {
        into.record(place, parallel_compaction(state));
    });
    add(figure::small_compaction, [](benchmark::State& state, figure place, table& into) {
        const auto outcome = small_compaction(state);
        into.record(place, outcome.ratio.median, outcome.ratio.spread());
    });
    add(figure::budgeted_compaction, [](benchmark::State& state, figure place, table& into) {
        const comparison outcome = budgeted_compaction(state);
        into.record(place, outcome.ratio.median, outcome.ratio.spread());
    });
    add(figure::parallel_for_each, [](benchmark::State& state, figure place, table& into) {
        const auto outcome = parallel_for_each(state);
        into.record(place, outcome.ratio.median, outcome.ratio.spread());
    });
    add(figure::routed_erase, [](benchmark::State& state, figure place, table& into) {
        const auto [longer, spread] = routed_erase(state);
        into.record(place, longer, spread);
    });
    add(figure::idle_pools,
        [](benchmark::State& state, figure place, table& into) { into.record(place, idle_pools(state)); });
    rounds = std::min<std::size_t>(rounds, 9); // each is a run of the program
    add(figure::pool_share, [](benchmark::State& state, figure place, table& into) {
        const quartiles shares = pool_shares(state);
        into.record(place, shares.median, shares.spread());
    });
}

} // namespace handlepool_bench
