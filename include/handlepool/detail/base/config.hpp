// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

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

// What compilers say in words of their own. Where a macro is empty, the compiler has no such word, or needs
// none.
//
// EXPORT: what a shared library offers and takes, where all else is hidden: in its own build, and in programs
// that are built with -fvisibility=hidden. A DLL exports all that it has.
// KEEP: stays in an object file, and through a linker's --gc-sections.
#if defined(__ELF__)
#define HANDLEPOOL_EXPORT [[gnu::visibility("default")]]
#define HANDLEPOOL_KEEP [[gnu::used, gnu::retain]]
#elif defined(__GNUC__)
#define HANDLEPOOL_EXPORT
#define HANDLEPOOL_KEEP [[gnu::used]]
#else
#define HANDLEPOOL_EXPORT
#define HANDLEPOOL_KEEP [[maybe_unused]]
#endif
#if defined(__GNUC__)
#define HANDLEPOOL_ALWAYS_INLINE [[gnu::always_inline]]
#define HANDLEPOOL_NOINLINE [[gnu::noinline]]
#elif defined(_MSC_VER)
#define HANDLEPOOL_ALWAYS_INLINE [[msvc::forceinline]]
#define HANDLEPOOL_NOINLINE [[msvc::noinline]]
#else
#define HANDLEPOOL_ALWAYS_INLINE
#define HANDLEPOOL_NOINLINE
#endif

// Does reserved memory come page by page when it is touched? Elsewhere the system must be asked first. A
// test's build may say 0 on Linux, too, for all of a program.
#ifndef HANDLEPOOL_MEMORY_BY_TOUCH
#if defined(_WIN32)
#define HANDLEPOOL_MEMORY_BY_TOUCH 0
#else
#define HANDLEPOOL_MEMORY_BY_TOUCH 1
#endif
#endif

namespace handlepool::detail {

/// Are violations of a contract looked for at run time, and answered with a message and abort()?
inline constexpr bool checked = HANDLEPOOL_CHECKED != 0;

/// Is the program built with exceptions? Without them, what would be thrown ends the program.
#ifdef __cpp_exceptions
inline constexpr bool exceptions = true;
#else
inline constexpr bool exceptions = false;
#endif

/// Is the program built with the debug mode of libstdc++, whose containers are others?
#ifdef _GLIBCXX_DEBUG
inline constexpr bool debug_containers = true;
#else
inline constexpr bool debug_containers = false;
#endif

/// Is the program built with AddressSanitizer?
inline constexpr bool address_sanitizer = HANDLEPOOL_ADDRESS_SANITIZER != 0;

/// Does reserved memory come page by page when it is touched? Elsewhere see virtual_memory::make_ready.
inline constexpr bool memory_by_touch = HANDLEPOOL_MEMORY_BY_TOUCH != 0;

/// What two threads write often is kept this many bytes apart.
inline constexpr std::size_t cache_line = 64;

/// Asks for a cache line that will be read. A hint, for any address.
HANDLEPOOL_ALWAYS_INLINE inline void prefetch_to_read(std::uintptr_t address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(reinterpret_cast<const void*>(address));
#elif defined(_M_X64)
    _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
#elif defined(_M_ARM64)
    __prefetch(reinterpret_cast<const void*>(address));
#else
    static_cast<void>(address);
#endif
}

/// Asks for a cache line that will be written. On x86 the compilers' prefetch for writing is one for reading
/// unless the program is built for newer processors only: a line that another processor has is then fetched
/// twice, and the store waits for the second time. All of them know the instruction, or ignore it.
HANDLEPOOL_ALWAYS_INLINE inline void prefetch_to_write(std::uintptr_t address) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
    asm volatile("prefetchw (%0)" : : "r"(address));
#elif defined(__GNUC__)
    __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
#elif defined(_M_X64)
    _m_prefetchw(reinterpret_cast<const void*>(address));
#else
    prefetch_to_read(address);
#endif
}

/// Asks for the cache line of an element of an array. A hint: the position may lie outside of the array.
/// Always inline: a function that does nothing else has no effect in the eyes of g++, which then drops calls
/// to it.
template <class Element>
HANDLEPOOL_ALWAYS_INLINE inline void prefetch(const Element* first, std::size_t position,
                                              std::size_t bytes_further = 0) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(first) + position * sizeof(Element) + bytes_further;
    prefetch_to_write(address);
}

/// Like prefetch(), for memory that is only read, by several threads perhaps, and for an object of any size:
/// its first two cache lines.
HANDLEPOOL_ALWAYS_INLINE inline void prefetch_object_to_read(const void* first, std::size_t position,
                                                             std::size_t size) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(first) + position * size;
    prefetch_to_read(address);
    if (size > cache_line) {
        prefetch_to_read(address + cache_line);
    }
}

} // namespace handlepool::detail
