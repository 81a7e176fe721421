// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>

#include <bench/tools/object.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace handlepool_bench {

/// A pool of which each frame changes some objects, at random; or a copy of it in another process.
class told_world {
public:
    explicit told_world(std::size_t alive) : pool_({.name = "told", .capacity = 2 * alive, .pool_id = 701}) {
        world_.add("told", pool_);
        changes_.add("told", log_);
        copy_.add("told", pool_);
    }

    std::vector<std::byte> begin(std::size_t alive) {
        for (std::size_t i = 0; i != alive; ++i) {
            handles_.push_back(pool_.emplace(1U));
        }
        std::vector<std::byte> snapshot;
        world_.save(snapshot);
        changes_.begin(0);
        return snapshot;
    }
    void change(std::size_t count) {
        chosen_.clear();
        std::sample(handles_.begin(), handles_.end(), std::back_inserter(chosen_), count, random_);
        for (const auto each : chosen_) {
            ++log_.edit(each)->words[0];
        }
    }
    void record(std::uint64_t frame, std::vector<std::byte>& delta) { changes_.append(frame, delta); }

    handlepool::replica& copy() { return copy_; }

private:
    handlepool::pool<object> pool_;
    handlepool::change_log<handlepool::pool<object>> log_{pool_};
    handlepool::snapshot world_;
    handlepool::delta_recorder changes_;
    handlepool::replica copy_;
    std::vector<handlepool::handle<object>> handles_;
    std::vector<handlepool::handle<object>> chosen_;
    std::mt19937_64 random_{1};
};

} // namespace handlepool_bench
