// SPDX-License-Identifier: MIT
#pragma once

#include "../contender.hpp"

#include <bench/tools/packed_array.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

/// The classic sequential design. It has no more entries than it needs, because fewer stay in the cache; the
/// spare ones keep what the pool promises of reuse, that 1024 other entries are freed first.
class packed {
public:
    using handle_type = packed_array<object>::handle_type;
    static constexpr const char* name = "packed array";
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = 1;
    static constexpr bool checks_handles = true;

    // With several threads and a lock, an object may be created before another one is erased.
    packed(std::size_t alive, unsigned threads) : array_(alive + 1024 + threads) {}

    handle_type create(unsigned /*thread*/, std::uint64_t seed) { return array_.emplace(seed); }
    bool erase(unsigned /*thread*/, handle_type handle) noexcept { return array_.erase(handle); }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        const object* const found = array_.find(handle);
        if (found == nullptr) {
            return false;
        }
        visit(*found);
        return true;
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        for (const object& each : array_.items()) {
            visit(each);
        }
    }

    void end_frame() {}
    std::size_t size() { return array_.items().size(); }

private:
    packed_array<object> array_;
};

} // namespace handlepool_bench::peers
