// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/memory/poison.hpp>
#include <handlepool/detail/objects/object_addresses.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/objects/type_name.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

namespace handlepool::detail {

/// The memory of a pool's objects, by location, and what is done there with an object. T is void when the
/// objects' type is known at run time. Rows have one such array for each column; see column_arrays.hpp.
///
/// @tparam Skew bytes, at least, that are left free before the first object. Arrays that are used together
/// would otherwise all begin at the beginning of a page, and objects at one position of each compete for one
/// set of the cache.
template <class T, class Policy, std::size_t Skew = 0>
class object_array {
public:
    /// What names an object's memory, and an object.
    using pointer = T*;

    /// Reserves `size` locations; `expected` of them are likely to be used.
    object_array(const allocation_label& what_for, std::size_t size, std::size_t expected,
                 const object_type<T>& type = {})
        : type_(type),
          bytes_(what_for.part(" objects").in_steps(), free_bytes + product(size, type.stride()),
                 product(expected, type.stride()), type.alignment()) {}

    /// Once the array has its memory.
    static void placed() noexcept {}

    object_array(const object_array&) = delete;
    object_array& operator=(const object_array&) = delete;

    const object_type<T>& type() const noexcept { return type_; }

    static constexpr std::size_t column_count = 1;

    /// For programs that read this one's memory: where each column's `locations` elements are.
    void describe(described_column* columns, std::uint64_t locations) const noexcept {
        columns->elements = {
            .first = first(), .stride = static_cast<std::int64_t>(type_.stride()), .count = locations};
        if constexpr (!std::is_void_v<T>) {
            columns->type = described_text::of(type_name<T>());
        }
    }

    /// Where the objects are. Not const-correct on purpose: the pool decides who may change an object.
    object_addresses<T> places() const noexcept { return {first(), type_.stride()}; }
    T* at(location where) const noexcept { return places().at(where); }

    /// Raw memory for an object.
    void* storage(location where) const noexcept { return first() + raw(where) * type_.stride(); }

    /// Location of the object at this address; nowhere if it is outside the array.
    location location_of(const void* object) const noexcept {
        const auto first = reinterpret_cast<std::uintptr_t>(bytes_.data()) + free_bytes;
        const auto address = reinterpret_cast<std::uintptr_t>(object);
        const bool inside = address >= first && address < first + (bytes_.size() - free_bytes);
        return inside ? location{static_cast<std::uint32_t>((address - first) / type_.stride())}
                      : location::nowhere;
    }

    void destroy(location where) noexcept {
        type_.destroy(storage(where));
        poison_objects(where);
    }

    /// Moves the object at one location to another, which holds none.
    void relocate(location from, location to) noexcept {
        unpoison_objects(to);
        type_.relocate(storage(to), storage(from));
        poison_objects(from);
    }

    /// Moves the object at a location out of the array, to raw memory, or back in to a location that holds
    /// none.
    void take_out(location from, void* to) noexcept {
        type_.relocate(to, storage(from));
        poison_objects(from);
    }
    void put_in(void* from, location to) noexcept {
        unpoison_objects(to);
        type_.relocate(storage(to), from);
    }

    /// Copies the object at a location to raw memory, or to an object there, as object_type does.
    void copy_out(location from, void* to) const { type_.copy(to, storage(from)); }
    void assign_out(location from, void* to, void* spare) const { type_.assign(to, storage(from), spare); }
    /// Copies an object to a location that holds none, where copying can't fail.
    void copy_in(const void* from, location to) noexcept {
        unpoison_objects(to);
        type_.copy(storage(to), from);
    }

    /// Tells AddressSanitizer that the memory of these objects must not be used, or may be.
    void poison_objects(location first, std::size_t count = 1) noexcept {
        poison(storage(first), count, type_.stride());
    }
    void unpoison_objects(location first, std::size_t count = 1) noexcept {
        if (bytes_.data() != nullptr) { // none where the pool's memory was refused
            unpoison(storage(first), count, type_.stride());
        }
    }

    /// Prefetch the object `further` places on. Places past the end are allowed.
    void prefetch_object(location where, std::size_t further = 0) const noexcept {
        const std::size_t place = raw(where) + further;
        prefetch(bytes_.data(), free_bytes + place * type_.stride());
        if (type_.stride() > cache_line) {
            prefetch(bytes_.data(), free_bytes + place * type_.stride(), cache_line);
        }
    }

    /// Sees to it that there is memory for these objects: see virtual_memory. False when there is none.
    [[nodiscard]] bool make_ready(location first, std::size_t count) noexcept {
        if constexpr (memory_by_touch) {
            return true;
        } else {
            return bytes_.make_ready(free_bytes + raw(first) * type_.stride(),
                                     free_bytes + (raw(first) + count) * type_.stride());
        }
    }

    /// Makes the memory from one location to before another zero, and gives whole pages of it back to the
    /// system.
    void discard(std::uint32_t first, std::uint32_t last) noexcept {
        bytes_.discard(offset_of(first), offset_of(last));
    }

    /// Gives whole pages of the memory of these locations, which hold no object, back to the system.
    void release(std::uint32_t first, std::uint32_t last) noexcept {
        bytes_.release(offset_of(first), offset_of(last));
    }

    /// Asks the system for huge pages for the memory of these locations; and the first location, `place` or
    /// after it, that does not share such a page with the one before `place`. See virtual_memory.
    void prefer_huge_pages(std::uint32_t first, std::uint32_t last) noexcept {
        bytes_.prefer_huge_pages(offset_of(first), offset_of(last));
    }
    std::uint32_t end_of_huge_page(std::uint32_t first, std::uint32_t last,
                                   std::uint32_t place) const noexcept {
        const std::size_t end = bytes_.end_of_huge_page(offset_of(first), offset_of(last), offset_of(place));
        return place +
               static_cast<std::uint32_t>((end - offset_of(place) + type_.stride() - 1) / type_.stride());
    }

    memory_use memory() const noexcept { return bytes_.memory(); }

private:
    static constexpr std::size_t skew() noexcept {
        if constexpr (Skew == 0) {
            return 0;
        } else {
            return (Skew + alignof(T) - 1) / alignof(T) * alignof(T);
        }
    }
    static constexpr std::size_t free_bytes = skew();

    std::size_t offset_of(std::uint32_t place) const noexcept { return free_bytes + place * type_.stride(); }
    std::byte* first() const noexcept { return const_cast<std::byte*>(bytes_.data()) + free_bytes; }

    /// Saturates instead of overflowing; a reservation of that size fails anyway.
    static constexpr std::size_t product(std::size_t count, std::size_t stride) noexcept {
        constexpr std::size_t most = (std::numeric_limits<std::size_t>::max)() - free_bytes;
        return count > most / stride ? most : count * stride;
    }

    [[no_unique_address]] object_type<T> type_;
    typename Policy::template array<std::byte> bytes_;
};

} // namespace handlepool::detail
