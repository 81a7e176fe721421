// SPDX-License-Identifier: MIT

// What it costs to keep the last frames of a pool, and to go back.

#include <handlepool/pool.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <bench/tools/capacity.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace handlepool_bench {

namespace {

constexpr std::size_t kept = 8;

double microseconds_of(auto&& work) {
    return nanoseconds_of(work) / 1000;
}

/// A pool whose frames are captured.
class captured_pool {
public:
    explicit captured_pool(std::size_t alive)
        : pool_({.name = "bench", .capacity = capacity_for(alive)}), handles_(alive) {
        for (auto& each : handles_) {
            each = pool_.emplace(1U);
        }
        for (std::size_t i = 0; i != kept + 2; ++i) { // the memory of all captures is there
            edit_all();
            capture();
        }
    }

    void edit_all() {
        for (std::size_t i = 0; i != handles_.size(); ++i) {
            log_.mark_at(i);
        }
    }
    void edit_some(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) {
            ++log_.edit(handles_[random_() % handles_.size()])->words[0];
        }
    }
    void capture() { ring_.capture(++frame_); }
    void go_back(std::uint64_t frames) {
        frame_ -= frames;
        benchmark::DoNotOptimize(ring_.restore(frame_));
    }
    const object* items() const { return &*pool_.items().begin(); }

private:
    handlepool::pool<object> pool_;
    handlepool::change_log<handlepool::pool<object>> log_{pool_, {.frames = 4, .check_marks = false}};
    handlepool::capture_ring<handlepool::pool<object>> ring_{log_, {.frames = kept + 1}};
    std::vector<handlepool::handle<object>> handles_;
    std::mt19937_64 random_{20260301};
    std::uint64_t frame_ = 0;
};

/// The last frames as whole copies of the objects, without anything else.
class whole_copies {
public:
    explicit whole_copies(std::size_t count) {
        for (auto& each : copies_) {
            each.resize(count);
        }
    }

    void copy(const object* objects) {
        std::vector<object>& next = copies_[next_++ % copies_.size()];
        std::memcpy(next.data(), objects, next.size() * sizeof(object));
        benchmark::DoNotOptimize(next.data());
    }

private:
    std::array<std::vector<object>, kept + 1> copies_;
    std::size_t next_ = 0;
};

/// A capture after `edit(pool)`, against a whole copy.
template <class Edit>
void capture(benchmark::State& state, table& results, figure place, std::size_t alive, Edit edit) {
    captured_pool pool(alive);
    whole_copies copies(alive);
    for (std::size_t i = 0; i != kept + 1; ++i) {
        copies.copy(pool.items());
    }
    const comparison outcome = compare(
        state,
        [&] {
            edit(pool);
            pool.capture(); // what the others left in the cache is gone
            edit(pool);
            return nanoseconds_of([&] { pool.capture(); });
        },
        [&] {
            copies.copy(pool.items());
            return nanoseconds_of([&] { copies.copy(pool.items()); });
        });
    results.record(place, outcome.ratio.median, outcome.ratio.spread());
}

/// Runs `action(pool)` in each round, which returns its microseconds.
template <class Action>
void time(benchmark::State& state, table& results, figure place, double unit, std::size_t alive,
          Action action) {
    captured_pool pool(alive);
    action(pool);
    std::vector<double> times;
    for ([[maybe_unused]] const auto round : state) {
        times.push_back(action(pool));
        state.SetIterationTime(times.back() * 1e-6);
    }
    const quartiles found(times);
    results.record(place, found.median * unit, found.spread());
}

double capture_nothing(captured_pool& pool) {
    for (std::size_t i = 0; i != kept + 2; ++i) { // no capture of changes is given up meanwhile
        pool.capture();
    }
    return microseconds_of([&] { pool.capture(); });
}

double restore(captured_pool& pool, std::size_t edits) {
    const auto play = [&] {
        double captures = 0;
        for (std::size_t i = 0; i != kept; ++i) {
            pool.edit_some(edits);
            captures += microseconds_of([&] { pool.capture(); });
        }
        return captures;
    };
    play();
    const double back = microseconds_of([&] { pool.go_back(kept); });
    return back + play();
}

} // namespace

void register_captures(table& results, std::size_t rounds) {
    const auto add = register_with(rounds);
    constexpr std::size_t alive = 100'000;
    add("captures all changed/100000", [&results](auto& state) {
        capture(state, results, figure::captures_all, alive, [](captured_pool& pool) { pool.edit_all(); });
    });
    add("captures 1 % changed/100000", [&results](auto& state) {
        capture(state, results, figure::captures_some, alive,
                [](captured_pool& pool) { pool.edit_some(alive / 100); });
    });
    add("captures nothing changed/100000",
        [&results](auto& state) { time(state, results, figure::captures_none, 1, alive, capture_nothing); });
    add("captures restore/100000", [&results](auto& state) {
        time(state, results, figure::captures_restore, 1e-3, alive,
             [](captured_pool& pool) { return restore(pool, alive / 100); });
    });
}

} // namespace handlepool_bench
