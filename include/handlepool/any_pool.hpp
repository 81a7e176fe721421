// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/type_id.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/detail/threads/parent_gate.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace handlepool {

namespace detail {

template <class Layout, class Policy>
class service_compactor;
template <class Layout, class Policy>
class exclusive_views;

} // namespace detail

/// A pool of objects of any type, as a service sees it. Results, threads, progress, errors and costs are
/// those of the functions of the same names of pool and raw_pool.
template <class Layout>
class HANDLEPOOL_EXPORT any_pool {
public:
    /// Its handles, and what on_destroy and on_birth take.
    using handle_type = handle<void, Layout>;
    using hook = std::function<void(handle_type handle, void* object)>;

    any_pool() = default;
    any_pool(const any_pool&) = delete;
    any_pool& operator=(const any_pool&) = delete;
    virtual ~any_pool() = default;

    /// Its name, and the pool id in its handles.
    virtual const std::string& name() const noexcept = 0;
    virtual std::uint32_t id() const noexcept = 0;

    /// The number of objects whose handles resolve.
    virtual std::size_t size() const noexcept = 0;

    /// Returns whether the handle's object is alive.
    virtual bool contains(handle_type handle) const noexcept = 0;

    /// Returns whether the handle is stale, reserved, or names a living object.
    virtual handle_state state(handle_type handle) const noexcept = 0;

    /// Ends the life of the handle's object. True for exactly one of all calls with a handle.
    virtual bool erase(handle_type handle) noexcept = 0;

    /// A new handle for the handle's object, and the old one is stale; null when there is none.
    virtual handle_type revoke(handle_type handle) noexcept = 0;

    /// Gives up a reserved handle. True for exactly one of all calls with a handle, unless it is fulfilled.
    virtual bool cancel(handle_type handle) noexcept = 0;

    /// Erases all objects that are alive when the call begins.
    virtual void clear() noexcept = 0;

    /// The handle's object, within the frame contract, or null when the handle is stale. A row is represented
    /// by its element of the first column.
    virtual void* find(handle_type handle) noexcept = 0;
    /// Like find(), but returns a `T*`, or a row_pointer for rows; null also when the objects are not of type
    /// `T`.
    template <class T>
    typename detail::object_access<T>::pointer find(handle_type handle) noexcept {
        if (!holds<T>()) {
            return nullptr;
        }
        if constexpr (detail::is_columns<T>) {
            return typename detail::object_access<T>::pointer(find_row(handle));
        } else {
            return static_cast<T*>(find(handle));
        }
    }

    /// Describes a handle in readable text.
    virtual std::string describe(handle_type handle) const = 0;

    /// Handles of at most `most` living objects, the oldest first.
    virtual std::vector<handle_type> oldest(std::size_t most) const = 0;

    /// A moment's view of the pool.
    virtual pool_stats stats() const = 0;

    /// Calls `hook(handle, object)` from now on for each object just before it is destroyed, with the pointer
    /// that find() returned for it. Follows the rules of pool::on_destroy().
    virtual scoped_hook on_destroy(hook called, hook_order order = hook_order::early) = 0;
    /// Calls `hook(handle, object)` from now on for each object that a compaction takes into the store.
    virtual scoped_hook on_birth(hook called) = 0;

    /// Compacts the pool; try_compact() returns nothing when it can't start at once.
    virtual compaction_stats compact(executor_ref executor) = 0;
    virtual std::optional<compaction_stats> try_compact(executor_ref executor) = 0;
    /// Takes at most `budget` removals and newborns, and leaves the others to the next compactions.
    virtual compaction_stats compact_some(std::size_t budget, executor_ref executor) = 0;

    /// Returns memory that the objects don't need now to the system; try_shrink_to_fit() returns false where
    /// it can't do so at once.
    virtual void shrink_to_fit() = 0;
    virtual bool try_shrink_to_fit() noexcept = 0;

    /// A view of the pool for the one thread that uses it, as any pool: `as<exclusive_pool<ship>>()`, say,
    /// gives its type back. It lives no longer than the pool. Throws like pool::exclusive_access(), and
    /// std::bad_alloc; try_exclusive_access() returns null where that would wait or be refused.
    virtual std::unique_ptr<any_pool> exclusive_access() = 0;
    std::unique_ptr<any_pool> try_exclusive_access() { return exclusive_access_within(0); }

    /// Returns whether an access guard of the pool is held at this moment.
    virtual bool has_guards() const noexcept = 0;
    /// Returns whether a compaction of the pool runs at this moment, or waits for guards.
    virtual bool is_compacting() const noexcept = 0;

    /// Returns whether a compaction would find nothing to do.
    virtual bool idle() const noexcept = 0;

    /// The pool if it is a `Pool`, else null. Any thread, at any time; wait-free, constant.
    template <class Pool>
    Pool* as() noexcept {
        return static_cast<Pool*>(type() == detail::type_id::of<Pool>() ? address() : nullptr);
    }

    /// Returns whether its objects are of type `T`, whatever its policy and freelist are. Any thread, at any
    /// time; wait-free, constant.
    template <class T>
    bool holds() const noexcept {
        return object_type() == detail::type_id::of<std::remove_cv_t<T>>();
    }

    /// Returns whether its handles, with type and key, are `Handle`s. Any thread, at any time; wait-free,
    /// constant.
    template <class Handle>
    bool gives() const noexcept {
        return type_of_handles() == detail::type_id::of<Handle>();
    }

protected:
    template <class AnyLayout, class Policy>
    friend class detail::service_compactor;
    template <class AnyLayout, class Policy>
    friend class detail::exclusive_views;

    /// Counts a frame without a compaction; for a pool that is idle.
    virtual void skip_frame() noexcept = 0;

    /// Removals and newborns that wait for a compaction.
    virtual std::size_t waiting() const noexcept = 0;

    /// Like compact_some(), for a service: lets guards pass `parent` while it waits for its own, and returns
    /// a refusal instead of throwing it.
    virtual detail::compaction_attempt compact_inside(detail::parent_gate* parent, executor_ref executor,
                                                      std::size_t budget) = 0;
    /// Like shrink_to_fit(), but lets guards pass `parent` and returns a refusal, as compact_inside() does.
    virtual detail::gate_refusal shrink_inside(detail::parent_gate* parent) noexcept = 0;

    /// Like exclusive_access(), but returns null where that would wait longer, in nanoseconds, or be refused.
    virtual std::unique_ptr<any_pool> exclusive_access_within(std::uint64_t patience) = 0;

    /// Where the elements of the handle's row are; null when the handle is stale, and in pools of objects.
    virtual detail::row_address find_row(handle_type handle) noexcept = 0;

    /// Identifies the pool's type, for as(), holds() and gives(); the pool itself, for as().
    virtual detail::type_id type() const noexcept = 0;
    virtual detail::type_id object_type() const noexcept = 0;
    virtual detail::type_id type_of_handles() const noexcept = 0;
    virtual void* address() noexcept = 0;
};

} // namespace handlepool
