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
    using core_type = std::remove_reference_t<decltype(pool_access::pool_of(std::declval<Pool&>()))>;

public:
    using handle_type = typename Pool::handle_type;

    explicit attached_pool(Pool& pool) noexcept : core_(&pool_access::pool_of(pool)) {}

    /// Like those of the pool.
    handle_state state(handle_type handle) const noexcept { return core_->state(handle.value()); }
    HANDLEPOOL_ALWAYS_INLINE bool erase(handle_type handle) const noexcept {
        return core_->erase(handle.value(), core_->from_here());
    }

    /// For who has forgotten the type: where it is, and the state of a handle in the pool that is there.
    const void* address() const noexcept { return core_; }
    static handle_state state_in(const void* address, std::uint64_t handle) noexcept {
        return static_cast<const core_type*>(address)->state(
            static_cast<typename handle_type::value_type>(handle));
    }

private:
    core_type* core_;
};

} // namespace handlepool::detail
