// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/marks/mark_set.hpp>
#include <handlepool/detail/marks/store_watch.hpp>
#include <handlepool/detail/marks/written_positions.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/time/frame_record.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace handlepool::detail {

/// Finds out what a frame did, by comparing the store with whose its positions were when the last frame
/// ended. It looks at *candidates* only, which are all positions that can have changed hands:
///
/// ```
///  dense     │ a b c d e f g │        positions that were vacated, or to which a sort has moved something;
///            │ a g c e h │            from the smallest size in the frame on: survivors that went, newborns
///                ▲   ▲ ▲ · ·
///  stable      bits of promoted objects that differ, and places that were vacated
/// ```
///
/// An object is known by its slot, because a slot that has an object when a frame begins has no other before
/// that one ends. *Told* are the slots of the objects that records have told of so far, and *ended*, by
/// store_watch, those of which an object has ended in this frame, a bit for each:
///
/// ```
///  at a candidate   who was there   ended: destroyed      else: moved, to where its slot says
///                   who is there    told, not ended: moved here      else: born, if it is alive
/// ```
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
    using marks_type = mark_set<policy>;

public:
    using value_type = typename layout::value_type;
    using record_type = frame_record<Handle>;
    using notes_type = frame_notes<policy>;
    using written_type = written_positions<policy>;

    /// The objects of the store are told already. So many columns have marks of their own. Throws
    /// reservation_failed and std::bad_alloc.
    frame_recorder(const allocation_label& what_for, const parts_type& parts, std::size_t columns)
        : owners_(what_for.part(" owners"), most_positions(parts), parts.geometry.capacity),
          promoted_(what_for.part(" promoted"), groups_of(most_positions(parts)), 0),
          edits_(what_for.part(" edits"), parts.geometry.slot_limit),
          told_(what_for.part(" told slots"), parts.geometry.slot_limit),
          candidates_(what_for.part(" candidates"), most_positions(parts)),
          edited_(what_for.part(" edited positions"), most_positions(parts)) {
        column_edits_.reserve(columns);
        while (column_edits_.size() != columns) {
            column_edits_.push_back(
                std::make_unique<marks_type>(what_for.part(" edits of a column"), parts.geometry.slot_limit));
        }
        const std::size_t positions = placement::positions(parts);
        candidates_.insert_range(0, positions);
        for_changed_places(parts, [](std::size_t) {});
        take_over(parts);
        begin_frame(parts);
    }

    static std::size_t most_positions(const parts_type& parts) noexcept {
        return placement::most_positions(parts);
    }

    /// Any thread that is ordered with the compactions; wait-free. The object of the slot was written.
    void mark(slot_index slot) noexcept { edits_.mark(raw(slot)); }
    /// The same, of a column of the object, if that has marks of its own.
    void mark(slot_index slot, std::size_t column) noexcept {
        if (column_edits_.empty()) {
            mark(slot);
        } else {
            column_edits_[column]->mark(raw(slot));
        }
    }

    /// Whether the object that the slot has now, also in the middle of a frame, was told of in an earlier
    /// one: then the record of this one has it in `destroyed`, if it ends.
    bool is_told(const parts_type& parts, slot_index slot) const noexcept {
        return told_.contains(raw(slot)) && !parts.watch.has_ended(slot);
    }

    /// Writes what the frame did to an empty record, and which positions were written to an empty set; then
    /// begins the next frame. Returns false if the record can't be complete, or there was no memory for it:
    /// it is empty then, and what it should have told is taken for told.
    bool end_frame(const parts_type& parts, const notes_type& notes, bool can_be_complete,
                   record_type& record, written_type& written) noexcept {
        look_for_candidates(parts, notes);
        look_for_edits(parts, notes, written);
        const bool is_complete =
            can_be_complete && capture_exception([&] { reserve(notes, record); }) == nullptr;
        if (is_complete) {
            write(parts, notes, record, written);
        } else {
            take_over(parts);
        }
        begin_frame(parts);
        return is_complete;
    }

    /// Of the store, when the last frame ended.
    std::size_t positions() const noexcept { return positions_; }

    /// The object at a position that was told of, and its handle; null where there is none.
    auto told_object_at(const parts_type& parts, std::size_t position) const noexcept {
        return owners_[position] == 0 ? typename parts_type::pointer()
                                      : parts.objects.at(placement::location_of(parts, position));
    }
    Handle told_at(std::size_t position) const noexcept { return Handle::from_value(owners_[position]); }

    /// The position of a living object, if it is in the store. Any thread.
    static std::optional<std::size_t> position_of(const parts_type& parts, value_type handle) noexcept {
        const std::size_t position = position_of(parts, slot_of(handle));
        return position == nowhere ? std::nullopt : std::optional(position);
    }

    memory_use memory() const noexcept {
        memory_use sum = memory_of(owners_, edits_, told_, candidates_, edited_, promoted_);
        for (const auto& each : column_edits_) {
            sum = sum + each->memory();
        }
        return sum;
    }

private:
    static std::uint32_t number(std::size_t position) noexcept {
        return static_cast<std::uint32_t>(position);
    }
    static constexpr std::size_t nowhere = ~std::size_t{0};

    /// The slot of the object at a position, or none.
    static slot_index owner_of(const parts_type& parts, std::size_t position) noexcept {
        return position < placement::positions(parts) ? placement::owner_of(parts, position)
                                                      : slot_index::none;
    }
    /// The handle of the slot's object, dead or alive.
    static value_type handle_in(const parts_type& parts, slot_index slot) noexcept {
        return parts.table.handle_of(slot, parts.table.last_object(parts.table.tag_to_note(slot)));
    }
    /// The position of the slot's object, if it is in the store.
    static std::size_t position_of(const parts_type& parts, slot_index slot) noexcept {
        const location where = parts.table.location_of(slot);
        if (!is_place(where)) {
            return nowhere;
        }
        const std::size_t position = placement::position_of(parts, where);
        return owner_of(parts, position) == slot ? position : nowhere;
    }
    static slot_index slot_of(value_type handle) noexcept { return slot_table<config>::slot_of(handle); }

    void look_for_candidates(const parts_type& parts, const notes_type& notes) noexcept {
        candidates_.insert_all(notes.vacated);
        if constexpr (placement::stable) {
            for_changed_places(parts, [this](std::size_t place) { candidates_.insert(place); });
        } else {
            const std::size_t positions = placement::positions(parts);
            std::size_t first = least(least(notes.fewest_positions, positions), positions_);
            if (parts.geometry.keep_order) { // all behind the first hole has moved
                notes.vacated.for_each([&](std::size_t position) { first = least(first, position); });
            }
            candidates_.insert_range(first, greatest(positions, positions_));
            candidates_.insert_all(notes.moved);
            candidates_.insert_all(notes.rewritten);
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
        if constexpr (placement::stable) {
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
    }

    void look_for_edits(const parts_type& parts, const notes_type& notes, written_type& written) noexcept {
        notes.rewritten.for_each([&](std::size_t position) {
            const slot_index slot = owner_of(parts, position);
            if (slot != slot_index::none && is_told(parts, slot)) {
                edited_.insert(position);
            }
        });
        take_marks(parts, edits_, [](std::size_t) {});
        written.insert_all(edited_);
        for (std::size_t column = 0; column != column_edits_.size(); ++column) {
            take_marks(parts, *column_edits_[column],
                       [&](std::size_t position) { written.insert(position, column); });
        }
    }
    /// Calls `write(position)` for each edited object.
    template <class Write>
    void take_marks(const parts_type& parts, marks_type& marks, Write write) noexcept {
        typename set_type::near_inserter edited(edited_);
        marks.take([&](std::size_t number_of_slot) {
            const slot_index slot{number(number_of_slot)};
            if (is_told(parts, slot)) { // so it is in the store
                const std::size_t position = placement::position_of(parts, parts.table.location_of(slot));
                prefetch(owners_.data(), position); // for the record
                edited.insert(position);
                write(position);
            }
        });
    }

    /// Room in each list for all that may be written to it. Throws std::bad_alloc.
    void reserve(const notes_type& notes, record_type& record) const {
        const std::size_t candidates = candidates_.count();
        record.born.reserve(candidates);
        record.destroyed.reserve(candidates);
        record.moved.reserve(candidates);
        record.renamed.reserve(notes.revoked.count());
        record.edited.reserve(edited_.count());
    }

    void write(const parts_type& parts, const notes_type& notes, record_type& record,
               written_type& written) noexcept {
        candidates_.for_each([&](std::size_t position) {
            const value_type before = owners_[position];
            const slot_index now = owner_of(parts, position);
            if (before != 0 && slot_of(before) == now && !parts.watch.has_ended(now)) {
                owners_[position] = renamed(parts, notes, before, position, record);
                return;
            }
            owners_[position] = 0;
            if (before != 0) {
                write_former(parts, before, position, record);
            }
            if (now != slot_index::none && !is_told(parts, now)) {
                write_newborn(parts, now, position, record);
                written.insert(position);
            }
        });
        for (auto& each : record.moved) {
            each.handle = Handle::from_value(renamed(parts, notes, each.handle.value(), each.to, record));
            owners_[each.to] = each.handle.value();
            written.insert(each.to);
        }
        finish(notes, record);
        edited_.for_each([&](std::size_t position) {
            auto& each = record.edited.emplace_back(); // made in place: twice as fast with clang
            each.handle = Handle::from_value(owners_[position]);
            each.position = number(position);
        });
    }
    /// What became of the object that was at a position.
    void write_former(const parts_type& parts, value_type handle, std::size_t position,
                      record_type& record) noexcept {
        if (parts.watch.has_ended(slot_of(handle))) {
            record.destroyed.push_back({Handle::from_value(handle), number(position)});
        } else {
            record.moved.push_back(
                {Handle::from_value(handle), number(position), number(position_of(parts, slot_of(handle)))});
        }
    }
    /// Tells of an object that came to a position, unless it is dead already.
    void write_newborn(const parts_type& parts, slot_index slot, std::size_t position,
                       record_type& record) noexcept {
        const tag_type tag = parts.table.tag_to_note(slot);
        if (layout::is_alive(tag)) {
            owners_[position] = parts.table.handle_of(slot, tag);
            record.born.push_back({Handle::from_value(owners_[position]), number(position)});
        }
    }
    /// The handle by which an object is told of from here on, which was told of by this one.
    value_type renamed(const parts_type& parts, const notes_type& notes, value_type before,
                       std::size_t position, record_type& record) noexcept {
        const slot_index slot = slot_of(before);
        if (!notes.revoked.contains(raw(slot))) {
            return before;
        }
        const value_type after = handle_in(parts, slot);
        if (after != before) {
            record.renamed.push_back(
                {Handle::from_value(before), Handle::from_value(after), number(position)});
        }
        return after;
    }
    void finish(const notes_type& notes, record_type& record) noexcept {
        for (const auto& each : record.destroyed) {
            told_.erase(raw(slot_of(each.handle.value())));
        }
        for (const auto& each : record.born) {
            told_.insert(raw(slot_of(each.handle.value())));
        }
        record.cleared = told_count_ != 0 && record.destroyed.size() == told_count_;
        told_count_ = told_count_ - record.destroyed.size() + record.born.size();
        record.size = told_count_;
        record.never_seen = notes.ended_count - record.destroyed.size();
        record.reset = notes.reset;
        record.reordered = !notes.moved.empty();
        std::sort(record.renamed.begin(), record.renamed.end(),
                  [](const auto& one, const auto& other) { return one.position < other.position; });
    }

    /// Takes who is at the candidates for told.
    void take_over(const parts_type& parts) noexcept {
        candidates_.for_each([&](std::size_t position) {
            if (const value_type before = owners_[position]; before != 0) {
                told_.erase(raw(slot_of(before)));
                --told_count_;
            }
        });
        candidates_.for_each([&](std::size_t position) {
            const slot_index now = owner_of(parts, position);
            owners_[position] = now == slot_index::none ? 0 : handle_in(parts, now);
            if (now != slot_index::none) {
                told_.insert(raw(now));
                ++told_count_;
            }
        });
    }

    void begin_frame(const parts_type& parts) noexcept {
        positions_ = placement::positions(parts);
        candidates_.clear();
        edited_.clear();
    }

    template <class Value>
    using array = typename policy::template array<typename policy::template plain<Value>>;

    array<value_type> owners_;      // of each position, the handle by which its object was told of, or zero
    array<std::uint64_t> promoted_; // of a stable pool, the bits of each group when the last frame ended
    marks_type edits_;              // slots
    std::vector<std::unique_ptr<marks_type>> column_edits_; // slots, of each column that has its own
    set_type told_;                                         // slots
    set_type candidates_;                                   // positions
    set_type edited_;                                       // positions
    std::size_t told_count_ = 0;
    std::size_t positions_ = 0; // when the last frame ended
};

} // namespace handlepool::detail
