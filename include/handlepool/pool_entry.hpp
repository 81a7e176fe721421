// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>

#include <type_traits>

namespace handlepool {

/// An object of a pool and its handle, as entries() and living() show them:
///
///     for (auto [handle, ship] : ships.entries()) { ... }
///
/// T is const when the pool is. In a pool of columns, the object is a row; in a raw_pool, a pointer.
template <class T, class Layout = default_layout>
struct pool_entry {
    /// The handle, and the object that it names.
    handlepool::handle<std::remove_const_t<T>, Layout> handle;
    typename detail::object_access<T>::reference object;

    /// For pools.
    static pool_entry of(typename Layout::value_type value,
                         typename detail::object_access<std::remove_const_t<T>>::pointer object) noexcept {
        return {handlepool::handle<std::remove_const_t<T>, Layout>::from_value(value),
                detail::object_access<T>::refer(object)};
    }
};

} // namespace handlepool
