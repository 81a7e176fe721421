// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/handlepool.h>
#include <handlepool/pool_options.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_type.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stats.hpp>

#include <string>

/// What the opaque types of the C interface stand for. Pools and services are those of C++ themselves,
/// without anything around them, so that a pool of a service has no second lifetime.
namespace handlepool::c {

using layout = script_layout;
using handle_type = handle<void, layout>;
using pool_type = raw_pool<with_layout<layout>>;
using service_type = basic_service<layout>;
using guard_type = access_guard<default_policy>;

static_assert(layout::bits == 53, "handles of the C interface survive a double");

inline pool_type& of(handlepool_pool* pool) noexcept {
    return *reinterpret_cast<pool_type*>(pool);
}
inline const pool_type& of(const handlepool_pool* pool) noexcept {
    return *reinterpret_cast<const pool_type*>(pool);
}
inline handlepool_pool* face_of(pool_type* pool) noexcept {
    return reinterpret_cast<handlepool_pool*>(pool);
}

inline service_type& of(handlepool_service* service) noexcept {
    return *reinterpret_cast<service_type*>(service);
}
inline const service_type& of(const handlepool_service* service) noexcept {
    return *reinterpret_cast<const service_type*>(service);
}

inline handle_type of(handlepool_handle handle) noexcept {
    return handle_type::from_value(handle);
}

static_assert(static_cast<int>(handle_state::stale) == HANDLEPOOL_STATE_STALE &&
              static_cast<int>(handle_state::reserved) == HANDLEPOOL_STATE_RESERVED &&
              static_cast<int>(handle_state::alive) == HANDLEPOOL_STATE_ALIVE);
inline handlepool_state state_of(handle_state state) noexcept {
    return static_cast<handlepool_state>(state);
}

/// What C++ makes a pool of. `description.name` is not NULL.
pool_options options_of(const handlepool_description& description);
raw_type type_of(const handlepool_description& description) noexcept;

/// A copy that handlepool_free_text() frees. Throws std::bad_alloc.
char* copy_of(const std::string& text);

} // namespace handlepool::c
