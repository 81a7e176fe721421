#pragma once

#include <handlepool/config.hpp>
#include <handlepool/poison.hpp>
#include <handlepool/slot_table.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace handlepool {

/// The memory of the objects, one array: first the dense store, which compaction alone lays out and iteration
/// reads, behind it the nursery's positions. An object's *location* is its place in this array, so that
/// looking one up need not know where it lives. For each position of the dense store it records whose the
/// object is.
template <class T, class Policy>
class dense_store {
public:
    /// `capacity` positions of the dense store, and `behind` more.
    dense_store(std::string_view what_for, std::size_t capacity, std::size_t behind, std::size_t expected)
        : capacity_(static_cast<std::uint32_t>(capacity)),
          objects_(std::string(what_for) + " objects", capacity + behind, expected),
          owners_(std::string(what_for) + " owners", capacity, expected) {}

    /// Unpoisons what was used, so that the range can be given to somebody else.
    ~dense_store() {
        if constexpr (can_poison<T>) {
            unpoison(at(0), objects_.size());
        }
    }

    dense_store(const dense_store&) = delete;
    dense_store& operator=(const dense_store&) = delete;

    T* at(std::uint32_t location) noexcept { return std::launder(reinterpret_cast<T*>(&objects_[location])); }
    const T* at(std::uint32_t location) const noexcept {
        return std::launder(reinterpret_cast<const T*>(&objects_[location]));
    }

    /// Raw memory for an object.
    void* memory(std::uint32_t location) noexcept { return &objects_[location]; }

    /// Location of an object of the array, or its size when the object is none of it.
    std::size_t location_of(const T& object) const noexcept {
        const auto first = reinterpret_cast<std::uintptr_t>(objects_.data());
        const auto address = reinterpret_cast<std::uintptr_t>(std::addressof(object));
        const bool inside = address >= first && address < first + objects_.size() * sizeof(T);
        return inside ? (address - first) / sizeof(T) : objects_.size();
    }

    /// Where the nursery's positions begin.
    std::uint32_t capacity() const noexcept { return capacity_; }
    std::size_t locations() const noexcept { return objects_.size(); }

    /// Objects in the dense store.
    std::uint32_t size() const noexcept { return size_.load(std::memory_order::relaxed); }
    void resize(std::uint32_t size) noexcept {
        size_.store(size, std::memory_order::relaxed);
        used_ = std::max(used_, size);
    }

    /// Slot of the object at a position, or no_slot when it was destroyed. Relaxed: only compaction writes
    /// it.
    std::uint32_t owner(std::uint32_t position) const noexcept {
        return owners_[position].load(std::memory_order::relaxed);
    }
    void set_owner(std::uint32_t position, std::uint32_t slot) noexcept {
        owners_[position].store(slot, std::memory_order::relaxed);
    }

    void destroy(std::uint32_t location) noexcept {
        std::destroy_at(at(location));
        poison(at(location));
    }

    /// Moves the object at one location to another, which holds none.
    void relocate(std::uint32_t from, std::uint32_t to) noexcept {
        unpoison(at(to));
        if constexpr (std::is_trivially_copyable_v<T>) {
            std::memcpy(memory(to), memory(from), sizeof(T));
        } else {
            std::construct_at(static_cast<T*>(memory(to)), std::move(*at(from)));
            std::destroy_at(at(from));
        }
        poison(at(from));
    }

    /// A hint: any location will do.
    void prefetch_object(std::uint32_t location) const noexcept {
        prefetch(objects_.data(), location);
        if constexpr (sizeof(T) > cache_line) {
            prefetch(objects_.data(), location, cache_line);
        }
    }
    void prefetch_owner(std::uint32_t position) const noexcept { prefetch(owners_.data(), position); }

    /// Gives the memory behind the last object of the dense store back to the system, but not that of the
    /// nursery, where other threads are at work.
    void shrink() noexcept {
        if (size() != capacity_) {
            discard_objects(size(), capacity_);
            owners_.discard(size(), capacity_);
        }
    }

    /// Forgets all objects without destroying them. Only while nobody else uses the pool.
    void discard() noexcept {
        discard_objects(0, static_cast<std::uint32_t>(locations()));
        resize(0);
        owners_.discard();
    }

    std::size_t object_bytes_resident() const noexcept { return objects_.bytes_resident(); }
    std::size_t owner_bytes_resident() const noexcept { return owners_.bytes_resident(); }
    std::size_t bytes_reserved() const noexcept {
        return objects_.bytes_reserved() + owners_.bytes_reserved();
    }

private:
    /// What was used of the dense store is poisoned again afterwards; a whole reservation would take too
    /// long.
    void discard_objects(std::uint32_t first, std::uint32_t last) noexcept {
        unpoison(at(first), last - first);
        objects_.discard(first, last);
        if (first < used_) {
            poison(at(first), std::min(used_, last) - first);
        }
    }

    struct alignas(T) cell {
        std::byte bytes[sizeof(T)];
    };

    std::uint32_t capacity_;
    typename Policy::template array<cell> objects_;
    typename Policy::template array<typename Policy::template atomic<std::uint32_t>> owners_;
    typename Policy::template atomic<std::uint32_t> size_{0};
    std::uint32_t used_ = 0; // the largest size so far; compaction's
};

} // namespace handlepool
