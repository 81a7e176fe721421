// SPDX-License-Identifier: MIT
#pragma once

#include "../locked.hpp"
#include "packed.hpp"

#include <shared_mutex>

namespace handlepool_bench::peers {

class packed_shared_mutex : public locked<packed, std::shared_mutex> {
public:
    static constexpr const char* name = "packed array + std::shared_mutex";

    using locked::locked;
};

} // namespace handlepool_bench::peers
