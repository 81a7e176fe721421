// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/parts/pool_state.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

/// An object is made in three steps: a slot and a place in the nursery are taken, it is constructed there,
/// and it is published. Where the constructor throws, the third step is left out, and what was taken is given
/// back.
namespace handlepool::detail {

/// The slot of an object that is being made. Given back, unless the object is published in it.
template <class T, class Config>
class taken_slot {
public:
    taken_slot(pool_state<T, Config>& parts, slot_index slot) noexcept : parts_(parts), slot_(slot) {}
    ~taken_slot() {
        if (taken()) {
            parts_.allocator.give_back(slot_);
        }
    }

    taken_slot(const taken_slot&) = delete;
    taken_slot& operator=(const taken_slot&) = delete;

    bool taken() const noexcept { return slot_ != slot_index::none; }

    /// The slot, which the object has from here on.
    slot_index release() noexcept { return std::exchange(slot_, slot_index::none); }

private:
    pool_state<T, Config>& parts_;
    slot_index slot_;
};

/// The place in the nursery where an object is made. Given back, unless the object is published there.
template <class T, class Config>
class newborn_place {
    using parts_type = pool_state<T, Config>;
    using shard_type = shard<typename Config::policy>;

public:
    newborn_place(parts_type& parts, shard_type& mine) noexcept : parts_(parts), shard_(mine) {}
    ~newborn_place() {
        if (taken()) {
            parts_.objects.poison_objects(where_);
            parts_.newborns.give_back(shard_.newborns, parts_.objects.nursery_position_of(where_));
        }
    }

    newborn_place(const newborn_place&) = delete;
    newborn_place& operator=(const newborn_place&) = delete;

    /// Takes a place, once. False when there is no room. Throws std::bad_alloc where memory must be asked
    /// for, and there is none.
    bool take() noexcept(memory_by_touch) {
        const nursery_position position =
            parts_.newborns.take(shard_.newborns, [this](nursery_position soon) {
                parts_.objects.prefetch_object(parts_.objects.location_of(soon));
            });
        if (position == nursery_position::none) [[unlikely]] {
            return false;
        }
        const location where = parts_.objects.location_of(position);
        if (!parts_.objects.make_ready(where, 1)) [[unlikely]] {
            parts_.newborns.give_back(shard_.newborns, position);
            throw_exception(std::bad_alloc());
        }
        where_ = where;
        parts_.objects.unpoison_objects(where_);
        return true;
    }
    bool taken() const noexcept { return where_ != location::nowhere; }

    /// Where the object is made: raw memory, or a recycled_site.
    auto site() noexcept { return parts_.newborns.memory_at(parts_.objects, where_); }

    /// The place, which the object has from here on.
    location release() noexcept { return std::exchange(where_, location::nowhere); }

private:
    parts_type& parts_;
    shard_type& shard_;
    location where_ = location::nowhere;
};

/// Makes one object.
template <class T, class Config>
class emplace_transaction {
    using parts_type = pool_state<T, Config>;
    using shard_type = shard<typename Config::policy>;

public:
    /// Throws std::bad_alloc where memory must be asked for, and there is none.
    emplace_transaction(parts_type& parts, shard_type& mine) noexcept(memory_by_touch)
        : parts_(parts), shard_(mine), slot_(parts, parts.allocator.take(mine)), place_(parts, mine) {
        if (slot_.taken()) [[likely]] {
            place_.take();
        }
    }

    /// False when there is no room.
    bool taken() const noexcept { return place_.taken(); }
    auto site() noexcept { return place_.site(); }

    /// Returns the value of the object's handle.
    auto publish(caller who) noexcept {
        add(shard_.created, 1); // before anybody can erase it
        return parts_.publish(slot_.release(), place_.release(), who);
    }

private:
    parts_type& parts_;
    shard_type& shard_;
    taken_slot<T, Config> slot_;
    newborn_place<T, Config> place_;
};

/// The slots of objects that are made together.
template <class T, class Config>
class taken_slots {
public:
    /// Room for `count` slots. Throws std::bad_alloc.
    taken_slots(pool_state<T, Config>& parts, std::size_t count) : parts_(parts), slots_(count) {}
    ~taken_slots() {
        for (; taken_ != 0; --taken_) {
            parts_.allocator.give_back((*this)[taken_ - 1]);
        }
    }

    taken_slots(const taken_slots&) = delete;
    taken_slots& operator=(const taken_slots&) = delete;

    std::size_t size() const noexcept { return slots_.size(); }
    slot_index operator[](std::size_t i) const noexcept { return slot_index{slots_[i]}; }

    /// Takes them. False when there are not as many.
    bool take(shard<typename Config::policy>& mine) noexcept {
        taken_ = parts_.allocator.take_many(mine, slots_.data(), slots_.size());
        return taken_ == slots_.size();
    }

    /// The slots, which the objects have from here on.
    const std::uint32_t* release() noexcept {
        taken_ = 0;
        return slots_.data();
    }

private:
    pool_state<T, Config>& parts_;
    scratch_array<std::uint32_t> slots_; // as the freelist has written them
    std::size_t taken_ = 0;
};

/// Makes several objects, none of which can be found before all are constructed.
template <class T, class Config>
class batch_transaction {
    using parts_type = pool_state<T, Config>;
    using shard_type = shard<typename Config::policy>;

public:
    /// Throws std::bad_alloc.
    batch_transaction(parts_type& parts, shard_type& mine, std::size_t count)
        : parts_(parts), shard_(mine), slots_(parts, count) {
        positions_taken_ = parts_.allocator.can_give(shard_, count) &&
                           parts_.newborns.take(shard_.newborns, count, positions_); // may throw
        taken_ = positions_taken_ && slots_.take(shard_);
    }
    ~batch_transaction() {
        if (taken() && constructed_ != slots_.size()) {
            parts_.objects.poison_objects(where(constructed_));
        }
        for (; constructed_ != 0; --constructed_) {
            parts_.newborns.end_object(parts_.objects, where(constructed_ - 1));
        }
        if (positions_taken_) {
            parts_.newborns.give_back(shard_.newborns, positions_);
        }
    }

    batch_transaction(const batch_transaction&) = delete;
    batch_transaction& operator=(const batch_transaction&) = delete;

    /// False when there is no room for all.
    bool taken() const noexcept { return taken_; }

    /// Calls `construct(memory)` for each object.
    template <class Construct>
    void construct_all(Construct construct) {
        const auto make = [this, &construct](std::size_t i, nursery_position position) {
            const location next = parts_.objects.location_of(position);
            if (!parts_.objects.make_ready(next, 1)) [[unlikely]] {
                throw_exception(std::bad_alloc());
            }
            parts_.objects.prefetch_object(next, newborns_ahead);
            parts_.objects.unpoison_objects(next);
            construct(parts_.newborns.memory_at(parts_.objects, next));
            constructed_ = i + 1; // not counted up: each object would wait for the one before
        };
        parts_.newborns.for_each_position(positions_, slots_.size(), make);
    }

    /// Calls `made(i, value of its handle)` for each, in the order of their construction.
    template <class Made>
    void publish_all(Made made, caller who) noexcept {
        const std::size_t count = std::exchange(constructed_, 0);
        positions_taken_ = false;
        taken_ = false;
        parts_.newborns.append(shard_.newborns, count, positions_);
        add(shard_.created, count); // before anybody can erase one
        // Captured by value: the compiler must take it that the loop's stores change what is referred to.
        const auto publish = [parts = &parts_, taken = slots_.release(), count, made,
                              who](std::size_t i, nursery_position position) {
            if (i + slots_ahead < count) {
                parts->table.prefetch_slot(slot_index{taken[i + slots_ahead]});
            }
            made(i, parts->publish(slot_index{taken[i]}, parts->objects.location_of(position), who));
        };
        parts_.newborns.for_each_position(positions_, count, publish);
    }

private:
    // How many objects ahead of the one that is made its memory, or its slot, is asked for.
    static constexpr std::size_t newborns_ahead = 8;
    static constexpr std::size_t slots_ahead = 16;

    location where(std::size_t object) const noexcept {
        return parts_.objects.location_of(parts_.newborns.position(positions_, object));
    }

    parts_type& parts_;
    shard_type& shard_;
    taken_slots<T, Config> slots_;
    typename placement_parts<Config>::places::batch_type positions_;
    std::size_t constructed_ = 0;
    bool positions_taken_ = false;
    bool taken_ = false;
};

} // namespace handlepool::detail
