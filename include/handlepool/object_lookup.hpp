// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/range_of.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/objects/object_addresses.hpp>
#include <handlepool/detail/slots/slot_lookup.hpp>
#include <handlepool/fwd.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace handlepool {

/// Looks up handles of one pool, which returns it by lookup(). A small value that knows where the pool's
/// tables are: in a loop they stay in registers, where the pool's own functions read them anew for each
/// handle. Serves as long as the pool lives, across compactions and in any thread. Its answers are those of
/// the pool.
///
///     const auto look = ships.lookup();
///     look.for_each(targets, [](ship& target) { target.shield -= 1; });
///
/// @tparam Object type of the objects, const for those of a const pool
template <class Handle, class Object, class Config>
class object_lookup {
    using layout = typename Config::layout;
    using value_type = typename layout::value_type;
    using places = detail::object_addresses<std::remove_const_t<Object>>;

public:
    /// The types that its functions take and return.
    using handle_type = Handle;
    using pointer = typename detail::object_access<Object>::pointer;
    using reference = typename detail::object_access<Object>::reference;

    /// Made by a pool.
    object_lookup(detail::slot_lookup<Config> table, places objects) noexcept
        : slots_(table), objects_(objects) {}

    /// Returns whether the handle's object is alive. Any thread, at any time.
    /// Progress: wait-free, constant.
    bool contains(Handle handle) const noexcept { return slots_.is_alive(handle.value()); }

    /// The handle's object, or null when the handle is stale. Any thread, within the frame contract.
    /// Progress: wait-free, constant.
    pointer find(Handle handle) const noexcept { return slots_.find(handle.value(), objects_); }

    /// Writes to `out` what find() returns for each handle of a range, and returns the end of what was
    /// written. Slots and objects are prefetched, so that the look-ups wait for memory together, and not one
    /// after the other: for many handles that are in no cache. Handles are read some 32 ahead. Any thread,
    /// within the frame contract.
    /// Progress: wait-free, linear.
    /// Throws what reading handles and writing pointers throws.
    template <detail::range_of<Handle> Range, std::output_iterator<pointer> OutputIt>
    OutputIt find(Range&& handles, OutputIt out) const {
        look_ahead(handles, [&](Handle handle) {
            *out = find(handle);
            ++out;
        });
        return out;
    }

    /// Calls `visit(object)`, or `visit(handle, object)`, for each handle of a range whose object lives when
    /// its turn comes, in their order; a raw pool's object is passed as a pointer. Returns how many. With
    /// prefetches, like find() of a range. `visit` may use the pool, also to create and erase. Any thread,
    /// within the frame contract.
    /// Progress: wait-free, linear.
    /// Throws what reading handles and `visit` throw.
    template <detail::range_of<Handle> Range, class Visit>
    std::size_t for_each(Range&& handles, Visit visit) const {
        std::size_t visited = 0;
        look_ahead(handles, [&](Handle handle) {
            if (const pointer found = find(handle)) {
                ++visited;
                call(visit, handle, found);
            }
        });
        return visited;
    }

private:
    // Between the prefetch of a slot and that of its object, and between that and the look-up.
    static constexpr std::size_t ahead = 16;

    template <class Visit>
    static void call(Visit& visit, Handle handle, pointer found) {
        if constexpr (std::is_void_v<Object>) {
            call_with(visit, handle, found);
        } else {
            call_with(visit, handle, *found);
        }
    }
    template <class Visit, class Found>
    static void call_with(Visit& visit, Handle handle, Found&& found) {
        if constexpr (std::invocable<Visit&, Handle, Found>) {
            visit(handle, std::forward<Found>(found));
        } else {
            visit(std::forward<Found>(found));
        }
    }

    /// Calls `look(handle)` for each, after its slot and its object were asked for.
    template <class Range, class Look>
    void look_ahead(Range& handles, Look look) const {
        constexpr std::size_t window = 2 * ahead;
        std::array<value_type, window>
            waiting; // those that were read last, the oldest in the next one's place
        std::size_t read = 0;
        for (auto next = std::ranges::begin(handles); next != std::ranges::end(handles); ++next) {
            const Handle handle = *next;
            value_type& place = waiting[read % window];
            if (read >= window) {
                look(Handle::from_value(place));
            }
            place = handle.value();
            slots_.prefetch_slot(place);
            if (read >= ahead) {
                slots_.prefetch_object(waiting[(read - ahead) % window], objects_);
            }
            ++read;
        }
        for (std::size_t i = read < ahead ? 0 : read - ahead; i != read; ++i) {
            slots_.prefetch_object(waiting[i % window], objects_);
        }
        for (std::size_t i = read < window ? 0 : read - window; i != read; ++i) {
            look(Handle::from_value(waiting[i % window]));
        }
    }

    detail::slot_lookup<Config> slots_;
    [[no_unique_address]] places objects_;
};

} // namespace handlepool
