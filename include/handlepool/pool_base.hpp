// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/base/range_of.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/pool/pool_impl.hpp>
#include <handlepool/detail/pool/projected_view.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/failure.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/object_lookup.hpp>
#include <handlepool/pinned_object.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/pool_entry.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>
#include <handlepool/traits.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// What all pools have in common, whatever their objects are, and wherever these lie: all that is done by
/// handles, frames, and views of the whole. pool, pool<columns<...>> and raw_pool add how objects are
/// created, and how their store is reached.
///
/// A *reference* is how an object is passed: `T&`, a row of a pool of columns, a `void*` of a raw_pool. A
/// *pointer* is `T*`, a row_pointer, or `void*`.
///
/// @tparam T object type, columns<...>, or void
/// @tparam Traits the types that the pool is configured with
template <class T, class Traits>
class pool_base {
    using access_type = detail::object_access<T>;
    using const_access_type = detail::object_access<const T>;

protected:
    /// What the parts are made with; what does the work, with values for handles; and whether the store is
    /// dense, so that objects have positions.
    using config = detail::config_of<Traits>;
    using core = detail::pool_impl<T, config>;
    static constexpr bool dense = std::is_same_v<typename Traits::placement, dense_placement>;

public:
    /// What the pool is made of, and what its functions take and return.
    using layout = typename Traits::layout;
    using policy = typename Traits::policy;
    using handle_type = handle<T, layout>;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using pointer = typename access_type::pointer;
    using const_pointer = typename const_access_type::pointer;
    using reference = typename access_type::reference;
    using const_reference = typename const_access_type::reference;
    using guard_type = access_guard<policy>;
    using lookup_type = object_lookup<handle_type, T, config>;
    using const_lookup_type = object_lookup<handle_type, const T, config>;
    using entry_type = pool_entry<T, layout>;
    using const_entry_type = pool_entry<const T, layout>;

    pool_base(const pool_base&) = delete;
    pool_base& operator=(const pool_base&) = delete;

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Ends the life of the handle's object: from here on the handle is stale in every thread. Returns true
    /// for exactly one of all calls with a handle, false when it is stale. The object stays in memory,
    /// readable through pointers obtained before, until the next compaction destroys it.
    /// Progress: wait-free after a thread's first call, which is lock-free; always lock-free with
    /// boost_freelist. Constant.
    bool erase(handle_type handle) noexcept { return core_.erase(handle.value()); }

    /// Erases each handle of a range; returns how many were alive.
    /// Progress: that of erase for each; linear.
    /// Throws what the iteration throws.
    template <detail::range_of<handle_type> Range>
    std::size_t erase(Range&& handles) {
        return core_.template erase_each<handle_type>(handles);
    }

    /// Ends the life of the handle's object like erase, but the next compaction passes it to `sink(object)`
    /// before it destroys it, after the hooks of on_destroy: in the compacting thread, in the order of the
    /// calls as far as threads order them. The sink takes a `T&&`, or a row whose elements it may move away;
    /// in a raw_pool it takes a pointer, and must end the object itself, by moving it away with the type's
    /// relocate or by destroying it. The pool's end and reset() pass objects to sinks too. What the sink
    /// refers to must live until then. A sink may use the pool like a destructor, and must not throw. Returns
    /// true for exactly one of all calls of extract and erase with a handle; else the sink is destroyed, by
    /// this call or by the next compaction. Progress: lock-free beside the allocation of a record; a stale
    /// handle allocates nothing. Constant. Throws std::bad_alloc, and what moving the sink throws; then
    /// nothing has changed.
    template <class Sink>
        requires std::invocable<Sink&, typename detail::object_access<T>::given_away>
    bool extract(handle_type handle, Sink sink) {
        return core_.extract(handle.value(), [sink = std::move(sink)](pointer object) mutable {
            static_cast<void>(sink(access_type::give_away(object)));
        });
    }

    /// Erases all objects that are alive when the call begins. Leaves no records: the next compaction looks
    /// at all slots, and with a budget at some of them. Progress: lock-free; linear in the slots ever used.
    void clear() noexcept { core_.clear(); }

    /// Is the handle's object alive?
    /// Progress: wait-free, constant.
    bool contains(handle_type handle) const noexcept { return core_.contains(handle.value()); }

    /// Is the handle stale, reserved, or that of a living object? Exact for a thread that is ordered after
    /// the call that gave the handle out.
    /// Progress: wait-free, constant.
    handle_state state(handle_type handle) const noexcept { return core_.state(handle.value()); }

    /// Returns a new handle for the handle's object, which stays what and where it is: from here on the old
    /// one is stale in every thread, as after an erase. Exactly one of all revokes and erases of a handle
    /// succeeds. Null when the handle is stale; also when it is the last one that its slot can have, and then
    /// the object lives on under it. Each revoke takes one handle away from those that are left to the slot,
    /// see lifetime().
    /// Progress: wait-free, constant.
    handle_type revoke(handle_type handle) noexcept {
        return handle_type::from_value(core_.revoke(handle.value()));
    }

    /// The number of objects whose handles resolve, and whether it is 0. Exact while nobody creates or
    /// erases.
    /// Progress: wait-free, linear in the shards.
    std::size_t size() const noexcept { return core_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Objects that the pool has room for, guaranteed.
    /// Progress: wait-free, constant.
    std::size_t capacity() const noexcept { return core_.capacity(); }

    /// How many handles the pool gives out before it is used up, at least, counted from its construction or
    /// the last reset(): one for each object, and one more for each revoked, cancelled or failed
    /// emplace_with. They follow from the layout and the options: (slots - reuse_delay) x handles of a slot.
    /// Progress: wait-free, constant.
    std::uint64_t lifetime() const noexcept { return core_.lifetime(); }

    /// How many other objects are destroyed, at least, between the destruction of an object and the creation
    /// of the next one in its slot: the `reuse_delay` in effect. It counts destructions, because no number of
    /// creations can be promised: when many objects die in one frame, the first of their slots may be the
    /// next that is used.
    /// Progress: wait-free, constant.
    std::size_t reuse_guarantee() const noexcept { return core_.reuse_guarantee(); }

    // ---- Handles before objects: any thread, at any time, also while a compaction runs

    /// Gives out a handle whose object comes later, by fulfill(): to break a cycle between objects, or to
    /// answer a request before it is carried out. Until then the handle does not resolve, and can't be erased
    /// or revoked. It takes a slot, and so room from the capacity, until its object was erased or it is
    /// cancelled; clear() leaves it, reset() and the pool's end make it stale.
    /// Progress: like emplace.
    /// Throws pool_exhausted, pool_used_up, too_many_threads, foreign_module, like emplace.
    handle_type reserve_handle() { return made_or_throw(try_reserve_handle()); }

    /// Like reserve_handle(), but returns the null handle where that throws.
    handle_type try_reserve_handle() noexcept { return handle_type::from_value(core_.reserve()); }

    /// Gives up a reserved handle: it is stale from here on, and its slot goes to whoever wants the next.
    /// Returns false when the handle is not reserved, or another thread is fulfilling it.
    /// Progress: wait-free after a thread's first call, which is lock-free. Constant.
    bool cancel(handle_type handle) noexcept { return core_.cancel(handle.value()); }

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale.
    /// Progress: wait-free, constant.
    pointer find(handle_type handle) noexcept { return core_.find(handle.value()); }
    const_pointer find(handle_type handle) const noexcept { return core_.find(handle.value()); }

    /// What looks handles up in a loop, faster than the pool itself: see object_lookup.hpp. Serves as long as
    /// the pool lives.
    /// Progress: wait-free, constant.
    lookup_type lookup() noexcept { return core_.template lookup<lookup_type>(); }
    const_lookup_type lookup() const noexcept { return core_.template lookup<const_lookup_type>(); }

    /// The handle's object.
    /// Progress: wait-free, constant.
    /// Throws stale_handle, which prints the handle's parts and says why it was refused; std::bad_alloc when
    /// there is no memory for that text.
    reference at(handle_type handle) { return access_type::refer(core_.at(handle.value())); }
    const_reference at(handle_type handle) const {
        return const_access_type::refer(core_.at(handle.value()));
    }

    /// The object of a handle that is known to be alive, which only a checked build verifies.
    /// Progress: wait-free, constant.
    reference operator[](handle_type handle) noexcept {
        return access_type::refer(core_.living(handle.value()));
    }
    const_reference operator[](handle_type handle) const noexcept {
        return const_access_type::refer(core_.living(handle.value()));
    }

    /// Erases the objects for which `predicate(object)` is true: those of the dense store in their order,
    /// then those created since the last compaction. Returns how many it erased; not those that others erase
    /// or revoke meanwhile. What is created meanwhile may be left out. The predicate may use the pool. With
    /// an executor, which runs no compaction meanwhile, its threads call the predicate at the same time.
    /// Progress: that of erase for each; linear in the dense store, and in the slots ever used if anything
    /// was created since the last compaction. Throws what the predicate throws, of what it throws in an
    /// executor's threads the first; then it has erased some.
    template <class Predicate, executor Executor = inline_executor>
        requires std::predicate<Predicate&, typename detail::object_access<T>::reference>
    std::size_t erase_if(Predicate predicate, Executor&& executor = Executor()) {
        return core_.erase_if(executor,
                              [&](pointer object) -> bool { return predicate(access_type::refer(object)); });
    }

    /// The dense store as its handles, and as entries of handle and object: random-access views, whose
    /// iterators stay valid as long as pointers do. The handles of objects that were erased since the last
    /// compaction are among them, and stale.
    /// Progress: wait-free, constant.
    auto handles() const noexcept { return view<detail::handle_projection<handle_type, core>>(); }
    auto entries() noexcept { return view<detail::entry_projection<entry_type, core>>(); }
    auto entries() const noexcept { return view<detail::entry_projection<const_entry_type, core>>(); }
    /// The entries whose objects are alive when an iterator comes to them, as a bidirectional view. It reads
    /// the same twice as long as nobody erases.
    /// Progress: wait-free, linear in the erased objects that it passes.
    auto living() noexcept { return detail::filtered_view(detail::live_filter<entry_type, core>(core_)); }
    auto living() const noexcept {
        return detail::filtered_view(detail::live_filter<const_entry_type, core>(core_));
    }

    /// The handle of the object at a position of the dense store; stale when the object was erased since the
    /// last compaction. Throws std::out_of_range when there is no such position.
    /// Progress: wait-free, constant.
    handle_type handle_at(std::size_t position) const
        requires dense
    {
        return handle_type::from_value(core_.handle_at(position));
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

    /// The handle's object together with a guard, which keeps compactions from moving or destroying it; or
    /// nothing when the handle is stale. For threads that are not ordered with the compactions, and for
    /// coroutines. Pinning is not mutual exclusion: it holds off compactions and nothing else. Any number of
    /// threads may pin, read, write and erase the same object at the same time, so what they share in it
    /// needs atomics or a mutex of its own.
    /// Progress: blocking, like access(), and it throws the same.
    pinned_object<T, policy> pin(handle_type handle) {
        guard_type guard = access();
        return {find(handle), std::move(guard)};
    }
    pinned_object<const T, policy> pin(handle_type handle) const {
        return const_cast<pool_base*>(this)->pin(handle);
    }

    /// The same, but also empty where pin() would wait or throw.
    /// Progress: wait-free after a thread's first call, which is lock-free; constant.
    pinned_object<T, policy> try_pin(handle_type handle) noexcept {
        guard_type guard = try_access();
        const pointer object = guard ? find(handle) : nullptr;
        return {object, std::move(guard)};
    }
    pinned_object<const T, policy> try_pin(handle_type handle) const noexcept {
        return const_cast<pool_base*>(this)->try_pin(handle);
    }

    // ---- Frames: one thread at a time

    /// Destroys erased objects, takes newborns into the dense store and closes the holes. Handle operations
    /// may go on meanwhile; some of what they do then may be left to the next compaction.
    /// Progress: blocking: waits for access guards. Linear in removals and newborns, not in the pool's size;
    /// after clear() in the slots ever used.
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
    /// Guards that the last one has kept waiting go first.
    /// Progress: never waits for guards or for another compaction.
    std::optional<compaction_stats> try_compact() { return try_compact(inline_executor()); }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor&& executor) {
        return core_.try_compact(executor);
    }

    /// A part of a compaction, for frames without the time for a whole one: takes at most `budget` removals
    /// and newborns together, half of each where both wait, and leaves the others to the next compactions, in
    /// their order. What it leaves stays as it is: newborns are found but not in items(), and erased objects
    /// are not destroyed. No thread's objects wait longer than a frame for each thread more than those of the
    /// others. The budget is not for objects that threads extract(). What was erased without a record,
    /// by clear() or where a queue was full, is looked for besides: at most `budget` of it, in a part of the
    /// slots, from where the last compaction has stopped. With `keep_order`, what lies behind the first hole
    /// moves besides.
    /// Progress: like compact(), but linear in the budget and the shards. Throws like compact().
    template <executor Executor = inline_executor>
    compaction_stats compact_some(std::size_t budget, Executor&& executor = Executor()) {
        return core_.compact(executor, budget);
    }

    /// Sorts the dense store: `compare(a, b)` says of two objects, each a const_reference, whether a comes
    /// before b. Equal objects keep their order. Handles may be used meanwhile, and stay right. Objects that
    /// were created since the last compaction take no part yet, those that were erased since then still do;
    /// what the next compaction moves is out of order again, unless the pool has the option `keep_order`.
    ///
    /// All comparisons are made before the first object moves, so they may look up objects of the pool, but
    /// not compact it; then each object moves once. An executor's threads call `compare` at the same time.
    /// `compare` must be a strict weak order, such as `<`. What is none, such as `<=`, gives any order, but
    /// loses no object and ends; a checked build ends the program with what `compare` said of which objects,
    /// for which it compares some three times more an object.
    /// Progress: blocking: waits for access guards. One comparison an object, and no working memory, when all
    /// are in order; linear when few are not; else n log n.
    /// Throws compaction_conflict like compact(), std::bad_alloc, and what `compare` throws, also in an
    /// executor's threads: the first of it; then no object has moved.
    template <class Compare, executor Executor = inline_executor>
        requires detail::comparison_of<Compare, T> && dense
    sort_stats sort(Compare compare, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort(executor, compare); });
    }

    /// The same by keys: `key(object)` is called once for each object, and what it returns is compared by
    /// `<`. A pointer to a member will do. A key that is returned by reference is copied; keys may refer to
    /// their objects, like a std::string_view. Numbers of up to 32 bits are the fastest; of those, a NaN
    /// comes before or after all others.
    /// Progress: like sort, but with working memory for the keys also when all are in order.
    /// Throws like sort, and what reading, copying and comparing keys throws.
    template <class Key, executor Executor = inline_executor>
        requires detail::key_of<Key, T> && dense
    sort_stats sort_by(Key key, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_by(executor, key); });
    }

    /// A part of a sort, for frames without the time for a whole one: at most `budget` objects change their
    /// places. Puts as many places in order as that allows, from where the last call stopped, and goes on at
    /// the front after the end. A store that nobody changes is in order after 2 n / budget calls, for an even
    /// budget, whatever its order; objects that come and go meanwhile leave a disorder that the next round
    /// repairs. No object can change its place alone: a budget below 2 moves nothing.
    ///
    /// Equal objects get the order they had before the first of the calls, also if each has a comparison of
    /// its own; those that were created since then come after the others. The result says whether the store
    /// is in order now, equal objects included. The pool remembers an order that it has not reached, in 4
    /// bytes a slot, until it is, until sort() finds another one, or until shrink_to_fit() or the end of all
    /// objects: then the order in which the objects stand counts.
    /// Progress: like sort, and at least linear. The budget is for moves: each call compares all objects.
    /// Throws like sort.
    template <class Compare, executor Executor = inline_executor>
        requires detail::comparison_of<Compare, T> && dense
    sort_stats sort_some(Compare compare, std::size_t budget, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_some(executor, compare, budget); });
    }

    /// The same by keys.
    template <class Key, executor Executor = inline_executor>
        requires detail::key_of<Key, T> && dense
    sort_stats sort_some_by(Key key, std::size_t budget, Executor&& executor = Executor()) {
        return core_.sort_alone([&](auto& sorter) { return sorter.sort_some_by(executor, key, budget); });
    }

    /// Would a compaction find nothing to do? Any thread, at any time; exact for what happened before the
    /// call.
    /// Progress: wait-free, linear in the shards.
    bool idle() const noexcept { return core_.idle(); }

    /// In place of a compaction, when the pool is idle: only counts the frame.
    /// Progress: wait-free, constant.
    void skip_frame() noexcept { core_.skip_frame(); }

    // ---- The whole pool: while no compaction runs

    /// From here on, as long as what it returns lives, `hook(handle, object)` is called for each object that
    /// was erased, or is alive when the pool ends, just before it is destroyed. A hook that is declared
    /// behind the pool ends first, and sees nothing of the pool's end; this one, which the constructor sets,
    /// does:
    ///
    ///     int afloat_ = 0;     // what the hook uses, and behind it
    ///     scoped_hook deaths_; // = ships_.on_destroy([this](auto, ship&) { --afloat_; }), and behind it
    ///     pool<ship> ships_;
    ///
    /// By the compacting thread, one object after the other, and for each in the order of the hooks: early
    /// ones first, which find the object in the containers that are attached, whenever these were attached.
    /// The handle is stale by then. A hook may use the pool like a destructor, and must not throw.
    /// Progress: blocking: waits for access guards. Linear in the hooks.
    /// Throws compaction_conflict like compact(), std::bad_alloc, and what moving the hook throws; then there
    /// is no new hook.
    template <class Hook>
        requires std::invocable<Hook&, handle_type, typename detail::object_access<T>::reference>
    scoped_hook on_destroy(Hook hook, hook_order order = hook_order::early) {
        return core_.add_destroy_hook(with_references(std::move(hook)), order);
    }

    /// From here on, `hook(handle, object)` is called for each object that a compaction takes into the dense
    /// store, at the end of that compaction: the object stays where it is for the frame that begins, and
    /// items() has all objects already. Otherwise like on_destroy. An object that is erased before it is
    /// reported is not reported: on_destroy may see objects that on_birth has not seen. A hook may look up
    /// objects, too. Also throws reservation_failed.
    template <class Hook>
        requires std::invocable<Hook&, handle_type, typename detail::object_access<T>::reference>
    scoped_hook on_birth(Hook hook) {
        return core_.add_birth_hook(with_references(std::move(hook)));
    }

    /// Takes all living objects out, newborns too: erases those that are alive when the call begins, and
    /// compacts, which passes each to `sink(handle, object)` before it destroys it, in the order of the dense
    /// store and then of the slots of newborns. Returns how many. Other threads may use handles meanwhile.
    /// The sink is what it is for extract(). Progress: blocking: waits for access guards. Linear in the slots
    /// ever used, with working memory for the handles. Throws compaction_conflict like compact(), and
    /// std::bad_alloc; then nothing has changed.
    template <class Sink>
        requires std::invocable<Sink&, handle_type, typename detail::object_access<T>::given_away>
    std::size_t drain(Sink&& sink) {
        return core_.drain([&](auto value, pointer object) {
            static_cast<void>(sink(handle_type::from_value(value), access_type::give_away(object)));
        });
    }

    /// Destroys all objects and starts all slots anew: with a generation above all that were handed out, so
    /// that old handles stay dead. Faster than clear() and compact() for objects that need no destructor.
    /// Only while no other thread uses the pool. Linear in the slots ever used. Throws compaction_conflict
    /// like compact().
    void reset() { core_.reset(); }

    /// Returns memory that the objects don't need now to the system, in whole pages. What was erased needs
    /// its own until a compaction has destroyed it. Another thread that has created objects, even if it has
    /// ended, keeps the places that it has claimed and not used: those of 63 objects at most. In stable
    /// pools, each thread keeps those of up to three more groups of 64, of which most were in use when it
    /// claimed them. Old handles stay dead. Other threads may use handles meanwhile. Progress: blocking:
    /// waits for access guards. Linear in the memory returned and the shards. Throws compaction_conflict like
    /// compact().
    void shrink_to_fit() { core_.shrink_to_fit(); }

    /// The same, but returns false, and does nothing, when a guard is held or a compaction is running. Any
    /// thread, at any time. Throws nothing.
    /// Progress: never waits.
    bool try_shrink_to_fit() noexcept { return core_.try_shrink_to_fit(); }

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

protected:
    /// An empty pool: `args` are those of the core.
    template <class... Args>
    explicit pool_base(Args&&... args) : core_(std::forward<Args>(args)...) {}
    ~pool_base() = default;

    /// Returns what one of the `try_` functions has made, or throws the error that it has not thrown.
    handle_type made_or_throw(handle_type made) {
        if (!made) {
            core_.throw_refusal();
        }
        return made;
    }
    template <class OutputIt>
    OutputIt made_or_throw(std::optional<OutputIt>&& end) {
        if (!end) {
            core_.throw_refusal();
        }
        return *std::move(end);
    }
    /// Throws the error that try_fulfill() has not thrown.
    void fulfilled_or_throw(detail::fulfill_outcome outcome, handle_type handle) {
        if (outcome != detail::fulfill_outcome::done) {
            core_.throw_unfulfilled(outcome, handle.value());
        }
    }

    /// The pool itself.
    core core_;

private:
    template <class Hook>
    static auto with_references(Hook hook) {
        return detail::make_typed_hook<handle_type>(
            std::move(hook), [](Hook& user, handle_type handle, pointer object) {
                static_cast<void>(user(handle, access_type::refer(object)));
            });
    }

    template <class Look>
    auto view() const noexcept {
        return detail::range_of_positions<dense, Look>(Look(core_));
    }
};

} // namespace handlepool
