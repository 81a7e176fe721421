// SPDX-License-Identifier: MIT
#pragma once

#include "capacity.hpp"
#include "object.hpp"
#include "packed_array.hpp"

#include <handlepool/pool.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

/// The containers under comparison, each with the same face: emplace, erase, find, and end_frame, for what a
/// container does once a frame. Each is made with the number of objects that will be alive.
namespace handlepool_bench {

template <template <class> class Freelist>
class pool_over {
public:
    using pool_type = handlepool::pool<object, handlepool::with_freelist<Freelist>>;
    using handle_type = typename pool_type::handle_type;

    explicit pool_over(std::size_t alive) : pool_({.name = "bench", .capacity = capacity_for(alive)}) {}

    handle_type emplace(std::uint64_t seed) { return pool_.emplace(seed); }
    bool erase(handle_type handle) noexcept { return pool_.erase(handle); }
    object* find(handle_type handle) noexcept { return pool_.find(handle); }
    void end_frame() { pool_.compact(); }

    pool_type& pool() noexcept { return pool_; }

private:
    pool_type pool_;
};

using our_pool = pool_over<handlepool::fifo_freelist>;

/// Made with no more entries than it needs, because fewer stay in the cache: it never holds an erased object.
/// The spare ones keep what the pool promises of reuse, that 1024 other entries are freed first.
class bare_array {
public:
    using handle_type = packed_array<object>::handle_type;

    explicit bare_array(std::size_t alive) : array_(alive + 1024) {}

    handle_type emplace(std::uint64_t seed) { return array_.emplace(seed); }
    bool erase(handle_type handle) noexcept { return array_.erase(handle); }
    void clear() noexcept { array_.clear(); }
    object* find(handle_type handle) noexcept { return array_.find(handle); }
    void end_frame() {}

private:
    packed_array<object> array_;
};

/// What most programs use before they know better.
class hash_map {
public:
    using handle_type = std::uint64_t;

    explicit hash_map(std::size_t alive) { map_.reserve(capacity_for(alive)); }

    handle_type emplace(std::uint64_t seed) {
        map_.emplace(++last_, seed);
        return last_;
    }
    bool erase(handle_type handle) noexcept { return map_.erase(handle) != 0; }
    object* find(handle_type handle) noexcept {
        const auto found = map_.find(handle);
        return found == map_.end() ? nullptr : &found->second;
    }
    void end_frame() {}

private:
    std::unordered_map<std::uint64_t, object> map_;
    std::uint64_t last_ = 0;
};

/// Any of them behind a mutex. find() lets go of it before the object is read: too early for a real program,
/// but kind to the contender.
template <class Contender>
class locked {
public:
    using handle_type = typename Contender::handle_type;

    explicit locked(std::size_t alive) : contender_(alive) {}

    handle_type emplace(std::uint64_t seed) {
        const std::scoped_lock lock(mutex_);
        return contender_.emplace(seed);
    }
    bool erase(handle_type handle) noexcept {
        const std::scoped_lock lock(mutex_);
        return contender_.erase(handle);
    }
    object* find(handle_type handle) noexcept {
        const std::scoped_lock lock(mutex_);
        return contender_.find(handle);
    }
    void end_frame() { contender_.end_frame(); }

private:
    std::mutex mutex_;
    Contender contender_;
};

} // namespace handlepool_bench
