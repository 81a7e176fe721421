// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/pinned_object.hpp>
#include <handlepool/pool_base.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// The interface that pools and their views for one thread have, and spawners don't: guards, frames, and what
/// is done to a whole pool.
///
/// @tparam T object type, columns<...>, or void
/// @tparam Traits the types that the pool is configured with: see default_traits
template <class T, class Traits>
class pool_frames : public pool_base<T, Traits> {
    using base = pool_base<T, Traits>;
    using access_type = detail::object_access<T>;
    using const_access_type = detail::object_access<const T>;
    static constexpr bool is_exclusive = detail::core_of<T, Traits>::is_exclusive;

protected:
    using base::core;
    using base::core_beside;
    using base::from_here;

public:
    /// The types that the functions of the pool take and return.
    using typename base::const_pointer;
    using typename base::handle_type;
    using typename base::layout;
    using typename base::pointer;
    using typename base::policy;
    using typename base::size_type;
    using guard_type = access_guard<policy>;

    // ---- Guards: any thread, at any time

    /// Calls `function(object)` while a guard keeps compactions from moving or destroying the handle's
    /// object. Returns whether the object was alive; otherwise the function is not called. Guards don't
    /// exclude other threads: see pin().
    /// Progress: blocking, like access().
    /// Throws what access() throws, and what the function throws.
    template <class Function>
        requires std::invocable<Function&, typename detail::object_access<T>::reference> && (!is_exclusive)
    HANDLEPOOL_ALWAYS_INLINE bool visit(handle_type handle, Function&& function) {
        const auto pinned = pin(handle);
        if (pinned) {
            static_cast<void>(function(access_type::refer(pinned.get())));
        }
        return bool(pinned);
    }
    template <class Function>
    HANDLEPOOL_ALWAYS_INLINE bool visit(handle_type handle, Function&& function) const
        requires(!is_exclusive)
    {
        const auto pinned = pin(handle);
        if (pinned) {
            static_cast<void>(function(const_access_type::refer(pinned.get())));
        }
        return bool(pinned);
    }

    /// Returns the handle's object together with a guard that keeps compactions from moving or destroying it;
    /// empty when the handle is stale. For threads that are not ordered with the compactions, and for
    /// coroutines. A pin excludes compactions and nothing else: any number of threads may pin, read, write
    /// and erase the same object at the same time, so data that they share in it needs atomics or a mutex.
    /// Progress: blocking, like access().
    /// Throws what access() throws.
    HANDLEPOOL_ALWAYS_INLINE pinned_object<T, policy> pin(handle_type handle)
        requires(!is_exclusive)
    {
        guard_type guard = access();
        return {base::find(handle), std::move(guard)};
    }
    HANDLEPOOL_ALWAYS_INLINE pinned_object<const T, policy> pin(handle_type handle) const
        requires(!is_exclusive)
    {
        guard_type guard = access();
        return {base::find(handle), std::move(guard)};
    }

    /// Like pin(), but also returns an empty result where pin() would wait or throw.
    /// Progress: wait-free after a thread's first call, which is lock-free; constant.
    HANDLEPOOL_ALWAYS_INLINE pinned_object<T, policy> try_pin(handle_type handle) noexcept
        requires(!is_exclusive)
    {
        guard_type guard = try_access();
        return {guard ? base::find(handle) : pointer(), std::move(guard)};
    }
    HANDLEPOOL_ALWAYS_INLINE pinned_object<const T, policy> try_pin(handle_type handle) const noexcept
        requires(!is_exclusive)
    {
        guard_type guard = try_access();
        return {guard ? base::find(handle) : const_pointer(), std::move(guard)};
    }

    /// Returns a guard that holds compactions off while it lives. It may be moved, and may end in any thread.
    /// Must not be called by a destructor, sink or hook that a compaction runs.
    /// Progress: blocking: waits for a running compaction, and some tens of milliseconds for one that itself
    /// waits for guards, so that guards of several pools and services may be taken in any order. Constant.
    /// Throws too_many_threads, foreign_module, and compaction_conflict when the calling thread is
    /// compacting.
    [[nodiscard]] HANDLEPOOL_ALWAYS_INLINE guard_type access() const
        requires(!is_exclusive)
    {
        return core_beside().access(from_here());
    }

    /// Like access(), but returns an empty guard where that would wait or throw.
    /// Progress: wait-free after a thread's first call, which is lock-free; constant.
    [[nodiscard]] HANDLEPOOL_ALWAYS_INLINE guard_type try_access() const noexcept
        requires(!is_exclusive)
    {
        return core_beside().try_access(from_here());
    }

    // ---- Exclusive access: one thread

    /// Compacts the pool, and returns a view of it that has the pool's functions and does what they say at
    /// once, at the speed of a container for one thread. While it lives, nobody uses the pool but by it, in
    /// this thread: see exclusive_pool.hpp, which must be included.
    ///
    ///     auto alone = ships.exclusive_access();
    ///
    /// Progress: blocking: waits for access guards, and compacts.
    /// Throws too_many_threads, foreign_module, and compaction_conflict when a compaction is running, another
    /// such view lives, or the calling thread made a guard that still exists.
    template <class Known = Traits>
    [[nodiscard]] detail::known_exclusive_view<T, Known> exclusive_access()
        requires(!is_exclusive)
    {
        core_beside().close_for_exclusive();
        return detail::known_exclusive_view<T, Known>(core_beside());
    }

    /// Like exclusive_access(), but returns nothing where that would wait or throw.
    /// Progress: never waits.
    template <class Known = Traits>
    [[nodiscard]] std::optional<detail::known_exclusive_view<T, Known>> try_exclusive_access() noexcept
        requires(!is_exclusive)
    {
        using view_type = detail::known_exclusive_view<T, Known>;
        return core_beside().try_close_for_exclusive()
                   ? std::optional<view_type>(std::in_place, core_beside())
                   : std::nullopt;
    }

    // ---- Spawners: one thread

    /// Deals out what the pool has room for to `count` spawners, or to one for each weight: a task creates
    /// and erases with a spawner of its own, and the outcome is the same however many threads there are, and
    /// whatever each does when: see spawner.hpp, which must be included. The pool must have the option
    /// `spawners`, of `count` or more.
    ///
    ///     auto spawners = ships.spawners(8);
    ///
    /// The spawners keep compactions off as an access guard does, until they end.
    /// Progress: blocking, like access(). Linear in the spawners and the sum of the weights.
    /// Throws std::invalid_argument for a number or weights that are not allowed, spawner_conflict if others
    /// live, std::bad_alloc, and what access() throws.
    template <class Known = Traits>
    [[nodiscard]] HANDLEPOOL_ALWAYS_INLINE detail::known_spawner_set<T, Known> spawners(size_type count)
        requires(!is_exclusive)
    {
        return spawners<Known>(std::vector<std::uint32_t>(count, 1));
    }
    template <class Known = Traits>
    [[nodiscard]] HANDLEPOOL_ALWAYS_INLINE detail::known_spawner_set<T, Known>
    spawners(std::span<const std::uint32_t> weights)
        requires(!is_exclusive)
    {
        return detail::known_spawner_set<T, Known>(core_beside(), weights, from_here());
    }

    // ---- Frames: one thread at a time

    /// Destroys erased objects, takes newborns into the store and, in dense pools, closes the holes; the
    /// executor runs its loops. Handle operations may go on concurrently; some of what they do then may be
    /// left to the next compaction.
    /// Progress: blocking: waits for access guards. Linear in removals and newborns, not in the pool's size;
    /// with the option `keep_order` also in the objects behind the first hole, and after clear() in the slots
    /// ever used.
    /// Throws compaction_conflict when a compaction is running, or the calling thread made a guard that still
    /// exists; and what the executor's begin_compaction throws. Then the compaction has not begun.
    template <executor Executor = inline_executor>
    compaction_stats compact(Executor&& executor = Executor()) {
        return core_beside().compact(executor);
    }

    /// Like compact(), but returns nothing, and does nothing, when it can't start at once, or when guards
    /// that the last compaction kept waiting have not passed yet.
    /// Progress: never waits for guards or for another compaction.
    template <executor Executor = inline_executor>
    std::optional<compaction_stats> try_compact(Executor&& executor = Executor()) {
        return core_beside().try_compact(executor);
    }

    /// A part of a compaction, for frames without the time for a whole one. Processes at most `budget`
    /// removals and newborns together, half of each where both wait, and leaves the others to the next
    /// compactions, in their order: such newborns are found but not yet in the store, and such erased objects
    /// are not destroyed. Work is taken round-robin across threads, so no thread's objects are delayed by
    /// more than one frame per competing thread.
    ///
    /// Extractions are not counted. In addition, up to `budget` objects that were erased without a queue
    /// entry (by clear(), or because a queue was full) are found by scanning part of the slots, continuing
    /// where the previous call stopped. With `keep_order`, every object after the first hole is also moved.
    /// Progress: like compact(), but linear in the budget and the shards.
    /// Throws what compact() throws.
    template <executor Executor = inline_executor>
    compaction_stats compact_some(size_type budget, Executor&& executor = Executor()) {
        return core_beside().compact(executor, budget);
    }

    /// Returns whether a compaction would find nothing to do. Any thread, at any time; exact for what
    /// happened before the call.
    /// Progress: wait-free, linear in the shards.
    bool idle() const noexcept { return core_beside().idle(); }

    // ---- The whole pool: one thread at a time, not while a compaction runs; others may use handles

    /// Calls `hook(handle, object)` from now on, as long as the connection that is returned lives, for each
    /// object just before it is destroyed: erased ones at the next compaction, and living ones when the pool
    /// ends. A connection that is declared behind the pool ends first, and its hook sees nothing of the
    /// pool's end; this one does, where the constructor says `deaths_ = ships_.on_destroy(...)`:
    ///
    ///     int afloat_ = 0; // used by the hook, and so declared first
    ///     scoped_hook deaths_;
    ///     pool<ship> ships_;
    ///
    /// Hooks run on the compacting thread, one object after the other, and for each object in the order of
    /// the hooks: early ones first, which find the object in all attached containers. The handle is stale by
    /// then. A hook may use the pool like a destructor, and must not throw.
    /// Progress: blocking: waits for access guards. Linear in the hooks.
    /// Throws what compact() throws, std::bad_alloc, and what moving the hook throws; then there is no new
    /// hook.
    template <class Hook>
        requires std::invocable<Hook&, handle<T, layout>, typename detail::object_access<T>::reference>
    scoped_hook on_destroy(Hook hook, hook_order order = hook_order::early) {
        return core_beside().add_destroy_hook(with_references(std::move(hook)), order);
    }

    /// Calls `hook(handle, object)` from now on for each object that a compaction takes into the store, at
    /// the end of that compaction: all objects are in the store by then, and stay where they are for the
    /// frame that begins. An object that is erased before it is reported is not reported, so on_destroy() may
    /// see objects that on_birth() has not seen. A hook may also look up objects. Otherwise like
    /// on_destroy(). Also throws reservation_failed.
    template <class Hook>
        requires std::invocable<Hook&, handle<T, layout>, typename detail::object_access<T>::reference>
    scoped_hook on_birth(Hook hook) {
        return core_beside().add_birth_hook(with_references(std::move(hook)));
    }

    /// Extracts all objects that are alive when the call begins, newborns too, by a compaction that passes
    /// each to `sink(handle, object)` before it destroys it: those of the store in its order, then newborns
    /// in the order of their slots. Returns how many. The sink follows the rules of extract().
    /// Progress: blocking: waits for access guards. Linear in the slots ever used, with working memory for
    /// the handles.
    /// Throws what compact() throws, and std::bad_alloc; then nothing has changed.
    template <class Sink>
        requires std::invocable<Sink&, handle<T, layout>, typename detail::object_access<T>::given_away>
    HANDLEPOOL_ALWAYS_INLINE size_type drain(Sink&& sink) {
        return core_beside().drain(
            [&](auto value, pointer object) {
                static_cast<void>(sink(handle_type::from_value(value), access_type::give_away(object)));
            },
            from_here());
    }

    /// Destroys all objects, and restarts all slots with a generation above all that were handed out, so that
    /// old handles stay stale; where a slot is used up, there is none above, and all slots are used up.
    /// Faster than clear() and compact() for objects that need no destructor. No other thread may be using
    /// the pool. Linear in the slots ever used. Throws what compact() throws.
    HANDLEPOOL_ALWAYS_INLINE void reset() { core_beside().reset(from_here()); }

    /// Returns memory that the objects don't need now to the system, in whole pages. Old handles stay stale.
    /// Erased objects keep their memory until a compaction has destroyed them. Another thread that has
    /// created objects, even if it has ended, keeps the places that it has claimed and not used, those of 63
    /// objects at most; in stable pools also those of up to three more groups of 64, of which most were in
    /// use when it claimed them.
    /// Progress: blocking: waits for access guards. Linear in the memory returned and the shards.
    /// Throws what compact() throws.
    void shrink_to_fit() { core_beside().shrink_to_fit(); }

    /// Like shrink_to_fit(), but returns false, and does nothing, when a guard is held or a compaction is
    /// running. Any thread, at any time. Throws nothing.
    /// Progress: never waits.
    bool try_shrink_to_fit() noexcept { return core_beside().try_shrink_to_fit(); }

    /// Erases all objects that are alive when the call begins. It queues no entry for each of them: the next
    /// compaction scans all slots, and one with a budget scans a part of them.
    /// Progress: lock-free; linear in the slots ever used.
    HANDLEPOOL_ALWAYS_INLINE void clear() noexcept { core().clear(from_here()); }

    // ---- Diagnostics: any thread, at any time

    /// Returns a snapshot of the pool's counters. It takes no lock, but asks the system about each page of
    /// the address space, so it is not for inner loops. Throws std::bad_alloc.
    pool_stats stats() const { return core().stats(); }

    /// Returns the handles of at most `most` living objects, the oldest first: with the option
    /// `remember_frames` by the frames in which they were created, or brought back by a restore or a load,
    /// otherwise by generation and slot, which is the order of creation as long as no slot is reused.
    /// Progress: lock-free; linear in the slots ever used.
    /// Throws std::bad_alloc.
    std::vector<handle_type> oldest(size_type most) const {
        return core().template oldest<handle_type>(most);
    }

protected:
    using base::base;
    ~pool_frames() = default;

private:
    template <class Hook>
    static auto with_references(Hook hook) {
        return detail::make_typed_hook<handle_type>(
            std::move(hook), [](Hook& user, handle_type handle, pointer object) {
                static_cast<void>(user(handle, access_type::refer(object)));
            });
    }
};

namespace detail {

/// What a pool's class is derived from.
template <class T, class Traits>
using interface_of =
    std::conditional_t<core_of<T, Traits>::is_spawner, pool_base<T, Traits>, pool_frames<T, Traits>>;

} // namespace detail

} // namespace handlepool
