// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>

#include <cstddef>
#include <cstdint>

#if HANDLEPOOL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif
#endif

/// Tells AddressSanitizer which objects' memory may be used, so that a pointer kept too long is reported.
/// Does nothing in other builds.
///
/// AddressSanitizer knows memory in *units* of 8 bytes, and keeps one byte for each, which is written without
/// atomicity, zero for a unit that is open. Neighbours of an array may share a unit, and belong to different
/// threads. So a unit is closed only when it lies whole in the objects to be closed, which nobody else may
/// touch meanwhile, and all units are opened in which the objects lie: whoever lives has all of its units
/// open, and two threads write to the same unit's byte only to open it, both the same.
namespace handlepool::detail {

inline constexpr std::size_t poison_unit = 8;

/// Is at least a part of each object of this size seen when it alone is poisoned, wherever in an array it
/// lies? It holds a whole unit then. Of other sizes only some are seen, and those that were poisoned together
/// with their neighbours.
constexpr bool can_poison(std::size_t size) noexcept {
    // It begins at a multiple of the largest power of two in its size, so that fewer bytes of it than a unit
    // without that power come before the first whole unit.
    const std::size_t step = least(size & (~size + 1), poison_unit);
    return address_sanitizer && size >= 2 * poison_unit - step;
}

#if HANDLEPOOL_ADDRESS_SANITIZER

/// Opens units. Where they are many, whole pages of the bytes that are kept for them go back to the system,
/// which gives them back as zeros, so as open: writing them would take memory for an eighth of what may be a
/// large reservation, and so would reading them on some systems.
inline void unpoison_units(std::uintptr_t first, std::uintptr_t last) noexcept {
#ifdef __linux__
    constexpr std::uintptr_t many_bytes = std::uintptr_t{1} << 20;
    if (last - first > many_bytes) {
        std::size_t scale = 0;
        std::size_t offset = 0;
        __asan_get_shadow_mapping(&scale, &offset);
        const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        const std::uintptr_t first_page = ((first >> scale) + offset + page - 1) / page * page;
        const std::uintptr_t last_page = ((last >> scale) + offset) / page * page;
        if (::madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_DONTNEED) == 0) {
            unpoison_units(first, (first_page - offset) << scale);
            unpoison_units((last_page - offset) << scale, last);
            return;
        }
    }
#endif
    __asan_unpoison_memory_region(reinterpret_cast<const void*>(first), last - first);
}

#endif

/// The memory of `count` objects of this size, neighbours, must not be used.
inline void poison([[maybe_unused]] const void* first, [[maybe_unused]] std::size_t count,
                   [[maybe_unused]] std::size_t size) noexcept {
#if HANDLEPOOL_ADDRESS_SANITIZER
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    const std::uintptr_t first_unit = (begin + poison_unit - 1) / poison_unit * poison_unit;
    const std::uintptr_t last_unit = (begin + count * size) / poison_unit * poison_unit;
    if (first_unit < last_unit) {
        __asan_poison_memory_region(reinterpret_cast<const void*>(first_unit), last_unit - first_unit);
    }
#endif
}

/// The memory of these objects may be used.
inline void unpoison([[maybe_unused]] const void* first, [[maybe_unused]] std::size_t count,
                     [[maybe_unused]] std::size_t size) noexcept {
#if HANDLEPOOL_ADDRESS_SANITIZER
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    const std::uintptr_t first_unit = begin / poison_unit * poison_unit;
    const std::uintptr_t last_unit = (begin + count * size + poison_unit - 1) / poison_unit * poison_unit;
    unpoison_units(first_unit, last_unit);
#endif
}

} // namespace handlepool::detail
