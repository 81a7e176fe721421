// SPDX-License-Identifier: MIT
#pragma once

#include "../keyed.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace handlepool_bench::peers {

class map : public keyed<std::map<std::uint64_t, unaligned_object>> {
public:
    static constexpr const char* name = "std::map";

    map(std::size_t /*alive*/, unsigned threads) : keyed(threads) {}
};

} // namespace handlepool_bench::peers
