// SPDX-License-Identifier: MIT
#pragma once

#include "../contender.hpp"
#include "../thread_keys.hpp"

#include <bench/tools/capacity.hpp>
#include <tbb/concurrent_hash_map.h>

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

/// Handles are keys, each used once.
class tbb_hash_map {
public:
    using handle_type = std::uint64_t;
    static constexpr const char* name = "tbb::concurrent_hash_map";
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = any_number;
    static constexpr bool checks_handles = true;

    tbb_hash_map(std::size_t alive, unsigned threads) : map_(capacity_for(alive)), keys_(threads) {}

    handle_type create(unsigned thread, std::uint64_t seed) {
        const std::uint64_t key = keys_.next(thread);
        map_.emplace(key, seed);
        return key;
    }
    bool erase(unsigned /*thread*/, handle_type handle) { return map_.erase(handle); }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        map_type::const_accessor found; // a lock that readers share
        if (!map_.find(found, handle)) {
            return false;
        }
        visit(found->second);
        return true;
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        for (const auto& each : map_) {
            visit(each.second);
        }
    }

    void end_frame() {}
    std::size_t size() { return map_.size(); }

private:
    using map_type = tbb::concurrent_hash_map<std::uint64_t, unaligned_object>;

    map_type map_;
    thread_keys keys_;
};

} // namespace handlepool_bench::peers
