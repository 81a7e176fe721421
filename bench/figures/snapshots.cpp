// SPDX-License-Identifier: MIT

// What it costs to write a pool down, and to take it up again.

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>

#include <bench/tools/capacity.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace handlepool_bench {

namespace {

/// A pool, what was saved of it, and memory for another copy of its objects.
class saved_pool {
public:
    explicit saved_pool(std::size_t alive)
        : pool_({.name = "bench", .capacity = capacity_for(alive)}), copies_(alive) {
        for (std::size_t i = 0; i != alive; ++i) {
            pool_.emplace(1U);
        }
        all_.add("bench", pool_);
        save();
        copy();
    }

    void copy() {
        std::memcpy(copies_.data(), &*pool_.items().begin(), copies_.size() * sizeof(object));
        benchmark::DoNotOptimize(copies_.data());
    }
    void save() {
        bytes_.clear();
        all_.save(bytes_);
        benchmark::DoNotOptimize(bytes_.data());
    }
    /// What the frame pays for it; another thread hashes the bytes.
    void capture() {
        captured_ = all_.capture(std::move(bytes_));
        benchmark::DoNotOptimize(&captured_);
    }
    void finish() { bytes_ = std::move(captured_).bytes(); }
    void clear() {
        pool_.clear();
        pool_.compact();
    }
    void load() { all_.load(bytes_); }

private:
    handlepool::pool<object> pool_;
    handlepool::snapshot all_;
    std::vector<std::byte> bytes_;
    handlepool::captured_snapshot captured_;
    std::vector<object> copies_;
};

/// What `action(pool)` says that it takes, against a copy of the objects.
template <class Action>
void against_copy(benchmark::State& state, table& results, figure place, Action action) {
    saved_pool pool(1'000'000);
    const comparison outcome =
        compare(state, [&] { return action(pool); }, [&] { return nanoseconds_of([&] { pool.copy(); }); });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

} // namespace

void register_snapshots(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    add("snapshots save/1000000", [&results](auto& state) {
        against_copy(state, results, figure::snapshots_save,
                     [](saved_pool& pool) { return nanoseconds_of([&] { pool.save(); }); });
    });
    add("snapshots capture/1000000", [&results](auto& state) {
        against_copy(state, results, figure::snapshots_capture, [](saved_pool& pool) {
            const double paid = nanoseconds_of([&] { pool.capture(); });
            pool.finish();
            return paid;
        });
    });
    add("snapshots load/1000000", [&results](auto& state) {
        against_copy(state, results, figure::snapshots_load, [](saved_pool& pool) {
            pool.clear();
            return nanoseconds_of([&] { pool.load(); });
        });
    });
    add("snapshots load over/1000000", [&results](auto& state) {
        against_copy(state, results, figure::snapshots_load_over,
                     [](saved_pool& pool) { return nanoseconds_of([&] { pool.load(); }); });
    });
}

} // namespace handlepool_bench
