#pragma once

#include <handlepool/detail/config.hpp>

#include <utility>

namespace handlepool {

namespace detail {

/// What a hook and its connection share; each of the two releases it once.
class HANDLEPOOL_EXPORT hook_switch {
public:
    virtual bool is_on() const noexcept = 0;
    virtual void turn_off() noexcept = 0;
    virtual void release() noexcept = 0;

protected:
    ~hook_switch() = default;
};

} // namespace detail

/// What on_erase and on_birth return, for those who want to take their hook off again. Its own end does
/// nothing; see scoped_hook. It may outlive the pool.
class hook_connection {
public:
    /// Not connected.
    hook_connection() noexcept = default;
    /// For pools.
    explicit hook_connection(detail::hook_switch& taken) noexcept : switch_(&taken) {}
    ~hook_connection() {
        if (switch_ != nullptr) {
            switch_->release();
        }
    }

    hook_connection(hook_connection&& other) noexcept : switch_(std::exchange(other.switch_, nullptr)) {}
    hook_connection& operator=(hook_connection&& other) noexcept {
        std::swap(switch_, other.switch_);
        return *this;
    }

    /// From here on, a compaction doesn't call the hook: neither one that begins later in the order of the
    /// program's threads, nor one that is running in the calling thread, such as when the hook itself
    /// disconnects. One that is running in another thread may still be calling it; to make sure that it
    /// isn't, take an access guard of the pool afterwards. The hook is destroyed by the pool's next
    /// compaction, or with the pool; a service compacts no idle pools. Does nothing when there is no
    /// connection. Any thread, at any time, one at a time for each connection. Progress: wait-free, constant.
    void disconnect() noexcept {
        if (switch_ != nullptr) {
            switch_->turn_off();
        }
    }

    /// Will the hook be called? Not after disconnect(), and not after the pool's end.
    /// Threads and progress: those of disconnect().
    bool connected() const noexcept { return switch_ != nullptr && switch_->is_on(); }

private:
    detail::hook_switch* switch_ = nullptr;
};

/// Takes its hook off at its own end.
class scoped_hook {
public:
    scoped_hook() noexcept = default;
    scoped_hook(hook_connection connection) noexcept : connection_(std::move(connection)) {}
    ~scoped_hook() { connection_.disconnect(); }

    scoped_hook(scoped_hook&&) noexcept = default;
    /// Takes the hook off that it had.
    scoped_hook& operator=(scoped_hook&& other) noexcept {
        if (this != &other) {
            connection_.disconnect();
            connection_ = std::move(other.connection_);
        }
        return *this;
    }

    /// See hook_connection.
    void disconnect() noexcept { connection_.disconnect(); }
    bool connected() const noexcept { return connection_.connected(); }

    /// Gives the connection back, and takes nothing off.
    hook_connection release() noexcept { return std::move(connection_); }

private:
    hook_connection connection_;
};

} // namespace handlepool
