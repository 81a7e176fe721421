// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace handlepool::c {

/// What the program has created by the C interface and must destroy: tells it from what it has destroyed
/// already, and from what a service owns. Any thread, at any time.
template <class T>
class registry {
public:
    /// Takes it over, and returns it. Throws std::bad_alloc.
    T* add(std::unique_ptr<T> made) {
        T* const key = made.get();
        const std::lock_guard lock(mutex_);
        living_.emplace(key, std::move(made));
        return key;
    }

    /// The pointer itself if it is there, or else null.
    T* find(const T* key) noexcept {
        const std::lock_guard lock(mutex_);
        const auto found = living_.find(key);
        return found == living_.end() ? nullptr : found->second.get();
    }

    /// Destroys what is there; not under the lock, since that may call anything.
    void destroy(const T* key) noexcept {
        std::unique_lock lock(mutex_);
        const auto taken = living_.extract(key);
        lock.unlock();
    }

    /// The one of the process. Never destroyed: what is in it may be used until the process ends.
    static registry& instance() {
        static registry& only = *new registry;
        return only;
    }

private:
    std::mutex mutex_;
    std::map<const T*, std::unique_ptr<T>> living_;
};

} // namespace handlepool::c
