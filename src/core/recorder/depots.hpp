// SPDX-License-Identifier: MIT
#pragma once

#include "word_depot.hpp"

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/recorder/caller.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// What records name by a number, for the rest of the program. Lock-free; the functions that throw throw
/// std::bad_alloc.
namespace handlepool::detail {

/// Bytes of a place's name that are kept, the first ones.
inline constexpr std::size_t most_place_bytes = sizeof(word_depot::value_type) - sizeof(std::uint64_t);

/// Where the values are; for debuggers, which read them.
struct listed_depot {
    const void* entries = nullptr; ///< from number 0 on; null before the first is made
    std::uint64_t entry_size = 0;
};
// Inline, as process_state is: so the modules that share a list of pools share what its numbers name.
HANDLEPOOL_EXPORT HANDLEPOOL_KEEP inline constinit listed_depot listed_sites{};
HANDLEPOOL_EXPORT HANDLEPOOL_KEEP inline constinit listed_depot listed_actors{};
/// native_code::alignment_bits, for debuggers.
HANDLEPOOL_EXPORT HANDLEPOOL_KEEP inline constinit std::uint32_t listed_code_alignment_bits =
    native_code::alignment_bits;

/// Makes room for all of them, so that none of the functions below has to. Throws reservation_failed.
HANDLEPOOL_EXPORT void make_depots();

/// The site of a stack: addresses from the call on, and zeros. Zero when there is no room for one more.
HANDLEPOOL_EXPORT std::uint64_t site_of_value(const word_depot::value_type& stack) noexcept;
/// The site of a place that somebody names, cut to what fits. Zero for no name, too.
std::uint64_t site_of_place(std::string_view name) noexcept;

/// What a site of these is: addresses, or a name.
std::span<const std::uint64_t> addresses_of(std::uint64_t site) noexcept;
std::string place_of(std::uint64_t site);

/// The number of the calling thread's name with a task's, each cut to what fits. Zero when there is no room.
std::uint32_t number_of_actor(std::string_view task) noexcept;
std::string thread_of(std::uint32_t actor);
std::string task_of(std::uint32_t actor);

// What the value of an actor's entry says, also of one in another process.
HANDLEPOOL_EXPORT std::string thread_in(const word_depot::value_type& actor);
HANDLEPOOL_EXPORT std::string task_in(const word_depot::value_type& actor);

} // namespace handlepool::detail
