// SPDX-License-Identifier: MIT

// What it costs to write a pool down, and to take it up again; and to follow it elsewhere.

#include <handlepool/detail/followers/delta_queue.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>

#include <bench/tools/capacity.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>
#include <support/programs/run_program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
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

/// What an origin has told, whose pool is no more: its id is free for that of a replica.
struct told_frames {
    static constexpr std::size_t alive = 100'000;
    static constexpr std::size_t changed = alive / 100;

    static handlepool::pool_options options() {
        return {.name = "bench", .capacity = capacity_for(alive), .pool_id = 700};
    }

    /// Each frame edits other objects, at random.
    explicit told_frames(std::size_t frames) {
        using objects = handlepool::pool<object>;
        objects origin(options());
        handlepool::change_log<objects> log(origin);
        std::vector<objects::handle_type> handles;
        for (std::size_t i = 0; i != alive; ++i) {
            handles.push_back(origin.emplace(1U));
        }
        std::mt19937_64 random(1);
        std::shuffle(handles.begin(), handles.end(), random);
        handlepool::snapshot all;
        handlepool::delta_recorder recorder;
        handlepool::detail::delta_queue queue;
        all.add("bench", origin);
        recorder.add("bench", log);
        all.save(snapshot);
        recorder.begin(0);
        for (std::uint64_t frame = 1; frame <= frames; ++frame) {
            std::vector<objects::handle_type> edited;
            std::sample(handles.begin(), handles.end(), std::back_inserter(edited), changed, random);
            for (const auto each : edited) {
                ++log.edit(each)->words[frame % 8];
            }
            std::vector<std::byte> delta;
            nanoseconds.push_back(nanoseconds_of([&] {
                recorder.append(frame, delta);
                queue.push(handlepool::detail::read_published_delta(delta));
            }));
            deltas.push_back(std::move(delta));
            queue.pop();
        }
    }

    std::vector<std::byte> snapshot;
    std::vector<std::vector<std::byte>> deltas;
    std::vector<double> nanoseconds; // to record each, and to hand it to a thread that publishes
};

void apply_deltas(benchmark::State& state, table& results) {
    const told_frames told(static_cast<std::size_t>(state.max_iterations) + 1);
    results.record(figure::deltas_bytes, static_cast<double>(told.deltas.front().size()) /
                                             static_cast<double>(told_frames::changed * sizeof(object)));
    handlepool::pool<object> pool(told_frames::options());
    handlepool::replica follower;
    follower.add("bench", pool);
    follower.load(told.snapshot, 0);
    auto next = told.deltas.begin();
    follower.apply(*next++); // to warm up
    std::vector<double> times;
    for ([[maybe_unused]] const auto round : state) {
        times.push_back(nanoseconds_of([&] { follower.apply(*next++); }) /
                        static_cast<double>(told_frames::changed));
        state.SetIterationTime(times.back() * 1e-9);
    }
    const quartiles found(times);
    results.record(figure::deltas_apply, found.median, found.spread());
}

/// Per cent of a frame of the example with as many entities.
void record_deltas(benchmark::State& state, table& results) {
    std::vector<double> shares;
    for ([[maybe_unused]] const auto round : state) {
        const quartiles recorded(told_frames(50).nanoseconds);
        const auto example = handlepool::support::run_program(
            {HANDLEPOOL_ASTEROIDS, "--entities", "100000", "--frames", "100", "--threads", "2", "--json"});
        if (example.status != 0) {
            throw std::runtime_error("asteroids failed: " + example.errors);
        }
        const auto frame = nlohmann::json::parse(example.output).at("frame_milliseconds").at("median");
        shares.push_back(100 * recorded.median / (frame.get<double>() * 1e6));
        state.SetIterationTime(recorded.median * 1e-9);
    }
    const quartiles found(shares);
    results.record(figure::deltas_record, found.median, found.spread());
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
    register_with(std::min<std::size_t>(rounds, 9))( // each runs the example
        "deltas record/100000", [&results](auto& state) { record_deltas(state, results); });
    add("deltas apply/100000", [&results](auto& state) { apply_deltas(state, results); });
}

} // namespace handlepool_bench
