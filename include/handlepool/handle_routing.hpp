// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/any_pool.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>

#include <string>
#include <type_traits>

namespace handlepool {

/// What one can do with a handle that says itself whose it is: the functions for handles that a service and
/// an exclusive_service have.
///
/// Of a service: any thread, at any time. Wait-free and constant, unless said otherwise; those that make a
/// string are lock-free. A handle of no pool, of a removed one or of another service's is stale. A call that
/// began before its handle's pool was removed must end before the compaction that destroys the pool begins. A
/// thread that is not ordered with the frames sees to it by a guard.
///
/// @tparam Self derives from it, and finds the pool of a handle
template <class Layout, class Self>
class handle_routing {
public:
    /// What its functions take and return.
    using handle_type = handle<void, Layout>;
    using pool_type = any_pool<Layout>;

    /// Returns whether the handle's object is alive.
    bool contains(handle_type handle) const noexcept {
        const pool_type* const owner = owner_of(handle);
        return owner != nullptr && owner->contains(handle);
    }

    /// Returns whether the handle is stale, reserved, or names a living object: see state() of pools.
    handle_state state(handle_type handle) const noexcept {
        const pool_type* const owner = owner_of(handle);
        return owner != nullptr ? owner->state(handle) : handle_state::stale;
    }

    /// Ends the life of the handle's object. True for exactly one of all calls with a handle; see
    /// pool::erase.
    HANDLEPOOL_ALWAYS_INLINE bool erase(handle_type handle) noexcept {
        pool_type* const owner = owner_of(handle);
        return owner != nullptr && owner->erase(handle);
    }

    /// A new handle for the handle's object, and the old one is stale; null when it was stale before. See
    /// pool::revoke.
    HANDLEPOOL_ALWAYS_INLINE handle_type revoke(handle_type handle) noexcept {
        pool_type* const owner = owner_of(handle);
        return owner != nullptr ? owner->revoke(handle) : handle_type();
    }

    /// Gives up a reserved handle; see pool::cancel.
    HANDLEPOOL_ALWAYS_INLINE bool cancel(handle_type handle) noexcept {
        pool_type* const owner = owner_of(handle);
        return owner != nullptr && owner->cancel(handle);
    }

    /// The handle's pool, whether its object is alive or not. Null for the null handle, and when the service
    /// has no pool with its id.
    pool_type* route(handle_type handle) const noexcept { return handle ? owner_of(handle) : nullptr; }

    /// The handle with its type, and with the key of its pool if `HandleLayout` has one; or the null handle
    /// when its pool's handles are not of that type.
    template <class T, class HandleLayout = Layout>
    handle<T, HandleLayout> handle_cast(handle_type untyped) const noexcept {
        using typed = handle<T, HandleLayout>;
        const pool_type* const owner = route(untyped);
        return owner != nullptr && owner->template gives<handle<std::remove_cv_t<T>, HandleLayout>>()
                   ? typed::from_value(untyped.value())
                   : typed();
    }

    /// The object, within the frame contract; null when the handle is stale, or its pool is not one of T. A
    /// `T*`, or a row_pointer when T is `columns<...>`.
    template <class T>
    typename detail::object_access<T>::pointer find(handle_type handle) const noexcept {
        pool_type* const owner = owner_of(handle);
        return owner != nullptr ? owner->template find<T>(handle) : nullptr;
    }

    /// Name of the handle's pool; empty when there is none. Throws std::bad_alloc.
    std::string name_of(handle_type handle) const {
        const pool_type* const owner = route(handle);
        return owner == nullptr ? std::string() : owner->name();
    }

    /// What is known of a handle, for people: "ships #1021 generation 7: erased 3 frames ago". Throws
    /// std::bad_alloc.
    std::string describe(handle_type handle) const {
        if (!handle) {
            return "null";
        }
        if (const pool_type* const owner = route(handle)) {
            return owner->describe(handle);
        }
        return detail::name_of_handle(handle.index(), handle.generation()) +
               ": no pool of the service has pool id " + std::to_string(handle.pool_id());
    }

private:
    /// The pool with the handle's pool id, or null.
    pool_type* owner_of(handle_type handle) const noexcept {
        return static_cast<const Self&>(*this).pool_of(handle);
    }
};

} // namespace handlepool
