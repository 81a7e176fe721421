// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/parts/pool_state.hpp>

#include <new>
#include <utility>

namespace handlepool::detail {

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

} // namespace handlepool::detail
