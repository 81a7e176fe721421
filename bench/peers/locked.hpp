// SPDX-License-Identifier: MIT
#pragma once

#include "contender.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <utility>

namespace handlepool_bench::peers {

/// A sequential container behind a mutex, which look-ups share if it can be shared. Objects are read under
/// it.
template <class Contender, class Mutex>
class locked {
public:
    using handle_type = typename Contender::handle_type;
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = any_number;
    static constexpr bool checks_handles = Contender::checks_handles;

    locked(std::size_t alive, unsigned threads) : contender_(alive, threads) {}

    handle_type create(unsigned thread, std::uint64_t seed) {
        const std::scoped_lock lock(mutex_);
        return contender_.create(thread, seed);
    }
    bool erase(unsigned thread, handle_type handle) {
        const std::scoped_lock lock(mutex_);
        return contender_.erase(thread, handle);
    }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        using lock_type = std::conditional_t<std::is_same_v<Mutex, std::shared_mutex>,
                                             std::shared_lock<Mutex>, std::unique_lock<Mutex>>;
        const lock_type lock(mutex_);
        return contender_.find(handle, std::forward<Visit>(visit));
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        const std::scoped_lock lock(mutex_);
        contender_.for_each(std::forward<Visit>(visit));
    }
    void end_frame() {
        const std::scoped_lock lock(mutex_);
        contender_.end_frame();
    }
    std::size_t size() {
        const std::scoped_lock lock(mutex_);
        return contender_.size();
    }

private:
    Mutex mutex_;
    Contender contender_;
};

} // namespace handlepool_bench::peers
