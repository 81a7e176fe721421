#pragma once

#include <handlepool/access_guard.hpp>

#include <type_traits>
#include <utility>

namespace handlepool {

/// An object, and the guard that keeps it where it is, in one: what lock() of a pool or a service returns.
/// Empty when the handle was stale. It may be moved, also to another thread, held by a coroutine that is
/// suspended, and ended in any thread.
template <class T, class Policy>
class [[nodiscard]] locked_object {
public:
    locked_object() noexcept = default;
    /// `object` may be null; then the guard ends here.
    locked_object(T* object, access_guard<Policy> guard) noexcept : object_(object) {
        if (object_ != nullptr) {
            guard_ = std::move(guard);
        }
    }

    locked_object(locked_object&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)), guard_(std::move(other.guard_)) {}
    /// From one of an object that is not const.
    template <class Other>
        requires std::convertible_to<Other*, T*>
    locked_object(locked_object<Other, Policy>&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)), guard_(std::move(other.guard_)) {}
    locked_object& operator=(locked_object&& other) noexcept {
        guard_ = std::move(other.guard_);
        object_ = std::exchange(other.object_, nullptr);
        return *this;
    }

    explicit operator bool() const noexcept { return object_ != nullptr; }
    T* get() const noexcept { return object_; }
    T* operator->() const noexcept { return object_; }
    std::add_lvalue_reference_t<T> operator*() const noexcept
        requires(!std::is_void_v<T>)
    {
        return *object_;
    }

    /// Ends it before its end. Any thread; wait-free.
    void unlock() noexcept {
        object_ = nullptr;
        guard_.unlock();
    }

private:
    template <class Other, class OtherPolicy>
    friend class locked_object;

    T* object_ = nullptr;
    access_guard<Policy> guard_;
};

} // namespace handlepool
