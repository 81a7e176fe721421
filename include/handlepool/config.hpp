#pragma once

#include <cstddef>

// The only macros of the library: what a build may choose, and what the compiler tells of itself.
// HANDLEPOOL_CHECKED must have one value in a whole program; the CMake target takes care of that.
#ifndef HANDLEPOOL_CHECKED
#define HANDLEPOOL_CHECKED 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HANDLEPOOL_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HANDLEPOOL_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef HANDLEPOOL_ADDRESS_SANITIZER
#define HANDLEPOOL_ADDRESS_SANITIZER 0
#endif

namespace handlepool {

/// Are violations of a contract looked for at run time, and answered with a message and abort()?
inline constexpr bool checked = HANDLEPOOL_CHECKED != 0;

/// Is the program built with AddressSanitizer?
inline constexpr bool address_sanitizer = HANDLEPOOL_ADDRESS_SANITIZER != 0;

/// What two threads write often is kept this many bytes apart.
inline constexpr std::size_t cache_line = 64;

/// Asks for the cache line at `address`. A hint: any address will do.
inline void prefetch(const void* address) noexcept {
    __builtin_prefetch(address, 1);
}

} // namespace handlepool
