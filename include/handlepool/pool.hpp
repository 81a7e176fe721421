#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/dense_iterator.hpp>
#include <handlepool/detail/pool_config.hpp>
#include <handlepool/detail/pool_core.hpp>
#include <handlepool/executor.hpp>
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
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// A concurrent handle pool: objects that lie contiguously in memory, and handles to them that are never
/// wrong.
///
/// Any thread may create, look up and erase at any time, without a lock. Once a frame one thread calls
/// compact(): it destroys what was erased, and makes the storage dense again. Between two compactions, a
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
    using value_type = T;
    using layout = Layout;
    using policy = Policy;
    using handle_type = handle<T, Layout>;
    using guard_type = access_guard<Policy>;
    using iterator = detail::dense_iterator<T>;
    using const_iterator = const T*;

    /// An empty pool. Throws std::invalid_argument for options that can't be, reservation_failed when the
    /// system refuses the address space, std::runtime_error when no pool id is left; each says what was asked
    /// for.
    explicit pool(const pool_options& options) : core_(options) {}

    /// Destroys all objects. No thread may be using the pool.
    ~pool() = default;

    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    /// Why no pool can have these options; empty when one can. Only the pool's making tells whether the
    /// system has the address space, and whether the pool id is free.
    static std::string refusal_of(const pool_options& options) { return core::refusal_of(options); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates an object from `args` and returns its handle, which resolves from here on in every thread.
    /// Lock-free; wait-free but for one in `Policy::claim_size` calls. Amortized constant.
    /// Throws pool_exhausted (or, derived from it, pool_used_up), too_many_threads, and what T's constructor
    /// throws; then nothing has changed.
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
    /// or used up, or the process has too many threads. Then `args` were not touched.
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
    /// and nothing was written; when writing throws, the objects are erased. Throws like emplace,
    /// std::bad_alloc, and what writing throws. Linear, with working memory for the handles.
    template <class OutputIt, class... Args>
        requires std::constructible_from<T, const Args&...> &&
                 std::output_iterator<OutputIt, handle<T, Layout>>
    OutputIt emplace_n(std::size_t count, OutputIt out, const Args&... args) {
        if (auto end = try_emplace_n(count, std::move(out), args...)) {
            return *std::move(end);
        }
        core_.throw_refusal();
    }

    /// The same, but returns nothing where emplace_n throws an error of the pool.
    template <class OutputIt, class... Args>
        requires std::constructible_from<T, const Args&...> &&
                 std::output_iterator<OutputIt, handle<T, Layout>>
    std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out, const Args&... args);

    /// Ends the life of the handle's object: from here on the handle is stale in every thread. Returns true
    /// for exactly one of all calls with a handle, false when it is stale. The object stays in memory,
    /// readable through pointers that were got before, until the next compaction destroys it. Wait-free after
    /// a thread's first call, which is lock-free; constant.
    bool erase(handle_type handle) noexcept { return core_.erase(handle.value()); }

    /// Erases each handle of a range; returns how many were alive. Linear; each erase is wait-free.
    template <std::ranges::input_range Range>
        requires std::convertible_to<std::ranges::range_reference_t<Range>, handle<T, Layout>>
    std::size_t erase(Range&& handles) {
        std::size_t erased = 0;
        for (const handle_type each : handles) {
            erased += erase(each) ? 1U : 0U;
        }
        return erased;
    }

    /// Erases all objects that are alive when the call begins. Their slots are not forgotten: old handles
    /// stay dead. Lock-free; linear in the slots ever used.
    void clear() noexcept { core_.clear(); }

    /// Is the handle's object alive? Wait-free, constant.
    bool contains(handle_type handle) const noexcept { return core_.contains(handle.value()); }

    /// Objects whose handles resolve. Exact while nobody creates or erases. Wait-free, linear in the lanes.
    std::size_t size() const noexcept { return core_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Objects that the pool has room for, guaranteed.
    std::size_t capacity() const noexcept { return core_.capacity(); }

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale. Wait-free, constant.
    T* find(handle_type handle) noexcept { return core_.find(handle.value()); }
    const T* find(handle_type handle) const noexcept { return const_cast<pool*>(this)->find(handle); }

    /// The handle's object. Throws stale_handle, which prints the handle's parts and says why it was refused;
    /// std::bad_alloc when there is no memory for that text.
    T& at(handle_type handle) { return *core_.at(handle.value()); }
    const T& at(handle_type handle) const { return const_cast<pool*>(this)->at(handle); }

    /// The object of a handle that is known to be alive; looked at only in checked builds. Wait-free,
    /// constant.
    T& operator[](handle_type handle) noexcept { return *core_.living(handle.value()); }
    const T& operator[](handle_type handle) const noexcept { return const_cast<pool&>(*this)[handle]; }

    /// The dense store: the objects that were alive at the last compaction, contiguous. Those erased since
    /// are still among them, those created since are not yet.
    std::span<const T> items() const noexcept {
        return {const_cast<pool*>(this)->core_.first(), core_.dense_size()};
    }
    /// The same, for loops that need pointers to objects that they change. What is exchanged here changes
    /// what handles name: never sort it.
    std::span<T> mutable_items() noexcept { return {core_.first(), core_.dense_size()}; }
    /// The same, one object after the other, which may be changed but not exchanged.
    iterator begin() noexcept { return iterator(core_.first()); }
    iterator end() noexcept { return iterator(core_.first() + core_.dense_size()); }
    const_iterator begin() const noexcept { return items().data(); }
    const_iterator end() const noexcept { return begin() + core_.dense_size(); }

    /// The handle of the object at a position of the dense store; stale when the object was erased since the
    /// last compaction. Throws std::out_of_range when there is no such position. Wait-free, constant.
    handle_type handle_at(std::size_t position) const {
        return handle_type::from_value(core_.handle_at(position));
    }

    /// The handle of an object of this pool, be it in items() or not; stale when it was erased since. Null
    /// for an object that is not in the pool. Wait-free, constant.
    handle_type handle_of(const T& object) const noexcept {
        return handle_type::from_value(core_.handle_of(std::addressof(object)));
    }

    // ---- Guards: any thread, at any time

    /// Holds compaction off while the guard lives, which may be moved and may end in any thread. Waits for a
    /// running compaction, and some tens of milliseconds for one that itself waits for guards: guards of
    /// several pools and services may be taken in any order. Not for destructors, which a compaction waits
    /// for. Throws too_many_threads, foreign_module, and compaction_conflict when the calling thread is
    /// compacting. Blocking; constant.
    [[nodiscard]] guard_type access() { return core_.access(); }

    /// The same, but returns an empty guard where access() would wait or throw. Wait-free.
    [[nodiscard]] guard_type try_access() noexcept { return core_.try_access(); }

    /// The handle's object together with a guard that keeps it where it is, or nothing when the handle is
    /// stale: for threads that are not ordered with the compactions, and for coroutines. Waits and throws
    /// like access().
    locked_object<T, Policy> lock(handle_type handle) {
        guard_type guard = access();
        return {find(handle), std::move(guard)};
    }
    locked_object<const T, Policy> lock(handle_type handle) const {
        return const_cast<pool*>(this)->lock(handle);
    }

    /// The same, but also empty where lock() would wait or throw. Wait-free.
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
    /// may go on meanwhile; what they do then may have to wait for the next compaction. Waits for access
    /// guards. Linear in removals and newborns, not in the pool's size. Throws compaction_conflict when a
    /// compaction is running, or a guard lives that the calling thread has made.
    compaction_stats compact() { return compact(inline_executor()); }
    /// The same, with the loops run by an executor.
    template <executor Executor>
    compaction_stats compact(Executor&& executor) {
        return core_.compact(executor);
    }

    /// The same, but does nothing and returns nothing when it can't start at once. Never waits.
    std::optional<compaction_stats> try_compact() { return try_compact(inline_executor()); }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor&& executor) {
        return core_.try_compact(executor);
    }

    /// Has nothing happened since the last compaction that another one would act on? Any thread, at any time;
    /// exact for what happened before the call. Wait-free, linear in the lanes.
    bool idle() const noexcept { return core_.idle(); }

    /// Instead of a compaction, when the pool is idle: counts the frame, and does nothing.
    void skip_frame() noexcept { core_.skip_frame(); }

    // ---- The whole pool: while no compaction runs

    /// From here on, `hook(handle, object)` is called for each object that was erased, or is alive when the
    /// pool ends, just before it is destroyed: by the compacting thread, one object after the other, in the
    /// order of the hooks. What it refers to must outlive the pool. The handle is stale by then. A hook may
    /// use the pool like a destructor, and must not throw. Throws compaction_conflict like compact(),
    /// std::bad_alloc, and what moving the hook throws; then there is no new hook.
    template <std::invocable<handle<T, Layout>, T&> Hook>
    void on_erase(Hook hook) {
        core_.add_hook([hook = std::move(hook)](auto value, T* object) mutable {
            hook(handle_type::from_value(value), *object);
        });
    }

    /// Destroys all objects, and forgets all slots in one step: generations start above all that were handed
    /// out, so that old handles stay dead. Faster than clear() and compact() for objects that need no
    /// destructor. While no other thread uses the pool. Throws compaction_conflict like compact().
    void reset() { core_.reset(); }

    /// Gives memory that the objects don't need now back to the system. Old handles stay dead. Other threads
    /// may use handles meanwhile. Throws compaction_conflict like compact().
    void shrink_to_fit() { core_.shrink_to_fit(); }

    // ---- Views for people: any thread, at any time

    std::uint32_t id() const noexcept { return core_.id(); }
    const std::string& name() const noexcept { return core_.name(); }

    /// A moment's view of the pool. Lock-free; asks the system for resident memory, so not for the inner
    /// loop. Throws std::bad_alloc.
    pool_stats stats() const { return core_.stats(); }

    /// What is known of a handle: "ships #1021 generation 7: erased 3 frames ago". How long ago is known only
    /// with the option `remember_frames`. Lock-free; throws std::bad_alloc.
    std::string describe(handle_type handle) const { return core_.describe(handle.value()); }

    /// Handles of objects that are alive, `most` at the most, the oldest first: by the frames in which they
    /// were created with the option `remember_frames`, else by generation and slot, which is the order of
    /// creation as long as no slot is used again. Throws std::bad_alloc; linear in the slots ever used.
    std::vector<handle_type> oldest(std::size_t most) const {
        return core_.template oldest<handle_type>(most);
    }

private:
    friend class detail::pool_as_any<pool>;

    core core_;
};

template <class T, class Layout, class Policy, template <class> class Freelist>
template <class OutputIt, class... Args>
    requires std::constructible_from<T, const Args&...> && std::output_iterator<OutputIt, handle<T, Layout>>
std::optional<OutputIt> pool<T, Layout, Policy, Freelist>::try_emplace_n(std::size_t count, OutputIt out,
                                                                         const Args&... args) {
    if (!core_.has_room_for(count)) {
        return std::nullopt;
    }
    // Erases what was made, unless all of it was written.
    struct handles {
        ~handles() { self.erase(made); }
        pool& self;
        std::vector<handle_type> made;
    } all{*this, std::vector<handle_type>(count)};
    if (!core_.create_many(
            count,
            [&](void* memory) noexcept(std::is_nothrow_constructible_v<T, const Args&...>) {
                ::new (memory) T(args...);
            },
            [&](std::size_t i, auto value) { all.made[i] = handle_type::from_value(value); })) {
        return std::nullopt;
    }
    for (const handle_type each : all.made) {
        *out = each;
        ++out;
    }
    all.made.clear();
    return out;
}

} // namespace handlepool

/// size() counts all living objects, iteration goes over those of the dense store.
template <class T, class Layout, class Policy, template <class> class Freelist>
inline constexpr bool std::ranges::disable_sized_range<handlepool::pool<T, Layout, Policy, Freelist>> = true;
