#pragma once

#include <handlepool/config.hpp>

#include <cstddef>

#if HANDLEPOOL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

/// Tells AddressSanitizer which objects' memory may be used, so that a pointer kept too long is reported.
/// Does nothing in other builds.
namespace handlepool {

/// Can single objects of this size be poisoned? AddressSanitizer knows memory in units of 8 bytes.
constexpr bool can_poison(std::size_t size) noexcept {
    return address_sanitizer && size % 8 == 0;
}

/// The memory of `count` objects of this size must not be used.
inline void poison([[maybe_unused]] const void* first, [[maybe_unused]] std::size_t count,
                   [[maybe_unused]] std::size_t size) noexcept {
#if HANDLEPOOL_ADDRESS_SANITIZER
    if (can_poison(size)) {
        __asan_poison_memory_region(first, count * size);
    }
#endif
}

/// It may be used.
inline void unpoison([[maybe_unused]] const void* first, [[maybe_unused]] std::size_t count,
                     [[maybe_unused]] std::size_t size) noexcept {
#if HANDLEPOOL_ADDRESS_SANITIZER
    if (can_poison(size)) {
        __asan_unpoison_memory_region(first, count * size);
    }
#endif
}

} // namespace handlepool
