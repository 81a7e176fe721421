// SPDX-License-Identifier: MIT
#pragma once

#include "../contender.hpp"

#include <handlepool/pool.hpp>

#include <bench/tools/capacity.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

/// What the pools have in common; `Pool` is pool or stable_pool.
template <class Pool>
class pool_contender {
public:
    using handle_type = typename Pool::handle_type;
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = any_number;
    static constexpr bool checks_handles = true;

    pool_contender(std::size_t alive, unsigned /*threads*/)
        : pool_({.name = "bench", .capacity = capacity_for(alive)}) {}

    handle_type create(unsigned /*thread*/, std::uint64_t seed) { return pool_.emplace(seed); }
    bool erase(unsigned /*thread*/, handle_type handle) noexcept { return pool_.erase(handle); }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        const object* const found = pool_.find(handle);
        if (found == nullptr) {
            return false;
        }
        visit(*found);
        return true;
    }

    void end_frame() { pool_.compact(); }
    std::size_t size() { return pool_.size(); }

protected:
    Pool& pool() noexcept { return pool_; }

private:
    Pool pool_;
};

/// One thread compacts.
class pool : public pool_contender<handlepool::pool<object>> {
public:
    static constexpr const char* name = "handlepool::pool";

    using pool_contender::pool_contender;

    template <class Visit>
    void for_each(Visit&& visit) {
        for (const object& each : pool_contender::pool().items()) {
            visit(each);
        }
    }
};

} // namespace handlepool_bench::peers
