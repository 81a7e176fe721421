// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/objects/object_buffer.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/time/object_versions.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace handlepool::detail {

/// The dense store as of the latest capture: of each position the version of its object, and the slot.
/// A capture copies the objects of the positions that were written, each once; the former version stays, as
/// long as a capture has it:
///
/// ```
///              position 7                          capture 6 copies the object: version 3 → 9
///   versions   1 … 3 … 9                           capture 6 has the change    (7, 3)
///              latest: 9 ── undo ──▶ 3             restored to 5: position 7 is a copy of version 3
/// ```
template <class T, class Parts>
class captured_objects {
    using policy = typename Parts::policy;
    using versions_type = object_versions<T>;

    static constexpr std::size_t copies_ahead = 8;

    // Copied straight to their places: nothing can fail on the way.
    static constexpr bool copies_in_place = object_type<T>::copies_nothrow;

public:
    /// What stands at a position.
    struct place {
        std::uint32_t version = versions_type::none; // if there is an object
        slot_index slot{};
    };
    /// A position, and what stood there before; or in a capture that is being made, what stands there.
    struct change {
        std::uint32_t position = 0;
        place other;
    };

    /// Throws reservation_failed.
    captured_objects(const allocation_label& what_for, std::size_t positions, const object_type<T>& type)
        : places_(what_for.part(" positions"), positions, 0),
          looked_at_(what_for.part(" changed positions"), positions),
          type_(type),
          versions_(type),
          prepared_(type),
          former_(type) {}

    std::size_t size() const noexcept { return size_; }

    /// The position may differ from the latest capture.
    void look_at(std::size_t first, std::size_t last) noexcept { looked_at_.insert_range(first, last); }
    void look_at_none() noexcept { looked_at_.clear(); }

    /// Calls `visit(position)` for those that may differ.
    template <class Visit>
    void for_each_looked_at(Visit visit) const {
        looked_at_.for_each(visit);
    }

    /// Copies what may differ from the latest capture, and writes it to `changes`, which is empty. Throws
    /// std::bad_alloc, and what copying throws; then discard() gives up what it has written.
    void compare(const Parts& parts, std::vector<change>& changes) {
        changes.reserve(looked_at_.count());
        looked_at_.for_each([&](std::size_t position) { add_change(parts, position, changes); });
        copy(parts, changes);
    }
    /// Instead of commit(); or after it, when nobody undoes the changes any more.
    void discard(std::vector<change>& changes) noexcept {
        for (const change& each : changes) {
            give_back(each.other.version);
        }
        changes.clear();
    }
    /// What compare() has written is the latest capture, of a store of this size; `changes` are how it was
    /// before.
    void commit(std::vector<change>& changes, std::size_t size) noexcept {
        for (change& each : changes) {
            place& there = places_[each.position];
            const place before = there;
            there = each.other;
            each.other = before;
        }
        size_ = size;
    }
    /// The capture before these changes, of a store of this size, is the latest one.
    void undo(std::vector<change>& changes, std::size_t size) noexcept {
        for (const change& each : changes) {
            place& there = places_[each.position];
            give_back(there.version);
            there = each.other;
            looked_at_.insert(each.position);
        }
        changes.clear();
        size_ = size;
    }
    /// Copies what write() will need, where that may fail. Throws std::bad_alloc, and what copying throws.
    void prepare(Parts& parts) {
        if constexpr (!memory_by_touch) {
            const std::size_t size = parts.objects.size();
            if (size < size_ && parts.objects.make_room(size_ - size) < size_ - size) {
                throw_exception(std::bad_alloc());
            }
        }
        positions_.clear();
        positions_.reserve(looked_at_.count());
        looked_at_.for_each(
            [this](std::size_t position) { positions_.push_back(static_cast<std::uint32_t>(position)); });
        if (type_.has_destructor()) {
            former_.reserve(positions_.size());
        }
        if constexpr (!copies_in_place) {
            prepared_.clear();
            prepared_.reserve(positions_.size());
            for (const std::uint32_t position : positions_) {
                if (position < size_) {
                    type_.copy(prepared_.next(), versions_.at(places_[position].version));
                    prepared_.add();
                }
            }
        }
    }
    /// The store becomes that of the latest capture. Calls `written(position)` for each position that has an
    /// object and may have had another one, or other contents.
    template <class Written>
    void write(Parts& parts, Written written) noexcept {
        const std::size_t size = parts.objects.size();
        std::size_t prepared = 0;
        for (std::size_t i = 0, count = positions_.size(); i != count; ++i) {
            if (i + copies_ahead < count) {
                prefetch_places(parts, positions_[i + copies_ahead]);
            }
            const location where{positions_[i]};
            if (raw(where) < size) {
                take_out(parts, where);
            }
            if (raw(where) < size_) {
                const place& there = places_[raw(where)];
                if constexpr (copies_in_place) {
                    parts.objects.copy_in(versions_.at(there.version), where);
                } else {
                    parts.objects.put_in(prepared_.at(prepared++), where);
                }
                parts.objects.set_owner(dense_position{raw(where)}, there.slot);
                written(raw(where));
            }
        }
        parts.objects.resize(static_cast<std::uint32_t>(size_));
        prepared_.forget();
    }
    /// Destroys what write() has replaced, when the pool is whole again: destructors may use it.
    void destroy_former() noexcept {
        object_buffer<T> former(type_);
        former.swap(former_);
        former.clear();
        former_.swap(former); // with its memory
    }

    memory_use memory() const noexcept {
        const std::size_t bytes = versions_.bytes() + positions_.capacity() * sizeof(std::uint32_t) +
                                  prepared_.bytes() + former_.bytes();
        return memory_of(places_, looked_at_) + memory_use{.reserved = bytes, .resident = bytes};
    }

private:
    void give_back(std::uint32_t version) noexcept {
        if (version != versions_type::none) {
            versions_.give_back(version);
        }
    }
    void take_out(Parts& parts, location where) noexcept {
        if (type_.has_destructor()) {
            parts.objects.take_out(where, former_.next());
            former_.add();
        }
    }
    void prefetch_places(const Parts& parts, std::uint32_t position) const noexcept {
        parts.objects.prefetch_object(location{position});
        parts.objects.prefetch_owner(dense_position{position});
        if (position < size_) {
            versions_.prefetch(places_[position].version);
        }
    }
    void add_change(const Parts& parts, std::size_t position, std::vector<change>& changes) noexcept {
        if (position < parts.objects.size() || places_[position].version != versions_type::none) {
            changes.emplace_back().position = static_cast<std::uint32_t>(position);
        }
    }
    /// Positions are at random: what comes some of them later is asked for.
    void copy(const Parts& parts, std::vector<change>& changes) {
        const std::size_t size = parts.objects.size();
        for (std::size_t i = 0, count = changes.size(); i != count; ++i) {
            if (const std::size_t soon = i + copies_ahead; soon < count) {
                const dense_position position{changes[soon].position};
                parts.objects.prefetch_object(parts.objects.location_of(position));
                parts.objects.prefetch_owner(position);
                prefetch(places_.data(), raw(position));
                versions_.prefetch_next(copies_ahead);
            }
            change& each = changes[i];
            if (each.position < size) {
                each.other.version = versions_.keep(parts.objects, location{each.position});
                each.other.slot = parts.objects.owner(dense_position{each.position});
            }
        }
    }

    typename policy::template array<typename policy::template plain<place>> places_;
    bit_set<policy> looked_at_;
    [[no_unique_address]] object_type<T> type_;
    versions_type versions_;
    std::vector<std::uint32_t> positions_; // for write()
    object_buffer<T> prepared_;
    object_buffer<T> former_; // by write()
    std::size_t size_ = 0;
};

} // namespace handlepool::detail
