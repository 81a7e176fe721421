// SPDX-License-Identifier: MIT

// What it costs to follow a pool: a mark, and a frame's record.

#include <handlepool/pool.hpp>
#include <handlepool/time/change_log.hpp>

#include <bench/tools/capacity.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/population.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool_bench {

namespace {

using objects = handlepool::pool<object>;

class unfollowed_pool {
public:
    using handle_type = objects::handle_type;

    explicit unfollowed_pool(std::size_t alive) : pool_({.name = "bench", .capacity = capacity_for(alive)}) {}

    handle_type emplace(std::uint64_t seed) { return pool_.emplace(seed); }
    bool erase(handle_type handle) noexcept { return pool_.erase(handle); }
    const object* find(handle_type handle) noexcept { return pool_.find(handle); }
    void end_frame() { pool_.compact(); }

protected:
    objects pool_;
};

class followed_pool : public unfollowed_pool {
public:
    using unfollowed_pool::unfollowed_pool;

    handlepool::change_log<objects>& log() noexcept { return log_; }

private:
    handlepool::change_log<objects> log_{pool_};
};

/// What a frame's record takes for each object that came or went.
void record(benchmark::State& state, table& results, std::size_t alive) {
    population<followed_pool> followed(alive);
    population<unfollowed_pool> other(alive);
    const std::size_t frames = std::max<std::size_t>(1, 1'000'000 / alive);
    std::vector<double> differences;
    for ([[maybe_unused]] const auto round : state) {
        const double ours = followed.frames(frames).total();
        differences.push_back((ours - other.frames(frames).total()) / 2);
        state.SetIterationTime(ours * 1e-9);
    }
    const quartiles found(differences);
    results.record(figure::changes_record, found.median, found.spread());
}

/// Marks of objects in the order of the store, as a loop makes them: the first of a frame, and another.
void mark(benchmark::State& state, table& results, figure place, bool again, std::size_t alive) {
    population<followed_pool> pool(alive);
    auto& log = pool.contender().log();
    const auto mark_all = [&] {
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i != alive; ++i) {
            log.mark_at(i);
        }
        return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
               static_cast<double>(alive);
    };
    std::vector<double> times;
    for ([[maybe_unused]] const auto round : state) {
        pool.contender().end_frame();
        times.push_back(mark_all());
        if (again) {
            times.back() = mark_all();
        }
        state.SetIterationTime(times.back() * 1e-9);
    }
    const quartiles found(times);
    results.record(place, found.median, found.spread());
}

} // namespace

void register_changes(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    add("changes mark/100000",
        [&results](auto& state) { mark(state, results, figure::changes_mark, false, 100'000); });
    add("changes mark again/100000",
        [&results](auto& state) { mark(state, results, figure::changes_mark_again, true, 100'000); });
    add("changes record/100000", [&results](auto& state) { record(state, results, 100'000); });
}

} // namespace handlepool_bench
