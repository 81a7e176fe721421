// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/any_pool.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/service/exclusive_views.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/handle_routing.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/service_stats.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace handlepool {

/// All pools of a service as one thread has them alone, made by `service.exclusive_access()`:
///
///     auto alone = service.exclusive_access();
///     alone.erase(sunk);                  // routed: whichever pool it is of, destroyed by now
///     auto& ships = alone.view_of(fleet); // an exclusive_pool of the pool `fleet`
///     ships.emplace("Argo");
///
/// What exclusive_pool says of one view holds for each of these. Pools that are added while it lives are not
/// among them, and removed ones stay until it ends. It belongs to the thread that made it.
template <class Layout, class Policy = default_policy>
class basic_exclusive_service : public handle_routing<Layout, basic_exclusive_service<Layout, Policy>> {
    using views_type = detail::exclusive_views<Layout, Policy>;

public:
    /// What its functions take and return.
    using layout = Layout;
    using handle_type = handle<void, Layout>;
    using pool_type = any_pool<Layout>;

    /// Can be moved into a new one; the views stay where they are.
    basic_exclusive_service(basic_exclusive_service&&) noexcept = default;
    basic_exclusive_service& operator=(basic_exclusive_service&&) = delete;

    /// The view of a pool, which lives as long as this: until all that waits for the end of one has ended.
    /// Throws std::invalid_argument when the pool is not of the service, or was added since. Constant.
    template <class T, class Traits>
    detail::exclusive_view<T, Traits>& view_of(const pool_base<T, Traits>& pool) const {
        using view_type = detail::exclusive_view<T, Traits>;
        pool_type* const found = views_->find(pool.id());
        view_type* const view = found == nullptr ? nullptr : found->template as<view_type>();
        if (view == nullptr) {
            detail::throw_exception(
                std::invalid_argument("handlepool: " + detail::quoted_pool(pool.name()) +
                                      ": no view of it belongs to this exclusive access"));
        }
        return *view;
    }

    /// The view of the pool of this name, as any pool, or null; `as<exclusive_pool<ship>>()` gives its type
    /// back. Linear in the pools.
    pool_type* find_any_pool(std::string_view name) const noexcept { return views_->find(name); }

    /// The number of pools. Constant.
    std::size_t size() const noexcept { return views_->size(); }

    /// The numbers of each pool, in the order in which they were added. Throws std::bad_alloc.
    service_stats stats() const {
        service_stats result;
        result.frames = frames_;
        for (const pool_type* const pool : views_->pools()) {
            result.pools.push_back(views_->find(pool->id())->stats());
        }
        return result;
    }

private:
    template <class AnyLayout, class AnyPolicy>
    friend class basic_service;
    friend class handle_routing<Layout, basic_exclusive_service>;

    using gate_type = typename views_type::gate_type;
    using directory_type = typename views_type::directory_type;

    basic_exclusive_service(std::unique_ptr<views_type> views, std::uint64_t frames) noexcept
        : views_(std::move(views)), frames_(frames) {}

    /// For the service: `frames()` are its compactions so far.
    template <class Frames>
    static basic_exclusive_service of(gate_type& gate, const directory_type& pools, Frames frames) {
        auto views = std::make_unique<views_type>(gate, pools);
        views->close();
        return basic_exclusive_service(std::move(views), frames());
    }
    template <class Frames>
    static std::optional<basic_exclusive_service> try_of(gate_type& gate, const directory_type& pools,
                                                         Frames frames) {
        auto views = std::make_unique<views_type>(gate, pools);
        return views->try_close() ? std::optional(basic_exclusive_service(std::move(views), frames()))
                                  : std::nullopt;
    }

    pool_type* pool_of(handle_type handle) const noexcept {
        return views_->find(Layout::pool_id_of(handle.tag()));
    }

    std::unique_ptr<views_type> views_;
    std::uint64_t frames_; // compactions of the service, of which none begins now
};

/// That of a service with handles of the default layout.
using exclusive_service = basic_exclusive_service<default_layout>;

} // namespace handlepool
