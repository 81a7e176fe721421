// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/any_pool.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/service/pool_directory.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/detail/threads/parent_gate.hpp>
#include <handlepool/detail/threads/pin.hpp>
#include <handlepool/executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Views of all pools of a service, for one thread, and the service's closed gate.
///
/// Whoever holds a guard of one gate may wait for another gate. So this waits for one gate, tries all others,
/// and where one of those keeps a guard, opens everything and waits for that one, as std::lock does with
/// mutexes. But it tries for a while, each time longer: a thread that takes one guard after the other would
/// always be in the next gate when it has waited for one.
template <class Layout, class Policy>
class exclusive_views {
public:
    using pool_type = any_pool<Layout>;
    using gate_type = access_gate<pin<Policy>>;
    using directory_type = pool_directory<Layout, Policy>;
    using view_list = std::vector<std::unique_ptr<pool_type>>;

    /// Of the pools that there are now, which live at least as long as this. Throws std::bad_alloc.
    exclusive_views(gate_type& gate, const directory_type& pools) : gate_(gate), pools_(pools) {
        std::size_t ids = 0;
        for (const pool_type* const pool : pools_.pools()) {
            ids = greatest<std::size_t>(ids, std::size_t{pool->id()} + 1);
        }
        by_id_.resize(ids);
        views_.reserve(pools_.pools().size());
    }
    ~exclusive_views() { open(); }

    exclusive_views(const exclusive_views&) = delete;
    exclusive_views& operator=(const exclusive_views&) = delete;

    /// Waits for guards. Throws what closing one of the gates throws, and std::bad_alloc; then all are open.
    void close() {
        pool_type* awaited = nullptr; // null for the service
        std::uint64_t patience = 0;
        do {
            open();
            if (awaited == nullptr) {
                gate_.close_or_throw(gate_use::exclusive_access);
                closed_ = true;
            } else {
                add(*awaited, awaited->exclusive_access());
            }
            patience = least<std::uint64_t>(2 * patience + first_patience, Policy::guard_patience);
        } while (!try_others(awaited, patience));
    }
    /// Like close(), but returns false where that would wait or be refused.
    bool try_close() {
        pool_type* refused = nullptr;
        if (try_others(refused, 0)) {
            return true;
        }
        open();
        return false;
    }

    /// In the order in which the pools were added.
    const auto& pools() const noexcept { return pools_.pools(); }
    std::size_t size() const noexcept { return views_.size(); }
    pool_type* find(std::uint32_t id) const noexcept { return id < by_id_.size() ? by_id_[id] : nullptr; }
    pool_type* find(std::string_view name) const noexcept {
        for (const auto& view : views_) {
            if (view->name() == name) {
                return view.get();
            }
        }
        return nullptr;
    }

private:
    static constexpr std::uint64_t first_patience = 500'000; // nanoseconds

    /// Closes what is still open, each within `patience`, in nanoseconds. Where that fails, returns false and
    /// tells which gate it was.
    bool try_others(pool_type*& refused, std::uint64_t patience) {
        refused = nullptr;
        closed_ = closed_ || gate_.close_within(patience, gate_use::exclusive_access);
        if (!closed_) {
            return false;
        }
        for (pool_type* const pool : pools()) {
            if (find(pool->id()) != nullptr) {
                continue;
            }
            std::unique_ptr<pool_type> view = pool->exclusive_access_within(patience);
            if (view == nullptr) {
                refused = pool;
                return false;
            }
            add(*pool, std::move(view));
        }
        return true;
    }
    /// There is room for it.
    void add(const pool_type& pool, std::unique_ptr<pool_type> view) noexcept {
        by_id_[pool.id()] = view.get();
        views_.push_back(std::move(view));
    }

    void open() noexcept {
        settle();
        for (; !views_.empty(); views_.pop_back()) {
            by_id_[views_.back()->id()] = nullptr;
        }
        if (std::exchange(closed_, false)) {
            gate_.open();
        }
    }

    /// Takes in what waits in a view for its end: destructors may use all views.
    void settle() noexcept {
        inline_executor executor;
        for (bool worked = true; worked;) {
            worked = false;
            for (const auto& view : views_) {
                if (!view->idle()) {
                    view->compact(executor);
                    worked = true;
                }
            }
        }
    }

    gate_type& gate_;
    const typename directory_type::view pools_;
    view_list views_;
    std::vector<pool_type*> by_id_; // those views
    bool closed_ = false;           // the service's gate
};

} // namespace handlepool::detail
