#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/dense_iterator.hpp>
#include <handlepool/detail/emplace_n.hpp>
#include <handlepool/detail/pool_config.hpp>
#include <handlepool/detail/pool_core.hpp>
#include <handlepool/detail/range_of.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/failure.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/locked_object.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/stats.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// A concurrent handle pool: objects that lie contiguously in memory, and handles to them that are never
/// wrong.
///
/// Any thread may create, look up and erase at any time, without a lock. Once a frame, one thread calls
/// compact(), which destroys what was erased and makes the storage dense again. Between two compactions, a
/// *frame*, no object moves.
///
/// *Frame contract.* Handles may be used at any time. Pointers, references and items() may be used until the
/// next compaction starts; a thread that the program does not order with its compactions takes an access
/// guard, which holds them off. What is passed from thread to thread needs the usual happens-before.
///
/// @tparam T object type; nothrow move constructible and nothrow destructible, of any size and alignment
/// @tparam Layout how the bits of a handle are divided
/// @tparam Policy atomics, memory and batch sizes
/// @tparam Freelist where slots wait for their next use: fifo_freelist, or boost_freelist
template <class T, class Layout, class Policy, template <class> class Freelist>
class pool {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "compaction moves objects and can't fail half-way: T must be nothrow move constructible");
    static_assert(std::is_nothrow_destructible_v<T>,
                  "compaction destroys objects and can't fail half-way: T must be nothrow destructible");

    using core = detail::pool_core<T, detail::pool_config<Layout, Policy, Freelist>>;

public:
    /// What the pool is made of, and what its functions take and return.
    using value_type = T;
    using layout = Layout;
    using policy = Policy;
    using handle_type = handle<T, Layout>;
    using guard_type = access_guard<Policy>;
    using iterator = detail::dense_iterator<T>;
    using const_iterator = const T*;

    /// An empty pool. Reserves address space only; memory is used as objects come. Throws
    /// std::invalid_argument for options that no pool can have, reservation_failed when the system refuses
    /// the address space, and std::runtime_error when no pool id is left; each says what was asked for.
    explicit pool(const pool_options& options) : core_(options) {}

    /// Destroys all objects. No other thread may be using the pool. Linear in the slots ever used.
    ~pool() = default;

    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    /// Explains why no pool can have these options; empty when one can. Whether the system has the address
    /// space, and whether the pool id is free, shows only when the pool is made. Any thread, at any time;
    /// constant. Throws std::bad_alloc.
    static std::string refusal_of(const pool_options& options) { return core::refusal_of(options); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates an object from `args` and returns its handle, which resolves in every thread from here on.
    /// Progress: lock-free; wait-free except in calls that claim slots or nursery space, each about once in
    /// up to `Policy::claim_size` or `Policy::nursery_chunk` calls; amortized constant.
    /// Throws pool_exhausted (or pool_used_up, which is derived from it), too_many_threads, foreign_module,
    /// and what T's constructor throws; then nothing has changed.
    template <class... Args>
        requires std::constructible_from<T, Args...>
    handle_type emplace(Args&&... args) {
        const handle_type made = try_emplace(std::forward<Args>(args)...);
        if (!made) {
            core_.throw_refusal();
        }
        return made;
    }

    /// The same, but returns the null handle where emplace throws an error of its own: the pool is exhausted
    /// or used up, there are too many threads, or the pool belongs to a foreign module. Then `args` were not
    /// touched. Throws what T's constructor throws.
    template <class... Args>
        requires std::constructible_from<T, Args...>
    handle_type try_emplace(Args&&... args) {
        return handle_type::from_value(
            core_.create([&](void* memory) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
                ::new (memory) T(std::forward<Args>(args)...);
            }));
    }

    /// Creates an object by moving `object`. Otherwise like emplace.
    handle_type insert(T object) { return emplace(std::move(object)); }

    /// Creates `count` objects, each from `args`, and writes their handles to `out`; returns the end of what
    /// was written. All or nothing: when a constructor throws or there is no room, no object was ever visible
    /// and nothing was written; when writing throws, the objects are erased.
    /// Progress: lock-free; linear, with working memory for the handles.
    /// Throws like emplace, std::bad_alloc, and what writing throws.
    template <class OutputIt, class... Args>
        requires std::constructible_from<T, const Args&...> &&
                 std::output_iterator<OutputIt, handle<T, Layout>>
    OutputIt emplace_n(std::size_t count, OutputIt out, const Args&... args) {
        if (auto end = try_emplace_n(count, std::move(out), args...)) {
            return *std::move(end);
        }
        core_.throw_refusal();
    }

    /// The same, but returns nothing where emplace_n throws an error of the pool. Of two simultaneous calls
    /// that together ask for more than there is, both may be refused.
    template <class OutputIt, class... Args>
        requires std::constructible_from<T, const Args&...> &&
                 std::output_iterator<OutputIt, handle<T, Layout>>
    std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out, const Args&... args);

    /// Ends the life of the handle's object: from here on the handle is stale in every thread. Returns true
    /// for exactly one of all calls with a handle, false when it is stale. The object stays in memory,
    /// readable through pointers obtained before, until the next compaction destroys it.
    /// Progress: wait-free after a thread's first call, which is lock-free; always lock-free with
    /// boost_freelist. Constant.
    bool erase(handle_type handle) noexcept { return core_.erase(handle.value()); }

    /// Erases each handle of a range; returns how many were alive.
    /// Progress: that of erase for each; linear.
    /// Throws what the iteration throws.
    template <detail::range_of<handle<T, Layout>> Range>
    std::size_t erase(Range&& handles) {
        return core_.template erase_each<handle_type>(handles);
    }

    /// Erases all objects that are alive when the call begins.
    /// Progress: lock-free; linear in the slots ever used.
    void clear() noexcept { core_.clear(); }

    /// Is the handle's object alive?
    /// Progress: wait-free, constant.
    bool contains(handle_type handle) const noexcept { return core_.contains(handle.value()); }

    /// The number of objects whose handles resolve, and whether it is 0. Exact while nobody creates or
    /// erases.
    /// Progress: wait-free, linear in the lanes.
    std::size_t size() const noexcept { return core_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Objects that the pool has room for, guaranteed.
    /// Progress: wait-free, constant.
    std::size_t capacity() const noexcept { return core_.capacity(); }

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale.
    /// Progress: wait-free, constant.
    T* find(handle_type handle) noexcept { return core_.find(handle.value()); }
    const T* find(handle_type handle) const noexcept { return core_.find(handle.value()); }

    /// The handle's object.
    /// Progress: wait-free, constant.
    /// Throws stale_handle, which prints the handle's parts and says why it was refused; std::bad_alloc when
    /// there is no memory for that text.
    T& at(handle_type handle) { return *core_.at(handle.value()); }
    const T& at(handle_type handle) const { return *core_.at(handle.value()); }

    /// The object of a handle that is known to be alive, which only a checked build verifies.
    /// Progress: wait-free, constant.
    T& operator[](handle_type handle) noexcept { return *core_.living(handle.value()); }
    const T& operator[](handle_type handle) const noexcept { return *core_.living(handle.value()); }

    /// The dense store: the objects that were alive at the last compaction, contiguous. Those erased since
    /// are still among them, those created since are not yet.
    /// Progress: wait-free, constant.
    std::span<const T> items() const noexcept { return {core_.first(), core_.dense_size()}; }
    /// The same, for loops that change objects through pointers. Handles name places: never reorder the
    /// objects.
    std::span<T> mutable_items() noexcept { return {core_.first(), core_.dense_size()}; }
    /// The same as iterators, through which objects may be changed but not reordered.
    iterator begin() noexcept { return iterator(core_.first()); }
    iterator end() noexcept { return iterator(core_.first() + core_.dense_size()); }
    const_iterator begin() const noexcept { return items().data(); }
    const_iterator end() const noexcept { return begin() + core_.dense_size(); }

    /// The handle of the object at a position of the dense store; stale when the object was erased since the
    /// last compaction. Throws std::out_of_range when there is no such position.
    /// Progress: wait-free, constant.
    handle_type handle_at(std::size_t position) const {
        return handle_type::from_value(core_.handle_at(position));
    }

    /// The handle of an object of this pool, whether in items() yet or not; stale when the object was erased
    /// since. Null for an object that is not in the pool.
    /// Progress: wait-free, constant.
    handle_type handle_of(const T& object) const noexcept {
        return handle_type::from_value(core_.handle_of(&reinterpret_cast<const char&>(object)));
    }

    // ---- Guards: any thread, at any time

    /// Holds compaction off while the guard lives, which may be moved and may end in any thread.
    /// Progress: blocking: waits for a running compaction, and some tens of milliseconds for one that itself
    /// waits for guards, so that guards of several pools and services may be taken in any order. Must not be
    /// called by a destructor that a compaction runs. Constant.
    /// Throws too_many_threads, foreign_module, and compaction_conflict when the calling thread is
    /// compacting.
    [[nodiscard]] guard_type access() { return core_.access(); }

    /// The same, but returns an empty guard where access() would wait or throw.
    /// Progress: wait-free after a thread's first call, which is lock-free; constant.
    [[nodiscard]] guard_type try_access() noexcept { return core_.try_access(); }

    /// The handle's object together with a guard that keeps it where it is, or nothing when the handle is
    /// stale: for threads that are not ordered with the compactions, and for coroutines.
    /// Progress: blocking, like access(), and it throws the same.
    locked_object<T, Policy> lock(handle_type handle) {
        guard_type guard = access();
        return {find(handle), std::move(guard)};
    }
    locked_object<const T, Policy> lock(handle_type handle) const {
        return const_cast<pool*>(this)->lock(handle);
    }

    /// The same, but also empty where lock() would wait or throw.
    /// Progress: wait-free after a thread's first call, which is lock-free; constant.
    locked_object<T, Policy> try_lock(handle_type handle) noexcept {
        guard_type guard = try_access();
        T* const object = guard ? find(handle) : nullptr;
        return {object, std::move(guard)};
    }
    locked_object<const T, Policy> try_lock(handle_type handle) const noexcept {
        return const_cast<pool*>(this)->try_lock(handle);
    }

    // ---- Frames: one thread at a time

    /// Destroys erased objects, takes newborns into the dense store and closes the holes. Handle operations
    /// may go on meanwhile; some of what they do then may be left to the next compaction.
    /// Progress: blocking: waits for access guards. Linear in removals and newborns, not in the pool's size.
    /// Throws compaction_conflict when a compaction is running, or the calling thread made a guard that still
    /// exists.
    compaction_stats compact() { return compact(inline_executor()); }
    /// The same, with the loops run by an executor. Also throws what its begin_compaction throws, and then
    /// the compaction has not begun.
    template <executor Executor>
    compaction_stats compact(Executor&& executor) {
        return core_.compact(executor);
    }

    /// The same, but does nothing and returns nothing when it can't start at once.
    /// Progress: never waits for guards or for another compaction.
    std::optional<compaction_stats> try_compact() { return try_compact(inline_executor()); }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor&& executor) {
        return core_.try_compact(executor);
    }

    /// Would a compaction find nothing to do? Any thread, at any time; exact for what happened before the
    /// call.
    /// Progress: wait-free, linear in the lanes.
    bool idle() const noexcept { return core_.idle(); }

    /// In place of a compaction, when the pool is idle: only counts the frame.
    /// Progress: wait-free, constant.
    void skip_frame() noexcept { core_.skip_frame(); }

    // ---- The whole pool: while no compaction runs

    /// From here on, `hook(handle, object)` is called for each object that was erased, or is alive when the
    /// pool ends, just before it is destroyed: by the compacting thread, one object after the other, in the
    /// order of the hooks. What it refers to must outlive the pool. The handle is stale by then. A hook may
    /// use the pool like a destructor, and must not throw.
    /// Progress: blocking: waits for access guards. Linear in the hooks.
    /// Throws compaction_conflict like compact(), std::bad_alloc, and what moving the hook throws; then there
    /// is no new hook.
    template <class Hook>
        requires std::invocable<Hook&, handle<T, Layout>, T&>
    void on_erase(Hook hook) {
        core_.add_hook([hook = std::move(hook)](auto value, T* object) mutable {
            static_cast<void>(hook(handle_type::from_value(value), *object));
        });
    }

    /// Destroys all objects and starts all slots anew: with a generation above all that were handed out, so
    /// that old handles stay dead. Faster than clear() and compact() for objects that need no destructor.
    /// Only while no other thread uses the pool. Linear in the slots ever used. Throws compaction_conflict
    /// like compact().
    void reset() { core_.reset(); }

    /// Returns memory that the objects don't need now to the system. Old handles stay dead. Other threads may
    /// use handles meanwhile.
    /// Progress: blocking: waits for access guards. Linear in the memory returned.
    /// Throws compaction_conflict like compact().
    void shrink_to_fit() { core_.shrink_to_fit(); }

    // ---- Views for people: any thread, at any time

    /// The pool id in its handles, and its name.
    /// Progress: wait-free, constant.
    std::uint32_t id() const noexcept { return core_.id(); }
    const std::string& name() const noexcept { return core_.name(); }

    /// A moment's view of the pool. Takes no lock itself, but asks the system about each page of the address
    /// space: not for the inner loop. Throws std::bad_alloc.
    pool_stats stats() const { return core_.stats(); }

    /// What is known of a handle: "ships #1021 generation 7: erased 3 frames ago". The number of frames is
    /// known only with the option `remember_frames`.
    /// Progress: lock-free, constant.
    /// Throws std::bad_alloc.
    std::string describe(handle_type handle) const { return core_.describe(handle.value()); }

    /// Handles of at most `most` living objects, the oldest first: with the option `remember_frames` by the
    /// frames in which they were created, otherwise by generation and slot, which is the order of creation as
    /// long as no slot is reused.
    /// Progress: lock-free; linear in the slots ever used.
    /// Throws std::bad_alloc.
    std::vector<handle_type> oldest(std::size_t most) const {
        return core_.template oldest<handle_type>(most);
    }

private:
    friend class detail::pool_as_any<pool>;

    core core_;
};

// -----------------------------------------------------------------------------------------------------------

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class OutputIt, class... Args>
    requires std::constructible_from<T, const Args&...> && std::output_iterator<OutputIt, handle<T, Layout>>
std::optional<OutputIt> pool<T, Layout, Policy, Freelist>::try_emplace_n(std::size_t count, OutputIt out,
                                                                         const Args&... args) {
    return detail::emplace_n<handle_type>(
        core_, count, std::move(out),
        [&](void* memory) noexcept(std::is_nothrow_constructible_v<T, const Args&...>) {
            ::new (memory) T(args...);
        });
}

} // namespace handlepool

/// size() counts all living objects, iteration goes over those of the dense store.
template <class T, class Layout, class Policy, template <class> class Freelist>
inline constexpr bool std::ranges::disable_sized_range<handlepool::pool<T, Layout, Policy, Freelist>> = true;
