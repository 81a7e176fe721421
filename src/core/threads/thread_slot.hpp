// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// A word of each thread, 0 at first, by which the thread's number comes back at its end.
namespace handlepool::detail::this_thread {

std::uint32_t kept_word() noexcept;
/// When the thread ends, after the destructors of its thread_local objects, thread_ends() is called with the
/// word, unless that is 0; the word is 0 then.
void keep_word(std::uint32_t word) noexcept;

/// The system's number of the calling thread, 0 where it has none.
std::uint32_t system_thread() noexcept;

/// Defined in thread_index.cpp.
void thread_ends(std::uint32_t word) noexcept;

} // namespace handlepool::detail::this_thread
