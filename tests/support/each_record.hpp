// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool::test {

/// Makes of `take(record)` what removal_queue::drain calls with runs of records.
template <class Take>
auto each_record(Take take) {
    return [take](auto record, std::size_t count, std::size_t) mutable {
        for (std::size_t i = 0; i != count; ++i) {
            take(record(i));
        }
    };
}

} // namespace handlepool::test
