// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/captures/captured_positions.hpp>
#include <handlepool/detail/captures/object_versions.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/objects/object_buffer.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::detail {

/// The store as of the latest capture: of each position the version of its object, and its owner as the pool
/// keeps it. A capture copies the objects of the positions that were written, each once; the former version
/// stays, as long as a capture has it:
///
/// ```
///              position 7                          capture 6 copies the object: version 3 → 9
///   versions   1 … 3 … 9                           capture 6 has the change    (7, 3)
///              latest: 9 ── undo ──▶ 3             restored to 5: position 7 is a copy of version 3
/// ```
template <class T, class Parts>
class captured_objects : public captured_positions<Parts> {
    using base = captured_positions<Parts>;
    using base::looked_at_;
    using base::positions_;
    using base::store_;
    using store_type = typename base::store_type;
    using policy = typename Parts::policy;
    using placement = typename Parts::placement;
    using versions_type = object_versions<T>;

    static constexpr std::size_t copies_ahead = 8;

    // Copied straight to their places: nothing can fail on the way.
    static constexpr bool copies_in_place = object_type<T>::copies_nothrow;

public:
    /// What stands at a position.
    struct place {
        std::uint32_t version = versions_type::none; // if there is an object
        typename store_type::owner_type owner{};
    };
    /// A position, and what stood there before; or in a capture that is being made, what stands there.
    struct change {
        std::uint32_t position = 0;
        place other;
    };
    /// How a capture differs from the one before.
    class capture {
    public:
        std::size_t objects() const noexcept { return store_.objects(); }
        std::size_t bytes() const noexcept { return changes_.capacity() * sizeof(change) + store_.bytes(); }

    private:
        friend captured_objects;

        std::vector<change> changes_;
        typename store_type::capture store_;
    };

    /// Throws reservation_failed.
    captured_objects(const allocation_label& what_for, const pool_geometry& geometry,
                     const object_type<T>& type)
        : base(what_for, geometry),
          places_(what_for.part(" positions"), store_type::most_positions(geometry), 0),
          type_(type),
          versions_(type),
          prepared_(type),
          former_(type) {}

    /// Copies what may differ from the latest capture, and writes it to a capture that has nothing. Throws
    /// std::bad_alloc, and what copying throws; then discard() gives up what it has written.
    void compare(const Parts& parts, capture& next) {
        next.changes_.reserve(looked_at_.count());
        const auto lives = store_type::living(parts);
        looked_at_.for_each([&](std::size_t position) {
            if (lives(position) || places_[position].version != versions_type::none) {
                next.changes_.emplace_back().position = static_cast<std::uint32_t>(position);
            }
        });
        copy(parts, next.changes_);
        store_.compare(parts, next.store_);
    }
    /// Instead of commit(); or after it, when nobody undoes the changes any more.
    void discard(capture& unwanted) noexcept {
        for (const change& each : unwanted.changes_) {
            give_back(each.other.version);
        }
        unwanted.changes_.clear();
        store_.discard(unwanted.store_);
    }
    /// Nobody undoes the changes of this capture any more.
    void confirm(capture& oldest, std::size_t) noexcept { discard(oldest); }
    /// There is no capture any more.
    static void forget() noexcept {}
    /// What compare() has written is the latest capture; it keeps how the one before was.
    void commit(capture& next) noexcept {
        for (change& each : next.changes_) {
            place& there = places_[each.position];
            const place before = there;
            there = each.other;
            each.other = before;
        }
        store_.commit(next.store_);
    }
    /// The capture before is the latest one.
    void undo(capture& latest, const capture& before) noexcept {
        for (const change& each : latest.changes_) {
            place& there = places_[each.position];
            give_back(there.version);
            there = each.other;
            looked_at_.insert(each.position);
        }
        latest.changes_.clear();
        store_.undo(latest.store_, before.store_);
    }
    /// Copies what write() will need, where that may fail. Throws std::bad_alloc, and what copying throws.
    void prepare(Parts& parts) {
        this->list_positions(parts);
        if (type_.has_destructor()) {
            former_.reserve(positions_.size());
        }
        if constexpr (!copies_in_place) {
            prepared_.clear();
            prepared_.reserve(positions_.size());
            for (const std::uint32_t position : positions_) {
                if (const std::uint32_t version = places_[position].version; version != versions_type::none) {
                    type_.copy(prepared_.next(), versions_.at(version));
                    prepared_.add();
                }
            }
        }
    }
    /// The store becomes that of the latest capture. Calls `written(position)` for each position that has an
    /// object and may have had another one, or other contents.
    template <class Written>
    void write(Parts& parts, const capture& latest, Written written) noexcept {
        store_.begin_rewrite(parts, latest.store_);
        const auto leaves = store_type::leaving(parts);
        std::size_t prepared = 0;
        for (std::size_t i = 0, count = positions_.size(); i != count; ++i) {
            if (i + copies_ahead < count) {
                prefetch_places(parts, positions_[i + copies_ahead]);
            }
            const std::uint32_t position = positions_[i];
            const location where = placement::location_of(parts, position);
            const place& there = places_[position];
            const bool comes = there.version != versions_type::none;
            if (leaves(position, comes)) {
                take_out(parts, where);
            }
            if (comes) {
                if constexpr (copies_in_place) {
                    parts.objects.copy_in(versions_.at(there.version), where);
                } else {
                    parts.objects.put_in(prepared_.at(prepared++), where);
                }
                store_type::note_put_in(parts, position, there.owner);
                written(position);
            }
        }
        store_.end_rewrite(parts, latest.store_);
        prepared_.forget();
    }
    /// Destroys what write() has replaced, when the pool is whole again: destructors may use it.
    void destroy_former() noexcept {
        object_buffer<T> former(type_);
        former.swap(former_);
        for (std::size_t i = 0; i != former.size(); ++i) {
            store_type::template clear_object<T>(former.at(i));
        }
        former.clear();
        former_.swap(former); // with its memory
    }

    memory_use memory() const noexcept {
        const std::size_t bytes = versions_.bytes() + positions_.capacity() * sizeof(std::uint32_t) +
                                  prepared_.bytes() + former_.bytes();
        return memory_of(store_, places_, looked_at_) + memory_use{.reserved = bytes, .resident = bytes};
    }

private:
    void give_back(std::uint32_t version) noexcept {
        if (version != versions_type::none) {
            versions_.give_back(version);
        }
    }
    void take_out(Parts& parts, location where) noexcept {
        if (type_.has_destructor()) {
            parts.objects.unpoison_objects(where); // it may be kept, and not alive
            parts.objects.take_out(where, former_.next());
            former_.add();
        }
    }
    void prefetch_places(const Parts& parts, std::uint32_t position) const noexcept {
        parts.objects.prefetch_object(placement::location_of(parts, position));
        store_type::prefetch_owner(parts, position);
        if (const std::uint32_t version = places_[position].version; version != versions_type::none) {
            versions_.prefetch(version);
        }
    }
    /// Positions are at random: what comes some of them later is asked for.
    void copy(const Parts& parts, std::vector<change>& changes) {
        const auto lives = store_type::living(parts);
        for (std::size_t i = 0, count = changes.size(); i != count; ++i) {
            if (const std::size_t soon = i + copies_ahead; soon < count) {
                const std::uint32_t position = changes[soon].position;
                parts.objects.prefetch_object(placement::location_of(parts, position));
                store_type::prefetch_owner(parts, position);
                detail::prefetch(places_.data(), position);
                versions_.prefetch_next(copies_ahead);
            }
            change& each = changes[i];
            if (lives(each.position)) {
                each.other.version =
                    versions_.keep(parts.objects, placement::location_of(parts, each.position));
                each.other.owner = store_type::owner(parts, each.position);
            }
        }
    }

    typename policy::template array<typename policy::template plain<place>> places_;
    [[no_unique_address]] object_type<T> type_;
    versions_type versions_;
    object_buffer<T> prepared_;
    object_buffer<T> former_; // by write()
};

} // namespace handlepool::detail
