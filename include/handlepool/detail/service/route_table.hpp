// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/any_pool.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/handle.hpp>

#include <atomic>
#include <cstddef>

namespace handlepool::detail {

/// The way from a handle to its pool: a pointer for each pool id. Any number of threads look up while one
/// changes it; all functions are wait-free and constant.
template <class Layout, class Policy>
class route_table {
public:
    using pool_type = any_pool<Layout>;
    using handle_type = handle<void, Layout>;

    explicit route_table(const allocation_label& what_for)
        : routes_(what_for, std::size_t{Layout::pool_id_mask} + 1, 0) {}

    /// The pool with the handle's pool id, or null.
    pool_type* find(handle_type handle) const noexcept {
        // (18) acquire: pairs with (17), so that the pool is seen complete
        return routes_[Layout::pool_id_of(handle.tag())].load(std::memory_order::acquire);
    }

    void add(pool_type& pool) noexcept {
        // (17) release: pairs with (18)
        routes_[pool.id()].store(&pool, std::memory_order::release);
    }
    void remove(const pool_type& pool) noexcept {
        routes_[pool.id()].store(nullptr, std::memory_order::relaxed);
    }

private:
    // By pool id.
    typename Policy::template array<typename Policy::template atomic<pool_type*>> routes_;
};

} // namespace handlepool::detail
