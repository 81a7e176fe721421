// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/executor.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// A pool's store, and what stands at each of its positions. Refers to the pool.
template <class T, class Config>
class store_view {
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using value_type = typename layout::value_type;
    using placement = placement_parts<Config>;

public:
    using pointer = typename parts_type::pointer;

    store_view() noexcept = default;
    explicit store_view(const parts_type& parts) noexcept : parts_(&parts) {}

    /// The dense store: where it begins, and how many objects it has.
    pointer first() const noexcept { return parts_->objects.at(location{}); }
    std::size_t dense_size() const noexcept { return parts_->objects.size(); }

    /// The objects of the store, wherever they lie.
    template <class Iterator>
    Iterator begin() const noexcept {
        return placement::template first<Iterator>(*parts_);
    }
    template <class Iterator>
    Iterator end() const noexcept {
        return placement::template last<Iterator>(*parts_);
    }
    template <executor Executor, class Visit>
    void for_each(Executor&& executor, Visit visit) const {
        placement::for_each(executor, *parts_, visit);
    }

    /// Positions of the store, of which some may be holes.
    std::size_t positions() const noexcept { return placement::positions(*parts_); }
    bool has_object_at(std::size_t position) const noexcept {
        return placement::owner_of(*parts_, position) != slot_index::none;
    }
    bool has_living_object_at(std::size_t position) const noexcept {
        const slot_index slot = placement::owner_of(*parts_, position);
        return slot != slot_index::none && layout::is_alive(parts_->table.tag_relaxed(slot));
    }
    pointer object_at(std::size_t position) const noexcept {
        return parts_->objects.at(placement::location_of(*parts_, position));
    }
    /// The handle of the object there; zero in a hole.
    value_type owner_at(std::size_t position) const noexcept {
        return handle_in_slot(placement::owner_of(*parts_, position));
    }

    /// The handle of an object, whether it is in the store yet or not; zero when there is none.
    value_type handle_of(const void* object) const noexcept {
        const location where = parts_->objects.location_of(object);
        if (where == location::nowhere) {
            return 0;
        }
        if (parts_->objects.is_dense(where)) {
            return raw(where) < dense_size()
                       ? handle_in_slot(parts_->objects.owner(parts_->objects.dense_position_of(where)))
                       : 0;
        }
        const value_type owner = parts_->newborns.owner(parts_->objects.nursery_position_of(where));
        if (!layout::is_alive(layout::tag_of(owner))) {
            return 0;
        }
        // The object may have another handle by now; or it is not published yet.
        const slot_index slot = parts_->table.slot_of(owner);
        return parts_->newborns.reached(parts_->table.tag_relaxed(slot), owner) ? handle_in_slot(slot)
                                                                                : owner;
    }

private:
    value_type handle_in_slot(slot_index slot) const noexcept {
        // Until the object is destroyed the slot's tag is at most one past the object's.
        return slot == slot_index::none
                   ? 0
                   : parts_->table.handle_of(slot,
                                             parts_->table.last_object(parts_->table.tag_relaxed(slot)));
    }

    const parts_type* parts_ = nullptr;
};

} // namespace handlepool::detail
