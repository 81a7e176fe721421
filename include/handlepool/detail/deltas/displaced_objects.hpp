// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/deltas/pool_delta.hpp>
#include <handlepool/detail/objects/object_buffer.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/parts/pool_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::detail {

/// Objects of a replica's pool that may be elsewhere than in the origin: those that a compaction here has
/// moved into the gaps of others, and those that a delta moves. Where one belongs another may be, and so all
/// are taken out before any is put in.
///
/// ```
///   make_room() ──▶ note_gaps() ──▶ objects end, compaction ──▶ note_displaced() ──▶ move()
///    can fail                                                                       can't fail
/// ```
template <class T, class Config>
class displaced_objects {
    using parts_type = pool_state<T, Config>;
    using placement = typename parts_type::placement;

public:
    explicit displaced_objects(const object_type<T>& type) noexcept : moving_(type) {}

    /// Forgets all, and has room for what the delta displaces in a pool of so many objects. Throws
    /// std::bad_alloc.
    void make_room(const parts_type& parts, const pool_delta& delta, std::size_t objects) {
        const std::size_t most_displaced =
            parts.geometry.keep_order && !delta.gone.empty() ? objects : delta.gone.size();
        gaps_.clear();
        gaps_.reserve(delta.gone.size());
        slots_.clear();
        slots_.reserve(delta.moved.size() + most_displaced);
        moving_.reserve(delta.moved.size() + most_displaced);
    }

    /// The objects of these slots are about to end.
    void note_gaps(const parts_type& parts, const std::vector<std::uint32_t>& gone) noexcept {
        for (const std::uint32_t slot : gone) { // there is room
            gaps_.push_back(placement::position_of(parts, parts.table.location_of(slot_index{slot})));
        }
    }
    /// A compaction has closed these gaps: notes who may have moved for that. There must be some.
    void note_displaced(const parts_type& parts) noexcept {
        if constexpr (!placement::stable) {
            const std::size_t size = parts.objects.size();
            const auto note = [&](std::size_t position) {
                slots_.push_back(
                    raw(parts.objects.owner(dense_position{static_cast<std::uint32_t>(position)})));
            };
            if (parts.geometry.keep_order) {
                for (std::size_t i = *std::min_element(gaps_.begin(), gaps_.end()); i < size; ++i) {
                    note(i);
                }
            } else {
                for (const std::size_t gap : gaps_) {
                    if (gap < size) {
                        note(gap);
                    }
                }
            }
        }
    }

    /// Moves those, and the objects of the slots `moved`, to where they belong, as `place_of(slot)` says.
    /// Calls `put_in(slot, location)` for each that was elsewhere.
    template <class PlaceOf, class PutIn>
    void move(parts_type& parts, const std::vector<std::uint32_t>& moved, PlaceOf place_of,
              PutIn put_in) noexcept {
        slots_.insert(slots_.end(), moved.begin(), moved.end()); // there is room
        std::size_t moving = 0;
        for (const std::uint32_t slot : slots_) {
            const location where = parts.table.location_of(slot_index{slot});
            if (is_place(where) && where != place_of(slot)) {
                parts.objects.take_out(where, moving_.next());
                moving_.add();
                parts.table.set_location(slot_index{slot}, location::nowhere);
                slots_[moving++] = slot;
            }
        }
        for (std::size_t i = 0; i != moving; ++i) {
            const location where = place_of(slots_[i]);
            parts.objects.put_in(moving_.at(i), where);
            parts.table.set_location(slot_index{slots_[i]}, where);
            put_in(slots_[i], where);
        }
        moving_.forget();
    }

private:
    std::vector<std::size_t> gaps_;    // where those were that are gone
    std::vector<std::uint32_t> slots_; // of objects that may be elsewhere than they belong
    object_buffer<T> moving_;
};

} // namespace handlepool::detail
