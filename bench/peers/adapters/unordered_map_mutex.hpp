// SPDX-License-Identifier: MIT
#pragma once

#include "../locked.hpp"
#include "unordered_map.hpp"

#include <mutex>

namespace handlepool_bench::peers {

class unordered_map_mutex : public locked<unordered_map, std::mutex> {
public:
    static constexpr const char* name = "std::unordered_map + std::mutex";

    using locked::locked;
};

} // namespace handlepool_bench::peers
