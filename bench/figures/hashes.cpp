// SPDX-License-Identifier: MIT

// What a frame pays for a number that tells whether another machine has the same world.

#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/world_hash.hpp>
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
#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <vector>

namespace handlepool_bench {

namespace {

/// A pool of which each frame edits other objects, at random.
class hashed_pool {
    using objects = handlepool::pool<object>;

public:
    static constexpr std::size_t alive = 100'000;

    hashed_pool() {
        for (std::size_t i = 0; i != alive; ++i) {
            handles_.push_back(pool_.emplace(1U));
        }
        std::shuffle(handles_.begin(), handles_.end(), random_);
        pool_.compact();
        hash_.add("bench", log_);
        hash_.update();
    }

    double update() {
        std::vector<objects::handle_type> edited;
        std::sample(handles_.begin(), handles_.end(), std::back_inserter(edited), alive / 100, random_);
        for (const auto each : edited) {
            ++log_.edit(each)->words[0];
        }
        pool_.compact();
        return nanoseconds_of([this] { benchmark::DoNotOptimize(hash_.update()); });
    }
    /// Each of them, as one does who is not told what has changed.
    double hash_all() {
        return nanoseconds_of([this] {
            std::uint64_t sum = 0;
            for (const object& each : pool_.items()) {
                sum += handlepool::detail::content_hash_of(std::as_bytes(std::span(&each, 1)));
            }
            benchmark::DoNotOptimize(sum);
        });
    }

private:
    objects pool_{{.name = "bench", .capacity = capacity_for(alive)}};
    handlepool::change_log<objects> log_{pool_, {.check_marks = false}};
    handlepool::world_hash hash_;
    std::vector<objects::handle_type> handles_;
    std::mt19937_64 random_{1};
};

} // namespace

void register_hashes(table& results, std::size_t rounds) {
    register_with(rounds)("hashes of 1 % changed/100000", [&results](auto& state) {
        hashed_pool pool;
        const comparison outcome =
            compare(state, [&] { return pool.update(); }, [&] { return pool.hash_all(); });
        results.record(figure::hashes_changed, outcome.ratio.median, outcome.ratio.spread());
    });
}

} // namespace handlepool_bench
