// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/placement/promoted_groups.hpp>
#include <handlepool/detail/placement/recycled_site.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/recycler.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

/// How objects begin and end in the places of a pool.
namespace handlepool::detail {

/// They are made in raw memory, and end by their destructors.
struct destroyed_objects {
    destroyed_objects() noexcept = default;
    destroyed_objects(const allocation_label&, std::size_t) noexcept {}

    template <class Objects>
    static auto memory_at(Objects& objects, location where) noexcept {
        return objects.storage(where);
    }
    template <class Objects>
    static void end_object(Objects& objects, location where) noexcept {
        objects.destroy(where);
    }
    /// Returns whether something is done at the end of an object.
    template <class Objects>
    static bool ends_objects(const Objects& objects) noexcept {
        return objects.type().has_destructor();
    }
    template <class Objects>
    static constexpr void destroy_kept(const Objects&, std::size_t, std::uint64_t) noexcept {}

    // For captures: the places of a group where an object is constructed, given those where one lives; one
    // more, or one less; and what happens to one before its destructor is called.
    static constexpr std::uint64_t constructed(std::size_t, std::uint64_t living) noexcept { return living; }
    static constexpr void note_constructed(std::uint32_t) noexcept {}
    static constexpr void note_taken_out(std::uint32_t) noexcept {}
    template <class T>
    static constexpr void clear_object(void*) noexcept {}

    static constexpr void reset() noexcept {}
    static constexpr memory_use memory() noexcept { return {}; }
};

/// They are constructed once: at its end an object is cleared, and *kept* for the next one there. A bit for
/// each place says whether an object is constructed, living or kept. It belongs to the owner of the place, a
/// shard or compaction, and goes from one to the other as the memory of the object does: so it needs no
/// memory order of its own, only that changes of others in the word leave it alone. An object's end leaves
/// the bits alone, too.
template <class Policy>
class kept_objects {
    using word = typename Policy::template atomic<std::uint64_t>;
    using bits = place_bits<Policy>;

public:
    kept_objects(const allocation_label& what_for, std::size_t groups)
        : constructed_(what_for.part(" bits of constructed objects"), groups, 0) {}

    /// Shard: what is at a place that it has taken.
    template <class Objects>
    recycled_site<word> memory_at(Objects& objects, location where) noexcept {
        const std::uint32_t place = raw(objects.nursery_position_of(where));
        return {objects.storage(where), constructed_[bits::group_of(place)], bits::of(place)};
    }

    /// Clears an object, and keeps it.
    template <class Objects>
    static void end_object(Objects& objects, location where) noexcept {
        recycler<object_of<Objects>>::clear(*objects.at(where));
        objects.poison_objects(where);
    }
    template <class Objects>
    static constexpr bool ends_objects(const Objects&) noexcept {
        return true;
    }

    /// Destroys the objects that are kept in places of a group which are free.
    template <class Objects>
    void destroy_kept(Objects& objects, std::size_t group, std::uint64_t places) noexcept {
        const std::uint64_t kept = constructed_[group].load(std::memory_order::relaxed) & places;
        bits::for_each(group, kept, [&](nursery_position place) {
            const location where = objects.location_of(place);
            objects.unpoison_objects(where);
            objects.destroy(where);
        });
        if (kept != 0) {
            constructed_[group].fetch_and(~kept, std::memory_order::relaxed);
        }
    }

    // For captures, see destroyed_objects.
    std::uint64_t constructed(std::size_t group, std::uint64_t) const noexcept {
        return constructed_[group].load(std::memory_order::relaxed);
    }
    void note_constructed(std::uint32_t place) noexcept {
        constructed_[bits::group_of(place)].fetch_or(bits::of(place), std::memory_order::relaxed);
    }
    void note_taken_out(std::uint32_t place) noexcept {
        constructed_[bits::group_of(place)].fetch_and(~bits::of(place), std::memory_order::relaxed);
    }
    template <class T>
    static void clear_object(void* object) noexcept {
        recycler<T>::clear(*std::launder(static_cast<T*>(object)));
    }

    void reset() noexcept { constructed_.discard(); }
    memory_use memory() const noexcept { return constructed_.memory(); }

private:
    template <class Objects>
    using object_of = std::remove_pointer_t<typename Objects::pointer>;

    typename Policy::template array<word> constructed_;
};

} // namespace handlepool::detail
