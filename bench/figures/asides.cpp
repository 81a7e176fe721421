// SPDX-License-Identifier: MIT
#include <handlepool/boost_freelist.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/queues/removal_queue.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/policy.hpp>

#include <bench/tools/comparison.hpp>
#include <bench/tools/contenders.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/suite.hpp>
#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace handlepool_bench {

namespace {

using boost_pool = pool_over<handlepool::boost_freelist>;

constexpr std::size_t alive = 100'000;

template <class Other>
void churn_against(benchmark::State& state, unsigned threads) {
    population<our_pool> pool(alive, threads);
    population<Other> other(alive, threads);
    compare(state, [&] { return pool.frames(3).total(); }, [&] { return other.frames(3).total(); });
}

/// What a removal costs in the queue alone, put in and taken out.
constexpr std::size_t records = 10'000;

template <class Pass>
double queue_time(Pass pass) {
    constexpr int passes = 20;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i != passes; ++i) {
        pass();
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           (passes * static_cast<double>(records));
}

void removal_queues(benchmark::State& state) {
    using policy = handlepool::default_policy;
    handlepool::detail::removal_queue<handlepool::detail::pool_config<handlepool::default_layout, policy>>
        ours("bench", 2 * records / policy::removal_chunk, policy::removal_chunk, records);
    handlepool::detail::removal_chain<policy> shard;
    boost::lockfree::spsc_queue<std::uint64_t, boost::lockfree::capacity<records>> theirs;

    std::uint64_t sum = 0;
    const auto count = [&sum](std::uint64_t record) { sum += record; };
    const auto count_run = [&count](auto record, std::size_t length, std::size_t) {
        for (std::size_t i = 0; i != length; ++i) {
            count(record(i));
        }
    };
    compare(
        state,
        [&] {
            return queue_time([&] {
                for (std::uint64_t i = 0; i != records; ++i) {
                    ours.push(shard, i);
                }
                ours.look(shard);
                ours.drain(shard, count_run);
                ours.recycle();
            });
        },
        [&] {
            return queue_time([&] {
                for (std::uint64_t i = 0; i != records; ++i) {
                    theirs.push(i);
                }
                theirs.consume_all(count);
            });
        });
    benchmark::DoNotOptimize(sum);
}

} // namespace

void register_asides(std::size_t rounds) {
    const auto add = [rounds](const std::string& name, auto body) {
        benchmark::RegisterBenchmark(name.c_str(), body)
            ->UseManualTime()
            ->Iterations(static_cast<benchmark::IterationCount>(rounds));
    };
    add("removal queue against boost::lockfree::spsc_queue", removal_queues);
    for (const unsigned threads : {1U, 2U}) {
        const std::string with = ", threads: " + std::to_string(threads);
        add("churn against the pool over boost::lockfree::queue" + with,
            [threads](benchmark::State& state) { churn_against<boost_pool>(state, threads); });
        add("churn against packed array + mutex" + with,
            [threads](benchmark::State& state) { churn_against<locked<bare_array>>(state, threads); });
        add("churn against std::unordered_map + mutex" + with,
            [threads](benchmark::State& state) { churn_against<locked<hash_map>>(state, threads); });
    }
}

} // namespace handlepool_bench
