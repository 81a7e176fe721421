// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/fwd.hpp>

#include <type_traits>

namespace handlepool::detail {

template <class T, class Config>
class pool_impl;
template <class T, class Config>
class exclusive_core;
template <class T, class Config>
class spawner_core;
template <class T, class Config>
struct spawner_origin;

/// What a pool's functions work with: the pool's own core, that of the view for one thread, or a spawner's;
/// and what a view is made of.
template <class T, class Traits>
struct core_of {
    using type = pool_impl<T, config_of<Traits>>;
    struct origin; // none
    static constexpr bool is_exclusive = false;
    static constexpr bool is_spawner = false;
};
template <class T, class Traits>
struct core_of<T, exclusive<Traits>> {
    using type = exclusive_core<T, config_of<Traits>>;
    using origin = pool_impl<T, config_of<Traits>>&;
    static constexpr bool is_exclusive = true;
    static constexpr bool is_spawner = false;
};
template <class T, class Traits>
struct core_of<T, spawning<Traits>> {
    using type = spawner_core<T, config_of<Traits>>;
    using origin = spawner_origin<T, config_of<Traits>>;
    static constexpr bool is_exclusive = false;
    static constexpr bool is_spawner = true;
};

/// The type of that view.
template <class T, class Traits>
using exclusive_view =
    std::conditional_t<std::is_void_v<T>, raw_pool<exclusive<Traits>>, pool<T, exclusive<Traits>>>;

/// The same, with a message where the header is missing.
template <class T, class Traits>
struct exclusive_view_if_known {
    static_assert(
        requires { sizeof(exclusive<Traits>); },
        "exclusive access needs #include <handlepool/exclusive_pool.hpp>");
    using type = exclusive_view<T, Traits>;
};
template <class T, class Traits>
using known_exclusive_view = typename exclusive_view_if_known<T, Traits>::type;

/// The type of a pool's spawners, with a message where the header is missing.
template <class T, class Traits>
struct spawner_set_if_known {
    static_assert(requires { sizeof(spawning<Traits>); }, "spawners need #include <handlepool/spawner.hpp>");
    using type = spawner_set<T, Traits>;
};
template <class T, class Traits>
using known_spawner_set = typename spawner_set_if_known<T, Traits>::type;

/// The traits of the pool, of a view too.
template <class Traits>
struct traits_of_pool {
    using type = Traits;
};
template <class Traits>
struct traits_of_pool<exclusive<Traits>> {
    using type = Traits;
};
template <class Traits>
struct traits_of_pool<spawning<Traits>> {
    using type = Traits;
};

/// Whether a pool is a view of another one, or a spawner.
template <class T, class Traits>
constexpr bool is_view(const pool_base<T, Traits>*) {
    return core_of<T, Traits>::is_exclusive || core_of<T, Traits>::is_spawner;
}

/// Reaches the inside of a pool, for those functions of the library that are no members of it.
struct pool_access {
    /// The type of the view of a pool; of a view, its own.
    template <class T, class Traits>
    static exclusive_view<T, typename traits_of_pool<Traits>::type>* view_type(const pool_base<T, Traits>*);
    template <class Pool>
    using view_of = std::remove_pointer_t<decltype(view_type(static_cast<const Pool*>(nullptr)))>;

    template <class T, class Traits>
    static auto& core_of(pool_base<T, Traits>& pool) noexcept {
        return pool.core();
    }
    template <class T, class Traits>
    static const auto& core_of(const pool_base<T, Traits>& pool) noexcept {
        return pool.core();
    }
    /// The pool's own core, also for a view: for what other threads may call, and what no view has.
    template <class T, class Traits>
    static auto& pool_of(pool_base<T, Traits>& pool) noexcept {
        return pool.core_beside().pool();
    }
    template <class T, class Traits>
    static const auto& pool_of(const pool_base<T, Traits>& pool) noexcept {
        return pool.core_beside().pool();
    }
    /// For what other threads may call while one has exclusive access.
    template <class T, class Traits>
    static auto& core_beside(pool_base<T, Traits>& pool) noexcept {
        return pool.core_beside();
    }
    template <class T, class Traits>
    static const auto& core_beside(const pool_base<T, Traits>& pool) noexcept {
        return pool.core_beside();
    }
};

} // namespace handlepool::detail
