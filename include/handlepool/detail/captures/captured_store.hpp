// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace handlepool::detail {

/// What a store is beside its objects, as of the latest capture: how it is asked which positions have one,
/// and what a restore does to it when the objects are in their places.
template <class Parts, bool Stable = Parts::placement::stable>
class captured_store;

/// A dense store has an object at each position below its size.
template <class Parts>
class captured_store<Parts, false> {
public:
    using owner_type = slot_index;

    /// What a capture knows of it, and of the nursery, where newborns will lie in their order.
    class capture {
    public:
        std::size_t objects() const noexcept { return size_; }
        std::size_t bytes() const noexcept { return left_in_chunks_.capacity() * sizeof(std::uint32_t); }

    private:
        friend captured_store;

        std::size_t size_ = 0;
        std::vector<std::uint32_t> left_in_chunks_; // of the shards
    };

    captured_store(const allocation_label&, const pool_geometry&) noexcept {}

    static std::size_t most_positions(const pool_geometry& geometry) noexcept {
        return geometry.dense_positions;
    }
    /// Positions of the latest capture, and of the pool.
    std::size_t positions() const noexcept { return size_; }
    static std::size_t positions(const Parts& parts) noexcept { return parts.objects.size(); }

    /// Returns a function of a position: whether there is an object.
    static auto living(const Parts& parts) noexcept {
        return [size = parts.objects.size()](std::size_t position) { return position < size; };
    }
    /// Returns a function of a position, and of whether an object of the capture comes there: whether there
    /// is one now that must go.
    static auto leaving(const Parts& parts) noexcept {
        return [lives = living(parts)](std::size_t position, bool) { return lives(position); };
    }
    static owner_type owner(const Parts& parts, std::size_t position) noexcept {
        return parts.objects.owner(position_of(position));
    }
    static slot_index slot_of(owner_type owner) noexcept { return owner; }
    static void prefetch_owner(const Parts& parts, std::size_t position) noexcept {
        parts.objects.prefetch_owner(position_of(position));
    }

    /// Calls `look_at(first, last)` for positions that can differ from the latest capture, beside those that
    /// the log knows.
    template <class LookAt>
    void look_for_changes(const Parts& parts, LookAt look_at) const {
        look_at(parts.objects.size(), size_);
    }

    /// Throws std::bad_alloc.
    static void compare(const Parts& parts, capture& next) {
        next.size_ = parts.objects.size();
        next.left_in_chunks_.clear();
        for (std::size_t i = 0, last = parts.shards.count(); i != last; ++i) {
            next.left_in_chunks_.push_back(parts.newborns.left_in_chunk(parts.shards[i].newborns));
        }
    }
    void commit(const capture& next) noexcept { size_ = next.size_; }
    void undo(const capture&, const capture& before) noexcept { size_ = before.size_; }
    static constexpr void discard(const capture&) noexcept {}

    /// Sees to it that there is memory for the objects of the latest capture. Throws std::bad_alloc.
    template <class Positions>
    void make_room(Parts& parts, const Positions&) const {
        const std::size_t size = parts.objects.size();
        if (size < size_ && parts.objects.make_room(size_ - size) < size_ - size) {
            throw_exception(std::bad_alloc());
        }
    }

    static constexpr void begin_rewrite(const Parts&, const capture&) noexcept {}
    static void note_put_in(Parts& parts, std::size_t position, owner_type owner) noexcept {
        parts.objects.set_owner(position_of(position), owner);
    }
    static constexpr void note_taken_out(const Parts&, location) noexcept {}
    void end_rewrite(Parts& parts, const capture& then) const noexcept {
        parts.objects.resize(static_cast<std::uint32_t>(size_));
        for (std::size_t i = 0, last = parts.shards.count(); i != last; ++i) {
            parts.newborns.set_left_in_chunk(parts.shards[i].newborns,
                                             i < then.left_in_chunks_.size() ? then.left_in_chunks_[i] : 0);
        }
    }
    template <class T>
    static constexpr void clear_object(void*) noexcept {}

    static constexpr memory_use memory() noexcept { return {}; }

private:
    static dense_position position_of(std::size_t position) noexcept {
        return dense_position{static_cast<std::uint32_t>(position)};
    }

    std::size_t size_ = 0;
};

/// Where objects stay, a store is also which places come next: what each group offers and who has it, and
/// what shards have claimed. A capture looks at all groups, and keeps those that differ from the capture
/// before.
template <class Parts>
class captured_store<Parts, true> {
    using policy = typename Parts::policy;
    using places = typename Parts::placement::places;
    using states_type = typename places::states_type;
    using group_state = typename states_type::group_state;
    using chain_state = typename states_type::chain_state;

    /// A group, and what it was before; or in a capture that is being made, what it is.
    struct change {
        std::uint32_t group = 0;
        group_state other;
    };

public:
    using owner_type = typename Parts::value_type; // as the pool keeps it

    class capture {
    public:
        std::size_t objects() const noexcept { return objects_; }
        std::size_t bytes() const noexcept {
            return changes_.capacity() * sizeof(change) + chains_.capacity() * sizeof(chain_state) +
                   claimed_.capacity() * sizeof(std::uint32_t);
        }

    private:
        friend captured_store;

        std::size_t objects_ = 0;
        std::size_t groups_ = 0; // in service
        std::vector<change> changes_;
        std::vector<chain_state> chains_;    // of the shards
        std::vector<std::uint32_t> claimed_; // their groups, one after the other
    };

    /// Throws reservation_failed.
    captured_store(const allocation_label& what_for, const pool_geometry& geometry)
        : states_(what_for.part(" groups"), geometry.nursery_chunks, 0) {}

    static std::size_t most_positions(const pool_geometry& geometry) noexcept {
        return geometry.nursery_chunks * places::group_size;
    }
    std::size_t positions() const noexcept { return groups_ * places::group_size; }
    static std::size_t positions(const Parts& parts) noexcept { return Parts::placement::positions(parts); }

    static auto living(const Parts& parts) noexcept {
        return [&parts](std::size_t position) { return parts.newborns.is_promoted(place_of(position)); };
    }
    // What is not in the capture has ended before. It may be kept.
    static auto leaving(const Parts& parts) noexcept {
        return [&parts](std::size_t position, bool comes) {
            return comes && parts.newborns.states().is_constructed(place_of(position));
        };
    }
    static owner_type owner(const Parts& parts, std::size_t position) noexcept {
        return parts.newborns.owner(place_of(position));
    }
    static slot_index slot_of(owner_type owner) noexcept {
        return slot_table<typename Parts::config>::slot_of(owner);
    }
    static void prefetch_owner(const Parts& parts, std::size_t position) noexcept {
        parts.newborns.prefetch_owner(place_of(position));
    }

    template <class LookAt>
    void look_for_changes(const Parts& parts, LookAt look_at) const {
        for (std::size_t group = 0, last = greatest(groups_, parts.newborns.groups()); group != last;
             ++group) {
            const std::uint64_t now = parts.newborns.promoted_places()[group];
            for_each_bit(group * places::group_size, now ^ states_[group].promoted,
                         [&](std::uint32_t place) { look_at(place, place + std::size_t{1}); });
        }
    }

    /// Throws std::bad_alloc.
    void compare(const Parts& parts, capture& next) const {
        next.objects_ = parts.promoted();
        next.groups_ = parts.newborns.groups();
        next.changes_.clear();
        for (std::size_t i = 0, last = greatest(groups_, next.groups_); i != last; ++i) {
            const auto group = static_cast<std::uint32_t>(i);
            const group_state now = parts.newborns.states().state_of(group);
            if (now != states_[i]) {
                next.changes_.push_back({.group = group, .other = now});
            }
        }
        next.chains_.clear();
        next.claimed_.clear();
        for (std::size_t i = 0, last = parts.shards.count(); i != last; ++i) {
            next.chains_.push_back(parts.newborns.states().state_of(parts.shards[i].newborns, next.claimed_));
        }
    }
    void commit(capture& next) noexcept {
        exchange(next.changes_);
        groups_ = next.groups_;
    }
    void undo(capture& latest, const capture& before) noexcept {
        exchange(latest.changes_);
        latest.changes_.clear();
        groups_ = before.groups_;
    }
    static void discard(capture& unwanted) noexcept { unwanted.changes_.clear(); }

    template <class Positions>
    void make_room(Parts& parts, const Positions& positions) const {
        for (const std::uint32_t position : positions) {
            if (!parts.objects.make_ready(Parts::placement::location_of(parts, position), 1)) {
                throw_exception(std::bad_alloc());
            }
        }
    }

    static void begin_rewrite(Parts& parts, const capture& then) noexcept {
        parts.newborns.states().destroy_kept_after(parts.objects, then.groups_);
    }
    static void note_put_in(Parts& parts, std::size_t position, owner_type owner) noexcept {
        parts.newborns.states().note_put_in(place_of(position), owner);
    }
    static void note_taken_out(Parts& parts, location where) noexcept {
        parts.newborns.states().note_taken_out(parts.objects.nursery_position_of(where));
    }
    void end_rewrite(Parts& parts, const capture& then) const noexcept {
        states_type& now = parts.newborns.states();
        now.take_from_all(parts.shards);
        for (std::size_t i = 0, last = greatest(then.groups_, parts.newborns.groups()); i != last; ++i) {
            now.restore(static_cast<std::uint32_t>(i), states_[i]);
        }
        const std::uint32_t* groups = then.claimed_.data();
        for (std::size_t i = 0, last = then.chains_.size(); i != last; ++i) {
            now.restore(parts.shards[i].newborns, then.chains_[i], groups);
            groups += then.chains_[i].queued + then.chains_[i].held;
        }
        now.set_groups(parts.objects, then.groups_);
    }
    /// Before the destructor of an object that was taken out.
    template <class T>
    static void clear_object(void* object) noexcept {
        states_type::template clear_object<T>(object);
    }

    memory_use memory() const noexcept { return states_.memory(); }

private:
    static nursery_position place_of(std::size_t position) noexcept {
        return nursery_position{static_cast<std::uint32_t>(position)};
    }
    void exchange(std::vector<change>& changes) noexcept {
        for (change& each : changes) {
            const group_state before = states_[each.group];
            states_[each.group] = each.other;
            each.other = before;
        }
    }

    typename policy::template array<typename policy::template plain<group_state>> states_;
    std::size_t groups_ = 0; // in service
};

} // namespace handlepool::detail
