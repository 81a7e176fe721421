// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

namespace handlepool {

/// How a recycling_pool reuses objects of type T: as containers and strings are, unless it is specialized. A
/// specialization has `clear`, and `assign` for the arguments that objects are created from.
template <class T>
struct recycler {
    /// Ends an object's use, where a destructor would be called, and may do what a destructor may. Leaves the
    /// object as emplace() without arguments shall give it. It must not throw, and must accept an object that
    /// was moved from, or whose assignment has thrown.
    static void clear(T& object) noexcept {
        constexpr bool can_be_cleared = requires {
            { object.clear() } noexcept;
        };
        static_assert(can_be_cleared,
                      "objects of a recycling_pool need a clear() that can't throw, or a recycler<T>");
        object.clear();
    }
    /// Gives a cleared object the value that a constructor would give it; in a specialization, from any
    /// number of arguments. May throw.
    template <class Value>
        requires std::is_assignable_v<T&, Value>
    static void assign(T& object, Value&& value) {
        object = std::forward<Value>(value);
    }
};

} // namespace handlepool
