// SPDX-License-Identifier: MIT
#pragma once

#include "pool.hpp"

#include <handlepool/stable_pool.hpp>

namespace handlepool_bench::peers {

class stable_pool : public pool_contender<handlepool::stable_pool<object>> {
public:
    static constexpr const char* name = "handlepool::stable_pool";

    using pool_contender::pool_contender;

    template <class Visit>
    void for_each(Visit&& visit) {
        for (const object& each : pool_contender::pool()) {
            visit(each);
        }
    }
};

} // namespace handlepool_bench::peers
