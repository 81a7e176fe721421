// SPDX-License-Identifier: MIT
#pragma once

#include "contender.hpp"
#include "thread_keys.hpp"

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

/// A sequential map of the standard library, by a key of its user: handles are keys, each used once.
template <class Map>
class keyed {
public:
    using handle_type = std::uint64_t;
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = 1;
    static constexpr bool checks_handles = true;

    handle_type create(unsigned thread, std::uint64_t seed) {
        const std::uint64_t key = keys_.next(thread);
        map_.emplace(key, seed);
        return key;
    }
    bool erase(unsigned /*thread*/, handle_type handle) noexcept { return map_.erase(handle) != 0; }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        const auto found = map_.find(handle);
        if (found == map_.end()) {
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

protected:
    explicit keyed(unsigned threads) : keys_(threads) {}

    Map& container() noexcept { return map_; }

private:
    Map map_;
    thread_keys keys_;
};

} // namespace handlepool_bench::peers
