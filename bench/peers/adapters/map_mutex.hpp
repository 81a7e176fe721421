// SPDX-License-Identifier: MIT
#pragma once

#include "../locked.hpp"
#include "map.hpp"

#include <mutex>

namespace handlepool_bench::peers {

class map_mutex : public locked<map, std::mutex> {
public:
    static constexpr const char* name = "std::map + std::mutex";

    using locked::locked;
};

} // namespace handlepool_bench::peers
