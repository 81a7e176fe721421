// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>

namespace handlepool::test {

/// Objects by their location, like a dense store.
template <class T>
struct objects_at {
    T* first;

    T* at(detail::location where) const noexcept { return first + detail::raw(where); }
};

} // namespace handlepool::test
