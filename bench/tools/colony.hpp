// SPDX-License-Identifier: MIT
#pragma once

#include "object.hpp"

#include <plf_colony.h>

#include <cstddef>
#include <cstdint>

namespace handlepool_bench {

/// Its handles are its iterators, which nothing checks.
class colony {
public:
    using handle_type = plf::colony<object>::iterator;

    explicit colony(std::size_t alive) { objects_.reserve(alive); }

    handle_type emplace(std::uint64_t seed) { return objects_.emplace(seed); }
    bool erase(handle_type handle) {
        objects_.erase(handle);
        return true;
    }
    void end_frame() {}

private:
    plf::colony<object> objects_;
};

} // namespace handlepool_bench
