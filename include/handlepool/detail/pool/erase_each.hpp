// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/recorder/caller.hpp>

#include <cstddef>
#include <iterator>

namespace handlepool::detail {

/// Erases the object of each handle in a range, and returns how many were alive.
///
/// @tparam Core pool_impl, or what has its `erase` and `pool`
// No part of the caller: where g++ knows how short a range is, it warns of what is never reached.
template <class Handle, class Core, class Range>
HANDLEPOOL_NOINLINE std::size_t erase_each(Core& core, Range& handles, caller who) {
    constexpr std::ptrdiff_t slots_ahead = 16; // of the handle that is erased
    std::size_t erased = 0;
    if constexpr (std::contiguous_iterator<decltype(std::ranges::begin(handles))> &&
                  requires { std::ranges::size(handles); }) {
        const auto first = std::ranges::begin(handles);
        const auto count = static_cast<std::ptrdiff_t>(std::ranges::size(handles));
        for (std::ptrdiff_t i = 0; i != count; ++i) {
            // An erase is an exchange, which no later one overtakes: without this each would wait for its
            // slot.
            if (i + slots_ahead < count) {
                core.pool().prefetch(Handle(first[i + slots_ahead]).value());
            }
            erased += core.erase(Handle(first[i]).value(), who) ? 1U : 0U;
        }
    } else {
        for (const Handle each : handles) {
            erased += core.erase(each.value(), who) ? 1U : 0U;
        }
    }
    return erased;
}

} // namespace handlepool::detail
