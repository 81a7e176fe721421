// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <vector>

namespace handlepool::test {

/// What `function(0)` to `function(count - 1)` return, called in this order.
template <class Count, class Function>
auto tabulate(Count count, Function function) {
    std::vector<std::invoke_result_t<Function&, Count>> values;
    for (Count i = 0; i != count; ++i) {
        values.push_back(function(i));
    }
    return values;
}

} // namespace handlepool::test
