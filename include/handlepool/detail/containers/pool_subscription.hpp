// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/containers/attached_pool.hpp>
#include <handlepool/detail/containers/member_check.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/scoped_hook.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace handlepool::detail {

/// What tells a container of the objects that end in a pool, by calling its `forget(handle, pool)` after the
/// program's hooks, and some time before, in most cases, its `prefetch(handle)`. Its hooks hold the address
/// of a word that names the container, which may move. Messages begin with the container's `name`.
template <class Container>
class pool_subscription {
public:
    /// From here on, instead of the pool before. Like on_destroy() of the pool, and throws what that does;
    /// then nothing has changed.
    template <class Pool>
    void attach(Pool& pool, Container& container) {
        auto whom = std::make_unique<Container*>(&container);
        const attached_pool<Pool> lasting(pool);
        hook_ = pool.on_destroy(end_hook<Pool>{whom.get(), lasting}, hook_order::late);
        whom_ = std::move(whom);
        remember(lasting, pool.id());
    }
    /// Attaches like attach(pool, container), and calls `container.born(handle, object, what)` for the
    /// objects that compactions take in.
    template <class Pool, class What>
    void attach(Pool& pool, Container& container, What what) {
        auto whom = std::make_unique<Container*>(&container);
        Container** const to = whom.get();
        const attached_pool<Pool> lasting(pool);
        scoped_hook erase = pool.on_destroy(end_hook<Pool>{to, lasting}, hook_order::late);
        births_ = pool.on_birth([to, what = std::move(what)](auto handle, auto&& object) mutable {
            (*to)->born(handle, object, what);
        });
        hook_ = std::move(erase);
        whom_ = std::move(whom);
        remember(lasting, pool.id());
    }
    void detach() noexcept {
        births_.disconnect();
        hook_.disconnect();
    }
    bool attached() const noexcept { return hook_.connected(); }

    /// The pool that it is attached to.
    std::optional<std::uint32_t> pool_id() const noexcept {
        return attached() ? std::optional(pool_id_) : std::nullopt;
    }

    /// Returns whether the object is known to be dead: no hook would come for it any more.
    template <class Handle>
    bool is_dead(Handle handle) const noexcept {
        return attached() && state_(pool_, handle.value()) == handle_state::stale;
    }
    /// Returns whether the object is known to be alive.
    template <class Handle>
    bool is_alive(Handle handle) const noexcept {
        return attached() && state_(pool_, handle.value()) == handle_state::alive;
    }

    /// While it does, objects that come get no attention: the container knows of them already.
    void ignore_births(bool ignored) noexcept { ignores_births_ = ignored; }
    bool ignores_births() const noexcept { return ignores_births_; }
    /// While it does, the container ends no other objects when one ends: somebody else knows which ones do.
    void spare_others(bool spared) noexcept { spares_others_ = spared; }
    bool spares_others() const noexcept { return spares_others_; }

    /// Returns whether the object can be a member beside those of the pool `others`, if any: not if it is
    /// known to be dead. Raises std::invalid_argument for a handle that the container refuses.
    template <class Handle>
    bool admits(Handle handle, std::optional<std::uint32_t> others) const {
        if (!attached()) {
            require_own(others, handle, Container::name);
            return true;
        }
        require_own(pool_id_, handle, Container::name);
        const handle_state state = state_(pool_, handle.value());
        refuse_reserved(state, handle, Container::name);
        return state == handle_state::alive;
    }

    /// Refuses a member whose container is about to be attached to this pool, if it is of another one.
    template <class Pool>
    static void require_attachable(const Pool& pool, typename Pool::handle_type member) {
        require_pool(member.pool_id(), pool.id(), Container::name);
        refuse_reserved(pool.state(member), member, Container::name);
    }

    /// The container is here now.
    void follow(Container& container) noexcept {
        if (whom_ != nullptr) {
            *whom_ = &container;
        }
    }

private:
    /// Called for objects that end; before, where that is known, so that what will be needed is on its way.
    template <class Pool>
    struct end_hook {
        template <class Handle, class... Object>
        void operator()(Handle handle, Object&&...) const {
            (*to)->forget(handle, pool);
        }
        template <class Handle>
        HANDLEPOOL_ALWAYS_INLINE void announce(Handle handle) const noexcept {
            (*to)->prefetch(handle);
        }

        Container** to;
        attached_pool<Pool> pool;
    };

    template <class Pool>
    void remember(const attached_pool<Pool>& pool, std::uint32_t id) noexcept {
        pool_ = pool.address();
        pool_id_ = id;
        state_ = &attached_pool<Pool>::state_in;
    }

    const void* pool_ = nullptr;
    std::uint32_t pool_id_ = 0;
    handle_state (*state_)(const void* pool, std::uint64_t handle) noexcept = nullptr;
    bool ignores_births_ = false;
    bool spares_others_ = false;
    std::unique_ptr<Container*> whom_;
    scoped_hook births_; // the hooks end first
    scoped_hook hook_;
};

} // namespace handlepool::detail
