#pragma once

#include <type_traits>
#include <utility>

namespace handlepool {

/// How a recycling_pool reuses objects of type T: as containers and strings are, unless it is specialized.
///
/// - `clear(object)` ends an object's use. It is called where a destructor would be, by a compaction, and may
///   do what a destructor may. It must not throw, must accept an object that was moved from or whose
///   assignment has thrown, and leaves it as emplace() without arguments shall find it.
/// - `assign(object, args...)` gives a cleared object the values that a constructor would be given. Those
///   that a pool is used with are enough.
template <class T>
struct recycler {
    static void clear(T& object) noexcept {
        constexpr bool can_be_cleared = requires {
            { object.clear() } noexcept;
        };
        static_assert(can_be_cleared,
                      "objects of a recycling_pool need a clear() that can't throw, or a recycler<T>");
        object.clear();
    }
    template <class Value>
        requires std::is_assignable_v<T&, Value>
    static void assign(T& object, Value&& value) {
        object = std::forward<Value>(value);
    }
};

} // namespace handlepool
