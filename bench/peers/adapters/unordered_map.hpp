// SPDX-License-Identifier: MIT
#pragma once

#include "../keyed.hpp"

#include <bench/tools/capacity.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace handlepool_bench::peers {

/// What most programs use before they know better.
class unordered_map : public keyed<std::unordered_map<std::uint64_t, unaligned_object>> {
public:
    static constexpr const char* name = "std::unordered_map";

    unordered_map(std::size_t alive, unsigned threads) : keyed(threads) {
        container().reserve(capacity_for(alive));
    }
};

} // namespace handlepool_bench::peers
