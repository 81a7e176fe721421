#pragma once

#include <handlepool/config.hpp>

#include <cstddef>

#if HANDLEPOOL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

/// Tells AddressSanitizer which objects' memory may be used, so that a pointer kept too long is reported.
/// Does nothing in other builds.
namespace handlepool {

/// Can single objects of T be poisoned? AddressSanitizer knows memory in units of 8 bytes.
template <class T>
inline constexpr bool can_poison = address_sanitizer && sizeof(T) % 8 == 0;

template <class T>
void poison([[maybe_unused]] const T* first, [[maybe_unused]] std::size_t count = 1) noexcept {
#if HANDLEPOOL_ADDRESS_SANITIZER
    if constexpr (can_poison<T>) {
        __asan_poison_memory_region(first, count * sizeof(T));
    }
#endif
}

template <class T>
void unpoison([[maybe_unused]] const T* first, [[maybe_unused]] std::size_t count = 1) noexcept {
#if HANDLEPOOL_ADDRESS_SANITIZER
    if constexpr (can_poison<T>) {
        __asan_unpoison_memory_region(first, count * sizeof(T));
    }
#endif
}

} // namespace handlepool
