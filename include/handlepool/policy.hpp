// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/time.hpp>
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/fwd.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool {

namespace detail {

class mutex;

} // namespace detail

/// Gives the concurrent parts of a pool their atomics, memory, thread numbers and batch sizes. A checker
/// substitutes its own, and so checks the code that ships. Derive from it to change one thing:
///
///     struct tiny_policy : default_policy { static constexpr std::size_t claim_size = 2; };
struct HANDLEPOOL_EXPORT default_policy {
    /// Words that threads share.
    template <class T>
    using atomic = std::atomic<T>;

    /// Data that is handed from thread to thread by the ordering of the atomics around it.
    template <class T>
    using plain = T;

    /// Arrays of either, zero at first.
    template <class T>
    using array = detail::virtual_array<T>;

    /// For calls that may wait for each other, such as adding pools to a service; never for the use of a
    /// handle.
    using mutex = detail::mutex;

    /// The most slots that a shard claims at once.
    static constexpr std::size_t claim_size = 64;
    /// A shard claims at most the capacity divided by this and by the number of shards, but at least one
    /// slot. Only checkers with few threads take less than 128: pools have room for what idle shards hold at
    /// 128.
    static constexpr std::size_t claim_divisor = 128;
    /// Positions of the nursery that a shard claims at once; in stable pools, where it is 64 at most, also
    /// the places of a group.
    static constexpr std::size_t nursery_chunk = 64;
    /// The most groups of places that a shard of a stable pool claims at once, where few places of each are
    /// free. Where many shards share a small pool, they claim fewer: see claim_divisor.
    static constexpr std::size_t claim_groups = 4;
    /// Chunks of the nursery that keep their memory however rarely they are needed.
    static constexpr std::size_t warm_chunks = 16;
    /// Records of removals that a shard claims room for at once.
    static constexpr std::size_t removal_chunk = 64;
    /// Entries of the native freelist whose memory is reused together; a power of two.
    static constexpr std::size_t freelist_block = 64;
    /// Loops of a compaction over fewer items are not worth a second thread.
    static constexpr std::size_t compaction_grain = 1024;
    /// Attempts of an erase to claim room for its record, before it leaves the object to the sweep: the bound
    /// makes erase wait-free.
    static constexpr std::size_t removal_claim_tries = 16;

    /// How long a guard waits, from when it first sees a compaction that itself waits for guards, before it
    /// passes. Longer than guards are usually held: else the guards of many threads together could hold a
    /// compaction off forever.
    static constexpr std::uint64_t guard_patience = 50'000'000; // nanoseconds

    /// How many times a compaction yields to guards that the previous compaction delayed, before it proceeds.
    static constexpr std::size_t turns_for_guards = 100;

    /// For checkers: the numbering of the process's threads that the calling code uses.
    static std::uint64_t numbering() noexcept { return detail::this_thread::numbering(); }
    /// The calling thread's number under a numbering: that of the shard in which it works.
    static std::uint32_t thread_index(std::uint64_t numbering) noexcept {
        return detail::this_thread::index(numbering);
    }
    /// What tells the calling thread from those that had its number before.
    static std::uint32_t thread_generation() noexcept { return detail::this_thread::generation(); }

    /// Nanoseconds of a clock that never goes back; not 0.
    static std::uint64_t now() noexcept { return detail::monotonic_nanoseconds(); }

    /// Called in loops that wait for another thread, and have done so for `waited` nanoseconds.
    static void wait(std::uint64_t waited = 0) noexcept { detail::this_thread::wait(waited); }
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace handlepool
