// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>

/// Declarations and default template arguments of the public types.
namespace handlepool {

template <unsigned IndexBits, unsigned GenerationBits, unsigned PoolIdBits, unsigned UserBits = 0>
struct HANDLEPOOL_EXPORT handle_layout;

/// 4 billion slots, 2 million objects per slot, 1024 pools.
using default_layout = handle_layout<32, 22, 10>;

/// Handles that survive a double, as numbers in JavaScript, LuaJIT and many JSON readers do: 53 bits. 16
/// million slots, half a million objects per slot, 512 pools.
using script_layout = handle_layout<24, 20, 9>;

template <class Key, class Layout = default_layout>
struct keyed_layout;

template <class T, class Layout = default_layout>
class handle;

/// The handle of an object of any type: any `handle<T>` converts to it, and a checked cast of the service
/// turns it back.
using any_handle = handle<void>;

struct HANDLEPOOL_EXPORT default_policy;

template <class Policy>
class fifo_freelist;

struct dense_placement;
struct stable_placement;
struct recycling_placement;

struct default_traits;
template <class Layout, class Traits = default_traits>
struct with_layout;
template <class Policy, class Traits = default_traits>
struct with_policy;
template <template <class> class Freelist, class Traits = default_traits>
struct with_freelist;
template <class Placement, class Traits = default_traits>
struct with_placement;

template <class Traits>
struct exclusive;
template <class Traits>
struct spawning;

template <class T, class Traits = default_traits>
class pool;

template <class Traits = default_traits>
class raw_pool;

/// A pool whose objects never move: see stable_pool.hpp.
template <class T, class Traits = default_traits>
using stable_pool = pool<T, with_placement<stable_placement, Traits>>;

/// A stable pool that keeps erased objects for the next ones: see recycling_pool.hpp.
template <class T, class Traits = default_traits>
using recycling_pool = pool<T, with_placement<recycling_placement, Traits>>;

/// A stable pool of a type that is known at run time only: see raw_stable_pool.hpp.
template <class Traits = default_traits>
using raw_stable_pool = raw_pool<with_placement<stable_placement, Traits>>;

/// A view of a pool for the one thread that uses it: see exclusive_pool.hpp.
template <class T, class Traits = default_traits>
using exclusive_pool = pool<T, exclusive<Traits>>;
template <class Traits = default_traits>
using exclusive_raw_pool = raw_pool<exclusive<Traits>>;

/// What a task creates and erases with, and several of them: see spawner.hpp.
template <class T, class Traits = default_traits>
class spawner;
template <class T, class Traits = default_traits>
class spawner_set;

template <class T, class Traits>
class pool_base;
template <class T, class Traits>
class pool_frames;

// Rows of a `pool<columns<...>>`.
template <class... Cs>
struct columns;
template <class... Cs>
class row;
template <class... Cs>
class row_pointer;

template <class Policy = default_policy>
class access_guard;

template <class T, class Policy = default_policy>
class pinned_object;

template <class Layout = default_layout>
class HANDLEPOOL_EXPORT any_pool;

template <class Layout, class Policy = default_policy>
class HANDLEPOOL_EXPORT basic_service;

/// A service with handles of the default layout.
using service = basic_service<default_layout>;

struct pool_options;
struct pool_stats;
struct compaction_stats;
struct sort_stats;
struct raw_type;
class executor_ref;
class HANDLEPOOL_EXPORT timeline;

} // namespace handlepool
