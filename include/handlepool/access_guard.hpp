#pragma once

#include <handlepool/detail/access_gate.hpp>
#include <handlepool/detail/lane.hpp>

#include <utility>

namespace handlepool {

/// Holds compaction off while it lives: pointers, references and items() stay valid. It may be moved, and may
/// end in another thread than that which made it. Guards may be nested, and those of several pools and
/// services taken in any order.
template <class Policy>
class [[nodiscard]] access_guard {
public:
    /// Holds nothing off.
    access_guard() noexcept = default;
    /// Like enter() of the gate.
    access_guard(detail::access_gate<Policy>& gate, detail::lane<Policy>& mine) : gate_(&gate), lane_(&mine) {
        gate.enter(mine);
    }
    /// Like try_enter() of the gate: an empty guard where that returns false.
    static access_guard attempt(detail::access_gate<Policy>& gate, detail::lane<Policy>& mine) noexcept {
        access_guard made;
        if (gate.try_enter(mine)) {
            made.gate_ = &gate;
            made.lane_ = &mine;
        }
        return made;
    }
    ~access_guard() { unlock(); }

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

    /// Ends it before its end. Any thread; wait-free.
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
