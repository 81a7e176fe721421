#pragma once

#include <handlepool/config.hpp>

#include <cstddef>
#include <cstdint>

/// A small number for each living thread of the process: the lowest that was free at the thread's first call.
/// It is given back when the thread ends, after its thread_local objects were destroyed, and all that the
/// thread did happens before all that the next owner of the number does.
namespace handlepool {

/// How many threads can have a number at the same time.
inline constexpr std::uint32_t thread_index_limit = 65536;

namespace this_thread {

/// Number of the calling thread, plus one; 0 before it has one. Trivially destructible on purpose: it stays
/// readable until the very end of the thread.
HANDLEPOOL_EXPORT inline constinit thread_local std::uint32_t index_plus_one = 0;

/// Takes a number for the calling thread. Lock-free. Returns `thread_index_limit` when all are taken.
HANDLEPOOL_EXPORT std::uint32_t claim_index() noexcept;

/// The calling thread's number, below `thread_index_limit`, or exactly that when there are more threads.
/// Wait-free after a thread's first call, which is lock-free.
inline std::uint32_t index() noexcept {
    return index_plus_one != 0 ? index_plus_one - 1 : claim_index();
}

} // namespace this_thread
} // namespace handlepool
