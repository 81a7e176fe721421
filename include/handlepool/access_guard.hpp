#pragma once

#include <handlepool/detail/access_gate.hpp>
#include <handlepool/detail/lane.hpp>

#include <utility>

namespace handlepool {

/// Holds compaction off while it lives: pointers, references and items() stay valid. It may be moved, and may
/// end in a thread other than the one that made it. Guards may be nested, and those of several pools and
/// services taken in any order. Wait-free and constant, except for access() of a pool or service, which makes
/// guards.
template <class Policy>
class [[nodiscard]] access_guard {
public:
    /// Holds nothing off.
    access_guard() noexcept = default;
    /// For pools and services, whose access() says when it waits and throws.
    access_guard(detail::access_gate<Policy>& gate, detail::lane<Policy>& mine) : gate_(&gate), lane_(&mine) {
        gate.enter(mine);
    }
    /// The same for their try_access().
    static access_guard attempt(detail::access_gate<Policy>& gate, detail::lane<Policy>& mine) noexcept {
        access_guard made;
        if (gate.try_enter(mine)) {
            made.gate_ = &gate;
            made.lane_ = &mine;
        }
        return made;
    }
    ~access_guard() { unlock(); }

    /// Take over what `other` holds; the assignment ends this guard first.
    access_guard(access_guard&& other) noexcept
        : gate_(other.gate_), lane_(std::exchange(other.lane_, nullptr)) {}
    access_guard& operator=(access_guard&& other) noexcept {
        if (this != &other) {
            unlock();
            gate_ = other.gate_;
            lane_ = std::exchange(other.lane_, nullptr);
        }
        return *this;
    }

    /// Does it hold compaction off?
    explicit operator bool() const noexcept { return lane_ != nullptr; }

    /// Ends the guard early. Any thread.
    void unlock() noexcept {
        if (lane_ != nullptr) {
            gate_->leave(*std::exchange(lane_, nullptr));
        }
    }

private:
    detail::access_gate<Policy>* gate_ = nullptr;
    detail::lane<Policy>* lane_ = nullptr;
};

} // namespace handlepool
