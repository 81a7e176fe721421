// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/marks/mark_set.hpp>
#include <handlepool/detail/marks/store_watch.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/time/frame_record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// Finds out what a frame did, by comparing the store with whose its positions were when the last frame
/// ended. It looks at *candidates* only, which are all positions that can have changed hands:
///
/// ```
///  dense     │ a b c d e f g │        holes, which the hook of destruction tells, or a sort's moves;
///            │ a g c e h │            from the smallest size in the frame on: survivors that went, newborns
///                ▲   ▲ ▲ · ·
///  stable      bits of promoted objects that differ, and holes
///
///            old side: who was there, ended or moved?     new side: who is there, moved here or born?
/// ```
///
/// An object is known by its slot, because a slot that has an object when a frame begins has no other before
/// that one ends: so *ended* slots, a bit for each, tell what became of those that were there.
///
/// The gate is closed whenever it is used, except for marks.
template <class Parts, class Handle>
class frame_recorder {
    using parts_type = Parts;
    using config = typename Parts::config;
    using layout = typename config::layout;
    using policy = typename config::policy;
    using placement = typename Parts::placement;
    using tag_type = typename layout::tag_type;
    using set_type = bit_set<policy>;

public:
    using value_type = typename layout::value_type;
    using record_type = frame_record<Handle>;
    using notes_type = frame_notes<policy>;

    /// `positions` of the store at the most. Throws reservation_failed.
    frame_recorder(const allocation_label& what_for, const parts_type& parts)
        : owners_(what_for.part(" owners"), most_positions(parts), parts.geometry.capacity),
          edits_(what_for.part(" edits"), parts.geometry.slot_limit),
          ended_(what_for.part(" ended slots"), parts.geometry.slot_limit),
          candidates_(what_for.part(" candidates"), most_positions(parts)),
          edited_(what_for.part(" edited positions"), most_positions(parts)),
          promoted_(what_for.part(" promoted"), placement::stable ? groups_of(most_positions(parts)) : 0, 0) {
        if constexpr (placement::stable) {
            for_changed_places(parts, [](std::size_t) {});
        }
        positions_ = placement::positions(parts);
        lowest_size_ = positions_;
        for (std::size_t i = 0; i != positions_; ++i) {
            owners_[i] = handle_at(parts, i);
            known_ += owners_[i] != 0 ? 1U : 0U;
        }
    }

    static std::size_t most_positions(const parts_type& parts) noexcept {
        return placement::stable ? parts.objects.locations() : parts.objects.capacity();
    }

    /// Any thread that is ordered with the compactions; wait-free. The object of the slot was written.
    void mark(slot_index slot) noexcept { edits_.mark(raw(slot)); }

    /// An object with this handle ends.
    void end(const parts_type& parts, value_type handle) noexcept {
        const slot_index slot = parts.table.slot_of(handle);
        ended_.insert(raw(slot));
        ++ended_count_;
        const location where = parts.table.location_of(slot);
        if constexpr (placement::stable) {
            candidates_.insert(raw(parts.objects.nursery_position_of(where)));
        } else if (parts.objects.is_dense(where)) {
            candidates_.insert(raw(where));
            note_size(parts.objects.size());
        }
    }

    /// Writes what the frame did to an empty record, and to an empty set which positions were written. Throws
    /// std::bad_alloc; then end_frame() takes the record for lost.
    void write(const parts_type& parts, const notes_type& notes, record_type& record, set_type& written) {
        look_for_candidates(parts, notes);
        look_for_edits(parts);
        record.reset = notes.reset;
        write_old_side(parts, record, written);
        record.cleared = known_ != 0 && record.destroyed.size() == known_;
        write_new_side(parts, record, written);
        edited_.for_each([&](std::size_t position) {
            // One that no record has told of is not told of now either. At candidates it was left out
            // already.
            const value_type handle = handle_at(parts, position);
            if (candidates_.contains(position) || was_at(position, slot_of(handle))) {
                record.edited.push_back({Handle::from_value(handle), number(position)});
                written.insert(position);
            }
        });
        record.never_seen = ended_count_ - record.destroyed.size();
        record.size = known_ - record.destroyed.size() + record.born.size();
        record.reordered = reordered_;
    }

    /// Begins the next frame with the owners that the record tells; with those of the store, if it is null.
    void end_frame(const parts_type& parts, const record_type* record) noexcept {
        if (record != nullptr) {
            take_over(*record);
        } else {
            candidates_.for_each([&](std::size_t position) {
                known_ -= owners_[position] != 0 ? 1U : 0U;
                owners_[position] = position < placement::positions(parts) ? handle_at(parts, position) : 0;
                known_ += owners_[position] != 0 ? 1U : 0U;
            });
        }
        positions_ = placement::positions(parts);
        lowest_size_ = positions_;
        ends_at_size_ = 0;
        candidates_.clear();
        edited_.clear();
        ended_.clear();
        ended_count_ = 0;
    }

    /// Of the store, when the last frame ended.
    std::size_t positions() const noexcept { return positions_; }

    /// The position of a living object, if it is in the store. Any thread.
    static std::optional<std::size_t> position_of(const parts_type& parts, value_type handle) noexcept {
        const std::size_t position = position_of(parts, slot_of(handle));
        return position == nowhere ? std::nullopt : std::optional(position);
    }

    memory_use memory() const noexcept {
        return memory_of(owners_, edits_, ended_, candidates_, edited_, promoted_);
    }

private:
    static std::uint32_t number(std::size_t position) noexcept {
        return static_cast<std::uint32_t>(position);
    }
    static constexpr std::size_t nowhere = ~std::size_t{0};

    /// The handle of the object at a position, dead or alive; zero in a hole.
    static value_type handle_at(const parts_type& parts, std::size_t position) noexcept {
        const slot_index slot = placement::owner_of(parts, position);
        return slot == slot_index::none ? 0 : handle_in(parts, slot);
    }
    static value_type handle_in(const parts_type& parts, slot_index slot) noexcept {
        return parts.table.handle_of(slot, parts.table.last_object(parts.table.tag_to_note(slot)));
    }
    /// The position of the slot's object, if it is in the store.
    static std::size_t position_of(const parts_type& parts, slot_index slot) noexcept {
        const location where = parts.table.location_of(slot);
        if (!is_place(where)) {
            return nowhere;
        }
        std::size_t position = raw(where);
        if constexpr (placement::stable) {
            position = raw(parts.objects.nursery_position_of(where));
        }
        return position < placement::positions(parts) && placement::owner_of(parts, position) == slot
                   ? position
                   : nowhere;
    }
    /// An object of a dense store of this size ends: under exclusive access the last one fills its hole at
    /// once, and others may come before the frame ends. So the smallest size is noted, or one below it.
    void note_size(std::size_t size) noexcept {
        ends_at_size_ = size == size_seen_ ? ends_at_size_ + 1 : 1;
        size_seen_ = size;
        lowest_size_ = least(lowest_size_, size - least(ends_at_size_, size));
    }

    static slot_index slot_of(value_type handle) noexcept { return slot_table<config>::slot_of(handle); }

    void look_for_candidates(const parts_type& parts, const notes_type& notes) {
        const std::size_t positions = placement::positions(parts);
        if constexpr (placement::stable) {
            for_changed_places(parts, [this](std::size_t place) { candidates_.insert(place); });
        } else {
            std::size_t first = least(lowest_size_, positions);
            if (parts.geometry.keep_order) { // all behind the first hole has moved
                candidates_.for_each([&](std::size_t position) { first = least(first, position); });
            }
            candidates_.insert_range(first, greatest(positions, positions_));
            candidates_.insert_all(notes.moved);
            reordered_ = !notes.moved.empty();
        }
        notes.revoked.for_each([&](std::size_t slot) {
            const std::size_t position = position_of(parts, slot_index{number(slot)});
            if (position != nowhere) {
                candidates_.insert(position);
            }
        });
    }

    static std::size_t groups_of(std::size_t positions) noexcept {
        if constexpr (placement::stable) {
            return (positions + placement::places::group_size - 1) / placement::places::group_size;
        } else {
            return 0;
        }
    }
    /// Calls `visit(place)` for each place whose bit has changed since the last time.
    template <class Visit>
    void for_changed_places(const parts_type& parts, Visit visit) {
        const std::size_t last = greatest(groups_of(placement::positions(parts)), groups_of(positions_));
        for (std::size_t group = 0; group != last; ++group) {
            const std::uint64_t now = parts.newborns.promoted_places()[group];
            const std::uint64_t before = promoted_[group];
            if (now != before) {
                for_each_bit(group * placement::places::group_size, now ^ before, visit);
                promoted_[group] = now;
            }
        }
    }

    void look_for_edits(const parts_type& parts) {
        edits_.take([&](std::size_t slot) {
            const std::size_t position = position_of(parts, slot_index{number(slot)});
            if (position != nowhere) {
                edited_.insert(position);
            }
        });
    }

    /// What became of those that were at the candidates.
    void write_old_side(const parts_type& parts, record_type& record, set_type& written) {
        candidates_.for_each([&](std::size_t position) {
            const value_type before = position < positions_ ? owners_[position] : 0;
            if (before == 0) {
                return;
            }
            if (ended_.contains(raw(slot_of(before)))) {
                record.destroyed.push_back({Handle::from_value(before), number(position)});
                return;
            }
            const std::size_t now = position_of(parts, slot_of(before));
            const value_type after = handle_in(parts, slot_of(before));
            if (after != before) {
                record.renamed.push_back(
                    {Handle::from_value(before), Handle::from_value(after), number(now)});
            }
            if (now != position) {
                record.moved.push_back({Handle::from_value(after), number(position), number(now)});
                written.insert(now);
            }
        });
    }

    /// Who is at the candidates now and was nowhere.
    void write_new_side(const parts_type& parts, record_type& record, set_type& written) {
        const std::size_t positions = placement::positions(parts);
        candidates_.for_each([&](std::size_t position) {
            const slot_index slot =
                position < positions ? placement::owner_of(parts, position) : slot_index::none;
            if (slot == slot_index::none || written.contains(position)) {
                return; // a hole, or moved here
            }
            if (was_at(position, slot) && !ended_.contains(raw(slot))) {
                return;
            }
            written.insert(position);
            edited_.erase(position);
            const tag_type tag = parts.table.tag_to_note(slot);
            if (layout::is_alive(tag)) {
                record.born.push_back(
                    {Handle::from_value(parts.table.handle_of(slot, tag)), number(position)});
            }
        });
    }

    /// Whether the slot's object was at a position when the last frame ended.
    bool was_at(std::size_t position, slot_index slot) const noexcept {
        return position < positions_ && owners_[position] != 0 && slot_of(owners_[position]) == slot;
    }

    void take_over(const record_type& record) noexcept {
        for (const auto& each : record.destroyed) {
            owners_[each.position] = 0;
        }
        for (const auto& each : record.moved) {
            owners_[each.from] = 0;
        }
        for (const auto& each : record.moved) {
            owners_[each.to] = each.handle.value();
        }
        for (const auto& each : record.renamed) {
            owners_[each.position] = each.after.value();
        }
        for (const auto& each : record.born) {
            owners_[each.position] = each.handle.value();
        }
        known_ = record.size;
    }

    typename policy::template array<value_type> owners_; // the handles of those that were at each position
    mark_set<policy> edits_;                             // slots
    set_type ended_;                                     // slots
    set_type candidates_;                                // positions
    set_type edited_;                                    // positions
    typename policy::template array<typename policy::template plain<std::uint64_t>>
        promoted_;                 // of a stable pool, the bits of each group then
    std::size_t positions_ = 0;    // when the last frame ended
    std::size_t lowest_size_ = 0;  // of a dense store, since then
    std::size_t size_seen_ = 0;    // of a dense store, by the last object that ended
    std::size_t ends_at_size_ = 0; // and by how many others
    std::size_t known_ = 0;        // objects that there were then
    std::size_t ended_count_ = 0;
    bool reordered_ = false;
};

} // namespace handlepool::detail
