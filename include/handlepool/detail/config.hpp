#pragma once

#include <cstddef>
#include <cstdint>

// The only macros of the library: what a build may choose, and what the compiler predefines.
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

static_assert(sizeof(void*) == 8,
              "handlepool needs a machine with 64-bit pointers: each pool reserves gigabytes "
              "of address space, and computes sizes beyond 32 bits");

// EXPORT: what a shared library offers and takes, where all else is hidden: in its own build, and in programs
// that are built with -fvisibility=hidden. KEEP: stays in an object file, and through a linker's
// --gc-sections.
#if defined(__ELF__)
#define HANDLEPOOL_EXPORT [[gnu::visibility("default")]]
#define HANDLEPOOL_KEEP [[gnu::used, gnu::retain]]
#else
#define HANDLEPOOL_EXPORT
#define HANDLEPOOL_KEEP [[gnu::used]]
#endif

namespace handlepool::detail {

/// Are violations of a contract looked for at run time, and answered with a message and abort()?
inline constexpr bool checked = HANDLEPOOL_CHECKED != 0;

/// Is the program built with AddressSanitizer?
inline constexpr bool address_sanitizer = HANDLEPOOL_ADDRESS_SANITIZER != 0;

/// What two threads write often is kept this many bytes apart.
inline constexpr std::size_t cache_line = 64;

/// Asks for a cache line that will be written. On x86 the compilers' prefetch for writing is one for reading
/// unless the program is built for newer processors only: a line that another processor has is then fetched
/// twice, and the store waits for the second time. All of them know the instruction, or ignore it.
[[gnu::always_inline]] inline void prefetch_to_write(std::uintptr_t address) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
#endif
}

/// Asks for the cache line of an element of an array. A hint: the position may lie outside of the array.
/// Always inline: a function that does nothing else has no effect in the eyes of g++, which then drops calls
/// to it.
template <class Element>
[[gnu::always_inline]] inline void prefetch(const Element* first, std::size_t position,
                                            std::size_t bytes_further = 0) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(first) + position * sizeof(Element) + bytes_further;
    prefetch_to_write(address);
}

/// The same for memory that is only read, by several threads perhaps, and for an object of any size: its
/// first two cache lines.
[[gnu::always_inline]] inline void prefetch_object_to_read(const void* first, std::size_t position,
                                                           std::size_t size) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(first) + position * size;
    __builtin_prefetch(reinterpret_cast<const void*>(address));
    if (size > cache_line) {
        __builtin_prefetch(reinterpret_cast<const void*>(address + cache_line));
    }
}

} // namespace handlepool::detail
