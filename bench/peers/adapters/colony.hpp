// SPDX-License-Identifier: MIT
#pragma once

#include "../contender.hpp"

#include <plf_colony.h>

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

/// Objects that never move; its iterators serve as handles, and are not checked.
class colony {
public:
    using handle_type = plf::colony<object>::iterator;
    static constexpr const char* name = "plf::colony";
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = 1;
    static constexpr bool checks_handles = false;

    colony(std::size_t alive, unsigned /*threads*/) { colony_.reserve(alive); }

    handle_type create(unsigned /*thread*/, std::uint64_t seed) { return colony_.emplace(seed); }
    bool erase(unsigned /*thread*/, handle_type handle) {
        colony_.erase(handle);
        return true;
    }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        visit(*handle);
        return true;
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        for (const object& each : colony_) {
            visit(each);
        }
    }

    void end_frame() {}
    std::size_t size() { return colony_.size(); }

private:
    plf::colony<object> colony_;
};

} // namespace handlepool_bench::peers
