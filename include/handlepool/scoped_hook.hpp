// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <utility>

namespace handlepool {

namespace detail {

/// What a hook and its scoped_hook share; each of the two releases it once.
class HANDLEPOOL_EXPORT hook_switch {
public:
    virtual bool is_on() const noexcept = 0;
    virtual void turn_off() noexcept = 0;
    virtual void release() noexcept = 0;

protected:
    ~hook_switch() = default;
};

} // namespace detail

/// Which hooks of on_destroy are called first for an object. Among those of a kind it is those that were
/// added first.
enum class hook_order {
    early, ///< before all late ones: they find the object in attached containers
    late,  ///< after all early ones, as attached containers are told: for what forgets the object
};

/// Holds a hook of on_destroy or on_birth, and takes it off at its own end. It may outlive the pool.
///
/// As a member of the class whose objects the hook refers to, behind them, it ends before they do. Where the
/// pool's compactions are ordered with that, the hook can't outlive what it uses. Where another thread may be
/// compacting, it may still be calling the hook: there, disconnect() it and take an access guard of the pool
/// before what it uses ends.
///
/// A hook that ends before the pool sees nothing of the pool's end. One that is to be called for the objects
/// that are alive then is declared before the pool, and behind what it uses; on_destroy() shows that.
class [[nodiscard("without a name, the hook is taken off at once; release() leaves it on")]] scoped_hook {
public:
    /// Without a hook.
    scoped_hook() noexcept = default;
    /// For pools.
    explicit scoped_hook(detail::hook_switch& taken) noexcept : switch_(&taken) {}
    /// Disconnects.
    ~scoped_hook() {
        disconnect();
        release();
    }

    scoped_hook(scoped_hook&& other) noexcept : switch_(std::exchange(other.switch_, nullptr)) {}
    /// Takes the hook off that it had.
    scoped_hook& operator=(scoped_hook&& other) noexcept {
        scoped_hook taken(std::move(other));
        std::swap(switch_, taken.switch_);
        return *this;
    }

    /// From here on, a compaction doesn't call the hook: neither one that begins later in the order of the
    /// program's threads, nor one that is running in the calling thread, such as when the hook itself
    /// disconnects. One that is running in another thread may still be calling it; to make sure that it
    /// isn't, take an access guard of the pool afterwards. The hook is destroyed by the pool's next
    /// compaction, or with the pool; a service compacts no idle pools. Does nothing when there is no hook.
    /// Any thread, at any time, one at a time for each scoped_hook.
    /// Progress: wait-free, constant.
    void disconnect() noexcept {
        if (switch_ != nullptr) {
            switch_->turn_off();
        }
    }

    /// Leaves the hook on as long as the pool lives, and has none from here on. What the hook refers to must
    /// outlive the pool, whose end calls it for all objects; nothing can check that.
    void release() noexcept {
        if (switch_ != nullptr) {
            std::exchange(switch_, nullptr)->release();
        }
    }

    /// Returns whether the hook will be called: not after disconnect() or release(), nor after the pool's
    /// end. Threads and progress: those of disconnect().
    bool connected() const noexcept { return switch_ != nullptr && switch_->is_on(); }

private:
    detail::hook_switch* switch_ = nullptr;
};

} // namespace handlepool
