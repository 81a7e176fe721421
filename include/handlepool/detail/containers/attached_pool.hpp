// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/handle.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// The pool that a container is attached to, as long as that exists: also where it was attached to a view,
/// which ends before.
template <class Pool>
class attached_pool {
    // An any_pool is what it is of.
    static constexpr bool has_core = requires(Pool& pool) { pool_access::pool_of(pool); };

    static auto& lasting(Pool& pool) noexcept {
        if constexpr (has_core) {
            return pool_access::pool_of(pool);
        } else {
            return pool;
        }
    }
    using lasting_type = std::remove_reference_t<decltype(lasting(std::declval<Pool&>()))>;

public:
    using handle_type = typename Pool::handle_type;

    explicit attached_pool(Pool& pool) noexcept : pool_(&lasting(pool)) {}

    /// Like those of the pool.
    handle_state state(handle_type handle) const noexcept {
        return state_in(pool_, std::uint64_t{handle.value()});
    }
    HANDLEPOOL_ALWAYS_INLINE bool erase(handle_type handle) const noexcept {
        if constexpr (has_core) {
            return pool_->erase(handle.value(), pool_->from_here());
        } else {
            return pool_->erase(handle);
        }
    }

    /// For code that does not know the type: where it is, and the state of a handle in the pool that is
    /// there.
    const void* address() const noexcept { return pool_; }
    static handle_state state_in(const void* address, std::uint64_t handle) noexcept {
        const auto value = static_cast<typename handle_type::value_type>(handle);
        const auto* const pool = static_cast<const lasting_type*>(address);
        if constexpr (has_core) {
            return pool->state(value);
        } else {
            return pool->state(handle_type::from_value(value));
        }
    }

private:
    lasting_type* pool_;
};

} // namespace handlepool::detail
