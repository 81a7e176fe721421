// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstdint>

/// A small number for each living thread of the process: the lowest that was free at the thread's first call.
/// It is given back when the thread ends, after its thread_local objects were destroyed, and all that the
/// thread did happens before all that the next owner of the number does.
///
/// Modules of a program that link the static library see one numbering if they see each other's symbols, as
/// plug-ins see those of a program that exports them. Otherwise each copy numbers the threads anew, and what
/// was made under one numbering must not be used under another: a numbering has an identity.
namespace handlepool::detail {

/// How many threads can have a number at the same time.
inline constexpr std::uint32_t thread_index_limit = 65536;

/// Stands for the number of a thread that another copy of the library numbers.
inline constexpr std::uint32_t foreign_thread_index = thread_index_limit + 1;

namespace this_thread {

/// What a thread knows of itself. Trivially destructible, so that it stays readable until the very end of the
/// thread.
struct known_numbers {
    /// Its number + 1, above that the identity of its numbering; 0 before it has a number.
    std::uint64_t word = 0;
    /// How many threads had the number until this one got it, itself included.
    std::uint32_t generation = 0;
};
HANDLEPOOL_EXPORT inline constinit thread_local known_numbers known;

/// The identity of the numbering that the calling code uses. Wait-free.
HANDLEPOOL_EXPORT std::uint64_t numbering() noexcept;

/// Takes a number for the calling thread, if it has none. Lock-free. Returns it; `thread_index_limit` when
/// all are taken, `foreign_thread_index` when `numbering` is another one than the calling code's.
HANDLEPOOL_EXPORT std::uint32_t claim_index(std::uint64_t numbering) noexcept;

/// Returns the calling thread's number, or what claim_index() returns. Wait-free after a thread's first call,
/// which is lock-free.
inline std::uint32_t index(std::uint64_t numbering) noexcept {
    const std::uint64_t index = known.word - numbering - 1;
    return index < thread_index_limit ? static_cast<std::uint32_t>(index) : claim_index(numbering);
}
inline std::uint32_t index() noexcept {
    return index(numbering());
}

/// How many threads had the calling thread's number until it got it, which tells it from them; 0 if it has no
/// number yet. Wait-free.
inline std::uint32_t generation() noexcept {
    return known.generation;
}

/// Waits a little for another thread, after `waited` nanoseconds of the same: lets others run at first, and
/// then sleeps an eighth as long as it has waited, four milliseconds at most. So a long wait costs next to no
/// time of a processor, and takes an eighth longer than it must. Behind a call, because <thread> takes longer
/// to compile than all that includes this.
HANDLEPOOL_EXPORT void wait(std::uint64_t waited) noexcept;

} // namespace this_thread
} // namespace handlepool::detail
