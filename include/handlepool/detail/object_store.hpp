#pragma once

#include <handlepool/detail/config.hpp>
#include <handlepool/detail/min_max.hpp>
#include <handlepool/detail/numbers.hpp>
#include <handlepool/detail/object_type.hpp>
#include <handlepool/detail/poison.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

namespace handlepool::detail {

/// The memory of the objects, one array: first the dense store, which compaction alone lays out and iteration
/// reads, then the nursery's positions. An object's *location* is its place in this array, so that
/// looking one up need not know where it lives. For each position of the dense store it records whose the
/// object is. T is void when the objects' type is known at run time.
template <class T, class Policy>
class object_store {
public:
    /// `capacity` positions of the dense store, and `behind` more.
    object_store(std::string_view what_for, std::size_t capacity, std::size_t behind, std::size_t expected,
                 const object_type<T>& type = {})
        : type_(type),
          capacity_(static_cast<std::uint32_t>(capacity)),
          locations_(capacity + behind),
          bytes_(std::string(what_for) + " objects", product(locations_, type.stride()),
                 product(expected, type.stride()), type.alignment()),
          owners_(std::string(what_for) + " owners", capacity, expected) {}

    /// Unpoisons what was used, so that the range can be given to somebody else.
    ~object_store() { unpoison_objects(location{}, locations_); }

    object_store(const object_store&) = delete;
    object_store& operator=(const object_store&) = delete;

    /// Not const-correct on purpose: the pool decides who may change an object.
    T* at(location where) const noexcept {
        if constexpr (std::is_void_v<T>) {
            return storage(where);
        } else {
            return std::launder(static_cast<T*>(storage(where)));
        }
    }

    /// Raw memory for an object.
    void* storage(location where) const noexcept {
        return const_cast<std::byte*>(bytes_.data()) + raw(where) * type_.stride();
    }

    /// Location of the object at this address; nowhere if it is outside the array.
    location location_of(const void* object) const noexcept {
        const auto first = reinterpret_cast<std::uintptr_t>(bytes_.data());
        const auto address = reinterpret_cast<std::uintptr_t>(object);
        const bool inside = address >= first && address < first + bytes_.size();
        return inside ? location{static_cast<std::uint32_t>((address - first) / type_.stride())}
                      : location::nowhere;
    }

    /// Is this location in the dense store, rather than in the nursery?
    bool is_dense(location where) const noexcept { return raw(where) < capacity_; }
    /// The position of the dense store, or of the nursery, that a location is.
    static dense_position dense_position_of(location where) noexcept { return dense_position{raw(where)}; }
    nursery_position nursery_position_of(location where) const noexcept {
        return nursery_position{raw(where) - capacity_};
    }
    /// The location of a position.
    static location location_of(dense_position position) noexcept { return location{raw(position)}; }
    location location_of(nursery_position position) const noexcept {
        return location{capacity_ + raw(position)};
    }

    const object_type<T>& type() const noexcept { return type_; }

    std::uint32_t capacity() const noexcept { return capacity_; }
    std::size_t locations() const noexcept { return locations_; }

    /// Objects in the dense store.
    std::uint32_t size() const noexcept { return size_.load(std::memory_order::relaxed); }
    /// No object lives past the new size: all of that is poisoned together, small objects too.
    void resize(std::uint32_t size) noexcept {
        if constexpr (address_sanitizer) {
            if (size < this->size()) {
                poison_objects(location{size}, this->size() - size);
            }
        }
        size_.store(size, std::memory_order::relaxed);
        used_ = max<std::uint32_t>(used_, size);
    }

    /// Slot of the object at a position, or none when it was destroyed. Relaxed: only compaction writes it.
    slot_index owner(dense_position position) const noexcept {
        return owners_[raw(position)].load(std::memory_order::relaxed);
    }
    void set_owner(dense_position position, slot_index slot) noexcept {
        owners_[raw(position)].store(slot, std::memory_order::relaxed);
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

    /// Moves the object at a location out of the store, to raw memory, or back in to a location that holds
    /// none.
    void take_out(location from, void* to) noexcept {
        type_.relocate(to, storage(from));
        poison_objects(from);
    }
    void put_in(void* from, location to) noexcept {
        unpoison_objects(to);
        type_.relocate(storage(to), from);
    }

    /// Tells AddressSanitizer that the memory of these objects must not be used, or may be.
    void poison_objects(location first, std::size_t count = 1) noexcept {
        poison(storage(first), count, type_.stride());
    }
    void unpoison_objects(location first, std::size_t count = 1) noexcept {
        unpoison(storage(first), count, type_.stride());
    }

    /// Prefetch the object `further` places on, and the owner of a position. Places past the end are allowed.
    void prefetch_object(location where, std::size_t further = 0) const noexcept {
        const std::size_t place = raw(where) + further;
        prefetch(bytes_.data(), place * type_.stride());
        if (type_.stride() > cache_line) {
            prefetch(bytes_.data(), place * type_.stride(), cache_line);
        }
    }
    void prefetch_owner(dense_position position) const noexcept { prefetch(owners_.data(), raw(position)); }

    /// Gives the memory after the last object of the dense store back to the system, but not that of the
    /// nursery, where other threads are at work.
    void shrink() noexcept {
        if (size() != capacity_) {
            discard_objects(size(), capacity_);
            owners_.discard(size(), capacity_);
        }
    }

    /// Gives the memory of locations that hold no object back to the system.
    void discard(location first, location last) noexcept { discard_objects(raw(first), raw(last)); }

    /// Forgets all objects without destroying them. Only while nobody else uses the pool.
    void reset() noexcept {
        discard_objects(0, static_cast<std::uint32_t>(locations()));
        resize(0);
        owners_.discard();
    }

    memory_use memory_of_objects() const noexcept { return bytes_.memory(); }
    memory_use memory_of_owners() const noexcept { return owners_.memory(); }

private:
    /// Poisons again only what was used of the dense store so far: a whole reservation would take too long.
    void discard_objects(std::uint32_t first, std::uint32_t last) noexcept {
        unpoison_objects(location{first}, last - first);
        bytes_.discard(first * type_.stride(), last * type_.stride());
        if (first < used_) {
            poison_objects(location{first}, min<std::uint32_t>(used_, last) - first);
        }
    }

    /// Saturates instead of overflowing; a reservation of that size fails anyway.
    static constexpr std::size_t product(std::size_t count, std::size_t stride) noexcept {
        constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
        return count > most / stride ? most : count * stride;
    }

    [[no_unique_address]] object_type<T> type_;
    std::uint32_t capacity_;
    std::size_t locations_;
    typename Policy::template array<std::byte> bytes_;
    typename Policy::template array<typename Policy::template atomic<slot_index>> owners_;
    typename Policy::template atomic<std::uint32_t> size_{0};
    typename Policy::template plain<std::uint32_t> used_{0}; // the largest size so far; compaction's
};

} // namespace handlepool::detail
