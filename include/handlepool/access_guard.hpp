// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/threads/pin.hpp>
#include <handlepool/fwd.hpp>

#include <utility>

namespace handlepool {

namespace detail {

template <class Pin>
class access_gate;

} // namespace detail

/// Holds compaction off while it lives: pointers, references and items() stay valid. It may be moved, and may
/// end in a thread other than the one that made it. Guards may be nested, and those of several pools and
/// services taken in any order. They are made by access() and try_access() of pools and services. All
/// functions are wait-free and constant.
template <class Policy>
class [[nodiscard]] access_guard {
public:
    /// Holds nothing off.
    access_guard() noexcept = default;
    ~access_guard() { reset(); }

    /// Take over what `other` holds; the assignment ends this guard first.
    access_guard(access_guard&& other) noexcept : pin_(std::exchange(other.pin_, nullptr)) {}
    access_guard& operator=(access_guard&& other) noexcept {
        if (this != &other) {
            reset();
            pin_ = std::exchange(other.pin_, nullptr);
        }
        return *this;
    }

    /// Returns whether it holds compactions off.
    explicit operator bool() const noexcept { return pin_ != nullptr; }

    /// Ends the guard early. Any thread.
    void reset() noexcept {
        if (pin_ != nullptr) {
            std::exchange(pin_, nullptr)->lower();
        }
    }

    /// For callers in other languages: gives what it holds away as an address, null when that is nothing; and
    /// takes it back, once.
    void* release() noexcept { return std::exchange(pin_, nullptr); }
    static access_guard adopt(void* released) noexcept {
        access_guard guard;
        guard.pin_ = static_cast<detail::pin<Policy>*>(released);
        return guard;
    }

private:
    template <class Pin>
    friend class detail::access_gate;

    /// The pin is raised for it.
    explicit access_guard(detail::pin<Policy>& raised) noexcept : pin_(&raised) {}

    detail::pin<Policy>* pin_ = nullptr;
};

} // namespace handlepool
