// SPDX-License-Identifier: MIT

// Frames whose outcome does not depend on threads, against ordinary ones.

#include <handlepool/pool.hpp>
#include <handlepool/spawner.hpp>

#include <bench/tools/capacity.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/contenders.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool_bench {

namespace {

constexpr std::size_t alive = 100'000;

/// A pool whose threads have a spawner each, made anew after each compaction.
template <std::size_t Spawners>
class spawned_pool {
    using pool_type = handlepool::pool<object>;

public:
    using handle_type = pool_type::handle_type;

    explicit spawned_pool(std::size_t objects)
        // Each spawner has room for what the first one makes alone at the beginning.
        : pool_({.name = "bench", .capacity = Spawners * capacity_for(objects), .spawners = Spawners}),
          spawners_(pool_.spawners(Spawners)) {}

    handle_type emplace(std::uint64_t seed) { return spawners_[0].emplace(seed); }
    auto& worker(unsigned thread) { return spawners_[thread]; }
    void end_frame() {
        spawners_.close();
        pool_.compact();
        spawners_ = pool_.spawners(Spawners);
    }

private:
    pool_type pool_;
    handlepool::spawner_set<object> spawners_;
};

/// `phase` runs frames and tells the nanoseconds of what is compared.
template <unsigned Threads, class Phase>
void against_a_pool(benchmark::State& state, table& results, figure place, Phase phase) {
    population<spawned_pool<Threads>> spawned(alive, Threads);
    population<our_pool> ordinary(alive, Threads);
    const comparison outcome =
        compare(state, [&] { return phase(spawned); }, [&] { return phase(ordinary); });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

} // namespace

void register_spawners(table& results, std::size_t rounds) {
    const auto create = [](auto& which) { return which.frames(10).create; };
    const auto frame = [](auto& which) { return which.frames(10).total(); };
    const auto add = register_with(rounds);
    add("spawners create/1 thread/100000", [&results, create](auto& state) {
        against_a_pool<1>(state, results, figure::spawners_create, create);
    });
    add("spawners create/2 threads/100000", [&results, create](auto& state) {
        against_a_pool<2>(state, results, figure::spawners_create_2_threads, create);
    });
    add("spawners frame/1 thread/100000",
        [&results, frame](auto& state) { against_a_pool<1>(state, results, figure::spawners_frame, frame); });
}

} // namespace handlepool_bench
