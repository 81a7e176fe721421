// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/captures/captured_store.hpp>
#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::detail {

/// The positions of a store that may differ from the latest capture, whatever is known of them; and the store
/// beside them.
template <class Parts>
class captured_positions {
    using policy = typename Parts::policy;

public:
    captured_positions(const captured_positions&) = delete;
    captured_positions& operator=(const captured_positions&) = delete;

    /// Positions may differ from the latest capture: these, all, or others than the log knows.
    void look_at(std::size_t first, std::size_t last) noexcept { looked_at_.insert_range(first, last); }
    void look_at_all(const Parts& parts) noexcept {
        look_at(0, greatest(store_type::positions(parts), store_.positions()));
    }
    void look_for_changes(const Parts& parts) noexcept {
        store_.look_for_changes(parts, [this](std::size_t first, std::size_t last) { look_at(first, last); });
    }
    void look_at_none() noexcept { looked_at_.clear(); }

protected:
    using store_type = captured_store<Parts>;

    /// Throws reservation_failed.
    captured_positions(const allocation_label& what_for, const pool_geometry& geometry)
        : store_(what_for, geometry),
          looked_at_(what_for.part(" changed positions"), store_type::most_positions(geometry)) {}
    ~captured_positions() = default;

    /// Lists those that may differ, for a restore, and sees to it that the store has memory there. Throws
    /// std::bad_alloc.
    void list_positions(Parts& parts) {
        positions_.clear();
        positions_.reserve(looked_at_.count());
        looked_at_.for_each(
            [this](std::size_t position) { positions_.push_back(static_cast<std::uint32_t>(position)); });
        if constexpr (!memory_by_touch) {
            store_.make_room(parts, positions_);
        }
    }

    store_type store_;
    bit_set<policy> looked_at_;
    std::vector<std::uint32_t> positions_; // by list_positions()
};

} // namespace handlepool::detail
