// SPDX-License-Identifier: MIT
#pragma once

#include "../locked.hpp"
#include "packed.hpp"

#include <mutex>

namespace handlepool_bench::peers {

class packed_mutex : public locked<packed, std::mutex> {
public:
    static constexpr const char* name = "packed array + std::mutex";

    using locked::locked;
};

} // namespace handlepool_bench::peers
