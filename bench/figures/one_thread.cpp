// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/contenders.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace handlepool_bench {

namespace {

// Frames and passes of a round: enough for some milliseconds.
std::size_t frames_of(std::size_t alive) {
    return 1'000'000 / alive;
}
std::size_t passes_of(std::size_t alive) {
    return 1'000'000 / alive;
}

void churn(benchmark::State& state, table& results, figure place, std::size_t alive) {
    population<our_pool> pool(alive);
    population<bare_array> array(alive);
    const std::size_t frames = frames_of(alive);
    frame_times last;
    const comparison outcome = compare(
        state, [&] { return (last = pool.frames(frames)).total(); },
        [&] { return array.frames(frames).total(); });
    state.counters["create"] = last.create;
    state.counters["erase"] = last.erase;
    state.counters["compact"] = last.compact;
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

void find(benchmark::State& state, table& results, figure place, std::size_t alive) {
    population<our_pool> pool(alive);
    population<bare_array> array(alive);
    const std::size_t passes = passes_of(alive);
    const comparison outcome =
        compare(state, [&] { return pool.finds(passes); }, [&] { return array.finds(passes); });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

/// `count` objects at once against a loop, in a pool that had as many before.
void bulk(benchmark::State& state, table& results, figure place, std::size_t count) {
    using pool_type = handlepool::pool<object>;
    pool_type together({.name = "together", .capacity = count});
    pool_type one_by_one({.name = "one by one", .capacity = count});
    std::vector<handlepool::handle<object>> handles;
    const std::size_t rounds = 1'000'000 / count;
    const auto time = [&](pool_type& pool, auto&& create) {
        std::chrono::duration<double, std::nano> spent{};
        for (std::size_t round = 0; round != rounds; ++round) {
            handles.clear();
            const auto start = std::chrono::steady_clock::now();
            create(pool);
            spent += std::chrono::steady_clock::now() - start;
            pool.erase(handles);
            pool.compact();
        }
        return spent.count() / static_cast<double>(rounds * count);
    };
    handles.reserve(count);
    const comparison outcome = compare(
        state,
        [&] {
            return time(together, [&](pool_type& pool) {
                pool.emplace_n(count, std::back_inserter(handles), std::uint64_t{7});
            });
        },
        [&] {
            return time(one_by_one, [&](pool_type& pool) {
                for (std::size_t i = 0; i != count; ++i) {
                    handles.push_back(pool.emplace(std::uint64_t{7}));
                }
            });
        });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

/// Nanoseconds an object for `work()`, which concerns so many.
template <class Work>
double time_of(std::size_t objects, Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(objects);
}

/// Made, filled and compacted once; its end is not measured. The vectors of the packed array fill their
/// memory before that.
void fresh_pool(benchmark::State& state, table& results, std::size_t count) {
    const auto fill = [count](auto& container) {
        for (std::size_t i = 0; i != count; ++i) {
            container.emplace(i);
        }
        container.end_frame();
        benchmark::ClobberMemory(); // or what is written and never read would be left out
    };
    const comparison outcome = compare(
        state,
        [&] {
            std::optional<our_pool> pool;
            return time_of(count, [&] { fill(pool.emplace(count)); });
        },
        [&] {
            std::optional<bare_array> array;
            malloc_trim(0); // or it might get pages that another has had
            return time_of(count, [&] { fill(array.emplace(count)); });
        });
    results.record(figure::fresh_pool, outcome.ratio.median, outcome.ratio.spread());
}

void clearing(benchmark::State& state, table& results, std::size_t count) {
    using pool_type = handlepool::pool<object>;
    pool_type pool({.name = "cleared", .capacity = count});
    packed_array<object> array(count + 1024);
    const comparison outcome = compare(
        state,
        [&] {
            for (std::size_t i = 0; i != count; ++i) {
                pool.emplace(i);
            }
            pool.compact();
            return time_of(count, [&] {
                pool.clear();
                pool.compact();
            });
        },
        [&] {
            for (std::size_t i = 0; i != count; ++i) {
                array.emplace(i);
            }
            return time_of(count, [&] { array.clear(); });
        });
    results.record(figure::clearing, outcome.ratio.median, outcome.ratio.spread());
}

/// Nanoseconds an object.
[[gnu::noinline]] double iterate(std::span<const object> objects, std::size_t passes) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t pass = 0; pass != passes; ++pass) {
        std::uint64_t sum = 0;
        for (const object& each : objects) {
            sum += each.words[0];
        }
        benchmark::DoNotOptimize(sum);
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(passes * objects.size());
}

void iteration(benchmark::State& state, table& results, std::size_t alive) {
    population<our_pool> pool(alive);
    const std::span<const object> items = pool.contender().pool().items();
    const std::vector<object> vector(items.begin(), items.end());
    const std::size_t passes = 5 * passes_of(alive);
    const comparison outcome =
        compare(state, [&] { return iterate(items, passes); }, [&] { return iterate(vector, passes); });
    results.record(figure::iteration, outcome.ratio.median, outcome.ratio.spread());
}

void memory(benchmark::State& state, table& results, std::size_t alive) {
    population<our_pool> pool(alive);
    for ([[maybe_unused]] const auto round : state) {
        pool.frames(1);
        state.SetIterationTime(0);
    }
    const auto stats = pool.contender().pool().stats();
    const auto objects = static_cast<double>(stats.alive);
    const double beside =
        static_cast<double>(stats.bytes_resident - stats.bytes_resident_in_objects) / objects;
    const double unused = static_cast<double>(stats.bytes_resident_in_objects) / objects - sizeof(object);
    state.counters["beside"] = beside;
    results.record(figure::memory, beside);
    results.remark(
        fmt::format("{} alive: {:.1f} bytes an object beside the objects, and {:.1f} bytes of the objects' "
                    "memory hold none (nursery)",
                    alive, beside, unused));
}

/// Of a pool that gets all its objects in one frame, the nursery's memory included.
void memory_loaded(benchmark::State& state, table& results, std::size_t alive) {
    double beside = 0;
    for ([[maybe_unused]] const auto round : state) {
        our_pool loaded(alive);
        for (std::size_t i = 0; i != alive; ++i) {
            loaded.emplace(i);
        }
        loaded.end_frame();
        loaded.end_frame();
        const auto stats = loaded.pool().stats();
        beside = (static_cast<double>(stats.bytes_resident) - static_cast<double>(alive * sizeof(object))) /
                 static_cast<double>(alive);
        state.SetIterationTime(0);
    }
    state.counters["beside"] = beside;
    results.record(figure::memory_loaded, beside);
}

void idle_compaction(benchmark::State& state, table& results) {
    population<our_pool> pool(1'000'000);
    constexpr int calls = 1000;
    std::vector<double> times;
    for ([[maybe_unused]] const auto round : state) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i != calls; ++i) {
            pool.contender().end_frame();
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        times.push_back(spent.count() / calls);
        state.SetIterationTime(times.back());
    }
    const quartiles found(times);
    results.record(figure::idle_compaction, found.median * 1e6, found.spread());
}

} // namespace

void register_one_thread(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    struct size {
        std::size_t alive;
        figure churn;
        figure find;
    };
    add("churn/1000", [&results](auto& state) { churn(state, results, figure::churn_1k, 1000); });
    for (const size& each : {size{10'000, figure::churn_10k, figure::find_10k},
                             size{100'000, figure::churn_100k, figure::find_100k},
                             size{1'000'000, figure::churn_1m, figure::find_1m}}) {
        const std::string alive = fmt::format("/{}", each.alive);
        add("churn" + alive,
            [&results, each](auto& state) { churn(state, results, each.churn, each.alive); });
        add("find" + alive, [&results, each](auto& state) { find(state, results, each.find, each.alive); });
        if (each.alive < 100'000) {
            continue;
        }
        add("iteration" + alive, [&results, each](auto& state) { iteration(state, results, each.alive); });
        add("memory" + alive, [&results, each](auto& state) { memory(state, results, each.alive); });
    }
    add("memory loaded/1000000", [&results](auto& state) { memory_loaded(state, results, 1'000'000); });
    add("bulk/1000", [&results](auto& state) { bulk(state, results, figure::bulk_1k, 1000); });
    add("bulk/100000", [&results](auto& state) { bulk(state, results, figure::bulk_100k, 100'000); });
    add("fresh pool/100000", [&results](auto& state) { fresh_pool(state, results, 100'000); });
    add("clear/100000", [&results](auto& state) { clearing(state, results, 100'000); });
    add("idle compaction", [&results](auto& state) { idle_compaction(state, results); });
}

} // namespace handlepool_bench
