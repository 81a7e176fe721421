// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace handlepool::detail {

/// The slot table as of the latest capture, and which handles no restore can undo. A change is taken back by
/// its former words:
///
/// ```
///   capture 4 ──changes of 5──▶ capture 5 ──changes of 6──▶ capture 6 = the words here
///             ◀──── undo() ─────           ◀──── undo() ─────
/// ```
template <class Config>
class captured_slots {
    using policy = typename Config::policy;
    using layout = typename Config::layout;
    using tag_type = typename layout::tag_type;
    using value_type = typename layout::value_type;
    using table_type = slot_table<Config>;

public:
    using words_type = slot_words<tag_type>;

    /// A slot that differs between two captures.
    struct change {
        slot_index slot;
        words_type before;
        words_type after;
    };

    /// Throws reservation_failed.
    captured_slots(const allocation_label& what_for, std::size_t slot_limit, bool undone_stay_stale)
        : words_(what_for.part(" slots"), slot_limit, 0),
          given_out_(what_for.part(" confirmed slots"), slot_limit, 0),
          undone_(what_for.part(" undone handles"), undone_stay_stale ? slot_limit : 0, 0),
          looked_at_(what_for.part(" changed slots"), slot_limit) {}

    /// The slot may differ from the latest capture.
    void look_at(slot_index slot) noexcept { looked_at_.insert(raw(slot)); }
    void look_at_all(std::size_t count) noexcept { looked_at_.insert_range(0, count); }
    void look_at_reserved() noexcept {
        for (const slot_index slot : reserved_) {
            look_at(slot);
        }
    }
    void look_at_none() noexcept { looked_at_.clear(); }

    /// Calls `visit(slot)` for those that may differ.
    template <class Visit>
    void for_each_looked_at(Visit visit) const {
        looked_at_.for_each([&](std::size_t slot) { visit(slot_index{static_cast<std::uint32_t>(slot)}); });
    }

    const words_type& captured(slot_index slot) const noexcept { return words_[raw(slot)]; }

    /// Adds what differs from the latest capture. Throws std::bad_alloc.
    void compare(const table_type& table, tag_type fresh_tag, std::vector<change>& changes) {
        next_reserved_.clear();
        for_each_looked_at([&](slot_index slot) {
            const words_type now = table.words_of(slot);
            if (now != captured(slot)) {
                changes.push_back({.slot = slot, .before = captured(slot), .after = now});
            }
            if (table_type::is_reserved(now, fresh_tag)) {
                next_reserved_.push_back(slot);
            }
        });
    }
    /// What compare() has found is the latest capture now.
    void commit(const std::vector<change>& changes) noexcept {
        for (const change& each : changes) {
            words_[raw(each.slot)] = each.after;
        }
        reserved_.swap(next_reserved_);
    }
    /// The capture before these changes is the latest one.
    void undo(const std::vector<change>& changes) noexcept {
        for (const change& each : changes) {
            words_[raw(each.slot)] = each.before;
            look_at(each.slot);
        }
    }
    /// Notes which slots were reserved at the latest capture, after undo(). Throws std::bad_alloc.
    void find_reserved(tag_type fresh_tag) {
        next_reserved_.clear();
        for_each_looked_at([&](slot_index slot) {
            if (table_type::is_reserved(captured(slot), fresh_tag)) {
                next_reserved_.push_back(slot);
            }
        });
        reserved_.swap(next_reserved_);
    }

    /// The changes of a capture can't be undone any more.
    void confirm(const std::vector<change>& changes, tag_type fresh_tag) noexcept {
        for (const change& each : changes) {
            given_out_[raw(each.slot)] = end_of_given_out(each.after, fresh_tag);
        }
    }
    bool is_confirmed(value_type handle, tag_type fresh_tag) const noexcept {
        const std::size_t slot = raw(table_type::slot_of(handle));
        const tag_type tag = layout::tag_of(handle);
        return slot < given_out_.size() && layout::is_alive(tag) &&
               (tag < given_out_[slot] || tag < fresh_tag);
    }

    /// Calls `visit(handle)` for each handle that a slot has given out and had not at the latest capture, but
    /// for those of which the restore before has told, and which stay stale.
    template <class Visit>
    void for_each_undone(const table_type& table, slot_index slot, tag_type fresh_tag, Visit visit) const {
        const tags told = undone_.size() == 0 ? tags() : tags{undone_[raw(slot)]};
        for (tag_type tag = end_of_given_out(captured(slot), fresh_tag),
                      end = end_of_given_out(table.words_of(slot), fresh_tag);
             tag < end; ++tag) {
            if (layout::is_alive(tag) && (tag < told.first || tag >= told.last)) {
                visit(table_type::handle_of(slot, tag));
            }
        }
    }

    /// Takes the slot back to the latest capture. Where it has no handle that is valid or reserved, it goes
    /// on above its floor, which is above all handles that it has given out if they are to stay stale.
    void restore(table_type& table, slot_index slot, tag_type fresh_tag) noexcept {
        words_type words = captured(slot);
        const tag_type first = end_of_given_out(words, fresh_tag);
        const tag_type last = end_of_given_out(table.words_of(slot), fresh_tag);
        if (undone_.size() != 0 && first < last) {
            table.raise_floor(slot, floor_of(last));
            undone_[raw(slot)] = tags{first, last};
        }
        if (!layout::is_alive(words.tag) && !table_type::is_reserved(words, fresh_tag)) {
            words.tag = greatest(words.tag, table.floor(slot));
        }
        table.restore(slot, words);
    }
    /// Returns a slot that has no generation left for such a floor, if there is one: of those that are to
    /// become what they were at the latest capture, or before these changes.
    std::optional<slot_index> find_used_up(const table_type& table, tag_type fresh_tag) const noexcept {
        std::optional<slot_index> found;
        for_each_looked_at([&](slot_index slot) {
            if (is_used_up(table, slot, captured(slot), fresh_tag)) {
                found = slot;
            }
        });
        return found;
    }
    static std::optional<slot_index> find_used_up(const table_type& table, tag_type fresh_tag,
                                                  std::span<const change> changes) noexcept {
        std::optional<slot_index> found;
        for (const change& each : changes) {
            if (is_used_up(table, each.slot, each.before, fresh_tag)) {
                found = each.slot;
            }
        }
        return found;
    }

    memory_use memory() const noexcept {
        const std::size_t bytes = (reserved_.capacity() + next_reserved_.capacity()) * sizeof(slot_index);
        return memory_of(words_, given_out_, undone_, looked_at_) +
               memory_use{.reserved = bytes, .resident = bytes};
    }

private:
    /// From the first to before the last.
    struct tags {
        tag_type first{};
        tag_type last{};
    };

    /// Handles of the slot with tags below this were given out, for an object or reserved; no others.
    static tag_type end_of_given_out(const words_type& words, tag_type fresh_tag) noexcept {
        const tag_type tag = table_type::tag_or_fresh(words, fresh_tag);
        return tag + (layout::is_alive(tag) || table_type::is_reserved(words, fresh_tag) ? 2 : 0);
    }
    static bool is_used_up(const table_type& table, slot_index slot, const words_type& then,
                           tag_type fresh_tag) noexcept {
        const tag_type end = end_of_given_out(table.words_of(slot), fresh_tag);
        return end_of_given_out(then, fresh_tag) < end &&
               layout::generation_of(floor_of(end)) > layout::last_generation;
    }
    /// The tag of a slot without an object from which on no handle has been given out.
    static tag_type floor_of(tag_type end_of_given_out) noexcept { return end_of_given_out & ~tag_type{1}; }

    template <class Value>
    using array = typename policy::template array<typename policy::template plain<Value>>;

    array<words_type> words_;
    array<tag_type> given_out_;
    array<tags> undone_; // by the latest restore of the slot, if they stay stale
    bit_set<policy> looked_at_;
    std::vector<slot_index> reserved_; // at the latest capture
    std::vector<slot_index> next_reserved_;
};

} // namespace handlepool::detail
