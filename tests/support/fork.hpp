// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

namespace handlepool::test {

/// Whether a child of fork can allocate whatever other threads of its parent were doing. It may wait for ever
/// with g++'s AddressSanitizer, whose allocator does not wait for them before a fork, as those of the system
/// and of clang's do.
#if defined(__clang__)
inline constexpr bool children_can_allocate = true;
#else
inline constexpr bool children_can_allocate = !detail::address_sanitizer;
#endif

inline constexpr const char* no_allocator_in_children =
    "a child of fork can't allocate with this AddressSanitizer while other threads do";

} // namespace handlepool::test
