// SPDX-License-Identifier: MIT

// What it costs to record who has created and erased an object, and from where.

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/time/change_log.hpp>

#include <bench/tools/capacity.hpp>
#include <bench/tools/comparison.hpp>
#include <bench/tools/object.hpp>
#include <bench/tools/registration.hpp>
#include <bench/tools/suite.hpp>
#include <bench/tools/table.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace handlepool_bench {

namespace {

constexpr std::size_t alive = 100'000;

/// Calls `work()` below so many functions, each with a frame of its own.
[[gnu::noinline]] double below(int functions, auto& work) {
    const double result = functions == 0 ? work() : below(functions - 1, work);
    benchmark::ClobberMemory(); // so that this is no jump
    return result;
}

enum class order { random, of_creation };

/// A tenth of the objects of a pool is replaced in each frame.
class recorded_churn {
    using objects = handlepool::pool<object>;

public:
    recorded_churn(std::size_t lives, std::size_t stack, order ends = order::random)
        : pool_({.name = "bench",
                 .capacity = capacity_for(alive),
                 .record_lives = lives,
                 .record_stack = stack}) {
        for (std::size_t i = 0; i != alive; ++i) {
            handles_.push_back(pool_.emplace(i));
        }
        if (ends == order::random) {
            std::shuffle(handles_.begin(), handles_.end(), std::mt19937_64(1));
        }
        pool_.compact();
    }

    /// Nanoseconds of an erase and an emplace together, half of each: of an operation.
    double run() {
        double sum = 0;
        for (int frame = 0; frame != 10; ++frame) {
            auto work = [this] { return nanoseconds_of([this] { replace(); }); };
            sum += below(20, work);
            pool_.compact();
            next_ = (next_ + replaced) % alive;
        }
        return sum / (10 * 2 * replaced);
    }

    /// Bytes of address space of a slot, for whatever is recorded.
    double bytes_of_slot() const {
        const handlepool::pool_stats stats = pool_.stats();
        return static_cast<double>(stats.bytes_reserved) / static_cast<double>(stats.slot_limit);
    }

private:
    static constexpr std::size_t replaced = alive / 10;

    void replace() {
        for (std::size_t i = next_; i != next_ + replaced; ++i) {
            pool_.erase(handles_[i]);
            handles_[i] = pool_.emplace(i);
        }
    }

    objects pool_;
    std::vector<objects::handle_type> handles_;
    std::size_t next_ = 0;
};

/// The same, and each frame is written as a delta, which may tell of lives.
class told_churn {
    using objects = handlepool::pool<object>;

public:
    explicit told_churn(bool tells_of_lives)
        : pool_({.name = "bench", .capacity = capacity_for(alive), .record_lives = 1}) {
        changes_.add("bench", log_);
        if (tells_of_lives) {
            changes_.add_lives("lives", pool_);
        }
        for (std::size_t i = 0; i != alive; ++i) {
            handles_.push_back(pool_.emplace(i));
        }
        std::shuffle(handles_.begin(), handles_.end(), std::mt19937_64(1));
        changes_.begin(0);
    }

    /// Nanoseconds of the frame's end for each object that ended, with one that began.
    double run() {
        double sum = 0;
        for (int frame = 0; frame != 10; ++frame) {
            for (std::size_t i = next_; i != next_ + replaced; ++i) {
                pool_.erase(handles_[i]);
                handles_[i] = pool_.emplace(i);
            }
            delta_.clear();
            sum += nanoseconds_of([this] { changes_.append(*changes_.frame() + 1, delta_); });
            next_ = (next_ + replaced) % alive;
        }
        return sum / (10 * replaced);
    }

private:
    static constexpr std::size_t replaced = alive / 10;

    objects pool_;
    handlepool::change_log<objects> log_{pool_};
    handlepool::delta_recorder changes_;
    std::vector<objects::handle_type> handles_;
    std::vector<std::byte> delta_;
    std::size_t next_ = 0;
};

/// What the first one's run() takes beyond that of the second.
void measure_more(benchmark::State& state, table& results, figure row, auto& first, auto& second) {
    std::vector<double> more;
    const comparison outcome = compare(
        state,
        [&] {
            more.push_back(first.run());
            return more.back();
        },
        [&] {
            const double without = second.run();
            more.back() -= without;
            return without;
        });
    more.erase(more.begin()); // the warm-up
    const quartiles difference(more);
    results.record(row, difference.median, difference.spread());
    state.counters["without"] = outcome.theirs;
}

} // namespace

void register_recorder(table& results, std::size_t rounds) {
    const auto add = [&results](auto& state, figure row, std::size_t stack, order ends = order::random) {
        recorded_churn recorded(1, stack, ends);
        recorded_churn silent(0, 0, ends);
        measure_more(state, results, row, recorded, silent);
    };
    register_with(rounds)("recorder of sites/100000",
                          [add](auto& state) { add(state, figure::recorder_sites, 0); });
    register_with(rounds)("recorder of sites in order/100000", [add](auto& state) {
        add(state, figure::recorder_sites_in_order, 0, order::of_creation);
    });
    register_with(rounds)("recorder of stacks/100000",
                          [add](auto& state) { add(state, figure::recorder_stacks, 15); });
    register_with(rounds)("recorder of lives in deltas/100000", [&results](auto& state) {
        told_churn told(true);
        told_churn silent(false);
        measure_more(state, results, figure::recorder_told, told, silent);
    });
    register_with(1)("recorder, memory", [&results](auto& state) {
        for ([[maybe_unused]] const auto round : state) {
            const double one = recorded_churn(1, 0).bytes_of_slot();
            const double two = recorded_churn(2, 0).bytes_of_slot();
            results.record(figure::recorder_memory, two - one, 0);
            state.SetIterationTime(1e-9);
        }
    });
}

} // namespace handlepool_bench
