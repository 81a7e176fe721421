// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// A function that makes a T when it is told its handle.
template <class Make, class T, class Handle>
concept factory_of =
    std::invocable<Make, Handle> && std::constructible_from<T, std::invoke_result_t<Make, Handle>>;

} // namespace handlepool::detail
