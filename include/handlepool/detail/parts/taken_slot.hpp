// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/parts/pool_state.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

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

} // namespace handlepool::detail
