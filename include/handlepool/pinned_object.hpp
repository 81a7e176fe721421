// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/fwd.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace handlepool {

/// An object together with the guard that keeps compactions from moving or destroying it: what pin() of a
/// pool or a service returns. Empty when the handle was stale. It is not a lock of the object, which other
/// threads may pin, write and erase meanwhile. It may be moved, to another thread too, held by a suspended
/// coroutine, and ended in any thread. All functions are wait-free and constant.
template <class T, class Policy>
class [[nodiscard]] pinned_object {
    using pointer = typename detail::object_access<T>::pointer;
    using reference = typename detail::object_access<T>::reference;

public:
    /// Empty.
    pinned_object() noexcept = default;

    /// Takes over what `other` has.
    pinned_object(pinned_object&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)), guard_(std::move(other.guard_)) {}
    /// A pin of a const object, from one that may be changed.
    template <class Other>
        requires std::convertible_to<typename detail::object_access<Other>::pointer,
                                     typename detail::object_access<T>::pointer>
    pinned_object(pinned_object<Other, Policy>&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)), guard_(std::move(other.guard_)) {}
    /// Ends its guard, and takes over what `other` has.
    pinned_object& operator=(pinned_object&& other) noexcept {
        const pointer object = std::exchange(other.object_, nullptr);
        guard_ = std::move(other.guard_);
        object_ = object;
        return *this;
    }

    /// Returns whether it holds an object.
    explicit operator bool() const noexcept { return object_ != nullptr; }

    /// The object; null when empty.
    pointer get() const noexcept { return object_; }
    pointer operator->() const noexcept { return object_; }
    reference operator*() const noexcept
        requires(!std::is_void_v<T>)
    {
        return *object_;
    }

    /// Ends the guard early; it is empty then. Any thread.
    void reset() noexcept {
        object_ = nullptr;
        guard_.reset();
    }

private:
    template <class Other, class OtherPolicy>
    friend class pinned_object;
    template <class Other, class Traits>
    friend class pool_frames;
    template <class Layout, class ServicePolicy>
    friend class basic_service;

    /// `object` may be null, and then the guard ends here.
    pinned_object(pointer object, access_guard<Policy> guard) noexcept : object_(object) {
        if (object_ != nullptr) {
            guard_ = std::move(guard);
        }
    }

    pointer object_ = nullptr;
    access_guard<Policy> guard_;
};

} // namespace handlepool
