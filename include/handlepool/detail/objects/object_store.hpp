// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/objects/object_array.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The memory of the objects, one array: first the dense store, which compaction alone lays out and iteration
/// reads, then the nursery's positions. An object's *location* is its place in this array, so that
/// looking one up need not know where it lives. For each position of the dense store it records whose the
/// object is. T is void when the objects' type is known at run time, and names the columns when the objects
/// are rows, which have an array for each column.
template <class T, class Policy>
class object_store : private object_array<T, Policy> {
    using array = object_array<T, Policy>;

public:
    using typename array::pointer;

    /// `capacity` positions of the dense store, and `behind` more.
    object_store(const allocation_label& what_for, std::size_t capacity, std::size_t behind,
                 std::size_t expected, const object_type<T>& of_objects = {})
        : array(what_for, capacity + behind, expected, of_objects),
          capacity_(static_cast<std::uint32_t>(capacity)),
          locations_(capacity + behind),
          last_of_huge_(
              static_cast<std::uint32_t>(least(capacity == 0 ? expected : 2 * capacity, locations_))),
          owners_(what_for.part(" owners"), capacity, expected) {}

    /// Unpoisons what was used, so that the range can be given to somebody else.
    ~object_store() { unpoison_objects(location{}, locations_); }

    object_store(const object_store&) = delete;
    object_store& operator=(const object_store&) = delete;

    /// Once the array has its memory. A nursery that a bulk load fills is touched for the first time then,
    /// and a third of the load's time went into faults of small pages. What frames take that replace less
    /// than an eighth of a full pool stays with small pages.
    void placed() noexcept {
        array::placed();
        if (capacity_ != 0) { // else the array has asked for them itself
            array::prefer_huge_pages(first_of_huge(), last_of_huge_);
        }
    }
    /// The first position from this one on whose memory does not come with that of the position before it.
    nursery_position end_of_huge_page(nursery_position from) const noexcept {
        return nursery_position{
            array::end_of_huge_page(first_of_huge(), last_of_huge_, capacity_ + raw(from)) - capacity_};
    }

    // What is done with one object.
    using array::assign_out;
    using array::at;
    using array::column_count;
    using array::copy_in;
    using array::copy_out;
    using array::describe;
    using array::destroy;
    using array::location_of;
    using array::make_ready;
    using array::places;
    using array::poison_objects;
    using array::prefetch_object;
    using array::put_in;
    using array::relocate;
    using array::storage;
    using array::take_out;
    using array::type;
    using array::unpoison_objects;

    /// Returns whether the location is in the dense store, rather than in the nursery.
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

    /// For programs that read this one's memory.
    described_array described_owners() const noexcept {
        return {.first = owners_.data(), .stride = sizeof(owners_[0]), .count = capacity_};
    }
    const void* address_of_size() const noexcept { return &size_; }

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
            used_ = greatest<std::uint32_t>(used_, size);
        }
        size_.store(size, std::memory_order::relaxed);
    }

    /// Sees to it that there is memory for `more` objects after the last one of the dense store, if the
    /// system has it. Returns for how many there is.
    std::uint32_t make_room(std::size_t more) noexcept {
        const std::uint32_t left = capacity_ - size();
        if constexpr (memory_by_touch) {
            return left;
        } else {
            const auto wanted = static_cast<std::uint32_t>(least<std::size_t>(more, left));
            // An eighth more, so that a growing store does not ask each time.
            std::uint32_t room = wanted == 0 ? 0 : least<std::uint32_t>(wanted + size() / 8, left);
            while (room != 0 && !make_ready(location{size()}, room)) {
                room = room > wanted ? wanted : room / 2;
            }
            return room;
        }
    }

    /// Slot of the object at a position, or none when it was destroyed. Relaxed: only compaction writes it.
    slot_index owner(dense_position position) const noexcept {
        return owners_[raw(position)].load(std::memory_order::relaxed);
    }
    /// Returns a function of i: the owner of the i-th position from `first` on.
    auto owners_from(dense_position first) const noexcept {
        return [owners = owners_.data() + raw(first)](std::size_t i) {
            return owners[i].load(std::memory_order::relaxed);
        };
    }
    void set_owner(dense_position position, slot_index slot) noexcept {
        owners_[raw(position)].store(slot, std::memory_order::relaxed);
    }

    /// Prefetch the owner of a position. Positions past the end are allowed.
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
    void discard(location first, location last) noexcept {
        array::release(raw(first), raw(last)); // what shares a page is not touched
        poison_objects(first, raw(last) - raw(first));
    }

    /// Forgets all objects without destroying them. Only while nobody else uses the pool.
    void reset() noexcept {
        discard_objects(0, static_cast<std::uint32_t>(locations()));
        resize(0);
        owners_.discard();
    }

    memory_use memory_of_objects() const noexcept { return array::memory(); }
    memory_use memory_of_owners() const noexcept { return owners_.memory(); }

private:
    /// Poisons again only what was used of the dense store so far: a whole reservation would take too long.
    void discard_objects(std::uint32_t first, std::uint32_t last) noexcept {
        unpoison_objects(location{first}, last - first);
        array::discard(first, last);
        if (first < used_) { // AddressSanitizer alone knows
            poison_objects(location{first}, least<std::uint32_t>(used_, last) - first);
        }
    }

    std::uint32_t first_of_huge() const noexcept { return capacity_ + capacity_ / 8; }

    std::uint32_t capacity_;
    std::size_t locations_;
    std::uint32_t
        last_of_huge_; // where a nursery, or all of a pool without a dense store, prefers huge pages
    typename Policy::template array<typename Policy::template atomic<slot_index>> owners_;
    typename Policy::template atomic<std::uint32_t> size_{0};
    typename Policy::template plain<std::uint32_t> used_{0}; // the largest size so far; compaction's
};

} // namespace handlepool::detail
