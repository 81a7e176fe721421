// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/range_of.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/objects/object_access.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/pool/erase_each.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/pool/pool_impl.hpp>
#include <handlepool/detail/pool/projected_view.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/failure.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/object_lookup.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/pool_entry.hpp>
#include <handlepool/recorded_life.hpp>
#include <handlepool/traits.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool {

/// The interface that all pools share, whatever their objects are and wherever these lie. pool,
/// pool<columns<...>> and raw_pool add how objects are created and how their store is reached; see pool for
/// the frame contract.
///
/// A *reference* is `T&`, a row of a pool of columns, or the `void*` of a raw_pool; a *pointer* is `T*`, a
/// row_pointer, or `void*`. The *store* is where compactions put the objects: the dense store, or in stable
/// pools the objects that have been through a compaction, wherever they lie.
///
/// @tparam T object type, columns<...>, or void
/// @tparam Traits the types that the pool is configured with: see default_traits
template <class T, class Traits>
class pool_base {
    using access_type = detail::object_access<T>;
    using const_access_type = detail::object_access<const T>;
    using store_type = detail::store_view<T, detail::config_of<Traits>>;

protected:
    /// The configuration of the parts; the core, which does the work with values for handles; and whether the
    /// store is dense, so that objects have positions.
    using config = detail::config_of<Traits>;
    using core_type = typename detail::core_of<T, Traits>::type;
    /// Whether it is a view of another pool, and what such a view is made of.
    static constexpr bool is_view =
        detail::core_of<T, Traits>::is_exclusive || detail::core_of<T, Traits>::is_spawner;
    using view_origin = typename detail::core_of<T, Traits>::origin;
    static constexpr bool never_throws = !detail::core_of<T, Traits>::is_spawner;
    static constexpr bool dense = std::is_same_v<typename Traits::placement, dense_placement>;

public:
    /// The types that the pool is configured with, and those that its functions take and return.
    using layout = typename Traits::layout;
    using policy = typename Traits::policy;
    using handle_type = handle<T, layout>;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using pointer = typename access_type::pointer;
    using const_pointer = typename const_access_type::pointer;
    using reference = typename access_type::reference;
    using const_reference = typename const_access_type::reference;
    using lookup_type = object_lookup<handle_type, T, config>;
    using const_lookup_type = object_lookup<handle_type, const T, config>;
    using entry_type = pool_entry<T, layout>;
    using const_entry_type = pool_entry<const T, layout>;

    /// A pool can be neither copied nor moved: handles name it by its pool id, and other threads, guards,
    /// hooks and attached containers refer to it while it lives.
    pool_base(const pool_base&) = delete;
    pool_base& operator=(const pool_base&) = delete;

    // ---- Erasing: any thread, at any time, also while a compaction runs

    /// Ends the life of the handle's object: from here on the handle is stale in every thread. Returns true
    /// for exactly one of all calls with a handle, false when it is stale. The object stays in memory,
    /// readable through pointers obtained before, until the next compaction destroys it.
    /// Progress: wait-free after a thread's first call, which is lock-free; always lock-free with
    /// boost_freelist. Constant.
    HANDLEPOOL_ALWAYS_INLINE bool erase(handle_type handle) noexcept(never_throws) {
        return core().erase(handle.value(), from_here());
    }

    /// Erases the object of each handle in a range, and returns how many were alive.
    /// Progress: that of erase() for each handle; linear.
    /// Throws what the iteration throws.
    template <detail::range_of<handle<T, layout>> Range>
    HANDLEPOOL_ALWAYS_INLINE size_type erase(Range&& handles) {
        return detail::erase_each<handle_type>(core(), handles, from_here());
    }

    /// Ends the life of the handle's object like erase(), but the next compaction passes the object to
    /// `sink(object)` before it destroys it, after the hooks of on_destroy(). Returns true for exactly one of
    /// all calls of extract() and erase() with a handle; otherwise the sink is destroyed, by this call or by
    /// the next compaction.
    ///
    /// Sinks run on the compacting thread; calls that are ordered by happens-before keep that order. reset()
    /// and the pool's destructor also deliver pending objects. A sink takes a `T&&`, or a row whose elements
    /// it may move from; in a raw_pool it takes a pointer, and must end the object itself, by moving it away
    /// with the type's relocate or by destroying it. It may use the pool like a destructor, and must not
    /// throw.
    /// Progress: lock-free, except for the allocation of one record; a stale handle allocates nothing.
    /// Constant.
    /// Throws std::bad_alloc, and what moving the sink throws; then nothing has changed.
    template <class Sink>
        requires std::invocable<Sink&, typename detail::object_access<T>::given_away>
    HANDLEPOOL_ALWAYS_INLINE bool extract(handle_type handle, Sink sink) {
        return core().extract(
            handle.value(),
            [sink = std::move(sink)](pointer object) mutable {
                static_cast<void>(sink(access_type::give_away(object)));
            },
            from_here());
    }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Returns whether the handle's object is alive.
    /// Progress: wait-free, constant.
    bool contains(handle_type handle) const noexcept { return core().contains(handle.value()); }

    /// Returns whether the handle is stale, reserved, or names a living object. Exact for a thread that is
    /// ordered after the call that gave the handle out.
    /// Progress: wait-free, constant.
    handle_state state(handle_type handle) const noexcept { return core().state(handle.value()); }

    /// Gives the handle's object a new handle, and returns it. The object itself does not change: only the
    /// old handle is stale from here on in every thread, as after an erase. Exactly one of all revokes and
    /// erases of a handle succeeds. Returns the null handle when the handle is stale, or is the last one that
    /// its slot can have, which the object then keeps. Each revoke uses up one of the handles that a slot can
    /// have: see pool_stats::handle_limit.
    /// Progress: wait-free, constant.
    HANDLEPOOL_ALWAYS_INLINE handle_type revoke(handle_type handle) noexcept(never_throws) {
        return handle_type::from_value(core().revoke(handle.value(), from_here()));
    }

    /// The number of objects whose handles resolve, and whether it is 0. Exact while no thread creates or
    /// erases.
    /// Progress: wait-free, linear in the shards.
    size_type size() const noexcept { return core().size(); }
    bool empty() const noexcept { return size() == 0; }

    /// The number of objects that the pool is guaranteed to have room for.
    /// Progress: wait-free, constant.
    size_type capacity() const noexcept { return core_beside().capacity(); }

    /// An upper bound of the capacity that the options of such a pool may ask for. Constant.
    static constexpr size_type max_size() noexcept {
        return detail::least<std::uint64_t>(layout::slot_count, detail::most_slots);
    }

    // ---- Objects: within the frame contract

    /// The handle's object, or null when the handle is stale.
    /// Progress: wait-free, constant.
    pointer find(handle_type handle) noexcept { return core().find(handle.value()); }
    const_pointer find(handle_type handle) const noexcept { return core().find(handle.value()); }

    /// The handle's object.
    /// Progress: wait-free, constant; to refuse one takes what describe() takes.
    /// Throws stale_handle, which prints the handle's parts and the reason why it was refused; std::bad_alloc
    /// when there is no memory for that text.
    reference at(handle_type handle) { return access_type::refer(core().at(handle.value())); }
    const_reference at(handle_type handle) const {
        return const_access_type::refer(core().at(handle.value()));
    }

    /// The object of a handle that must be alive, which only a checked build verifies.
    /// Progress: wait-free, constant.
    reference operator[](handle_type handle) noexcept {
        return access_type::refer(core().living(handle.value()));
    }
    const_reference operator[](handle_type handle) const noexcept {
        return const_access_type::refer(core().living(handle.value()));
    }

    /// An object that looks up handles in a loop, faster than the pool itself: see object_lookup. It is valid
    /// as long as the pool lives.
    /// Progress: wait-free, constant.
    lookup_type lookup() noexcept { return core().template lookup<lookup_type>(); }
    const_lookup_type lookup() const noexcept { return core().template lookup<const_lookup_type>(); }

    /// The handles of the store, and its entries of handle and object: random-access views in the order of
    /// the store, bidirectional ones in stable pools. Their iterators stay valid as long as pointers do. They
    /// include objects that were erased since the last compaction, whose handles are stale.
    /// Progress: wait-free, constant.
    auto handles() const noexcept { return view<detail::handle_projection<handle_type, store_type>>(); }
    auto entries() noexcept { return view<detail::entry_projection<entry_type, store_type>>(); }
    auto entries() const noexcept { return view<detail::entry_projection<const_entry_type, store_type>>(); }

    /// The entries of the store whose objects are alive when an iterator reaches them, as a bidirectional
    /// view; those born since the last compaction are not in the store yet. Two passes give the same entries
    /// as long as no thread erases.
    /// Progress: wait-free, linear in the erased objects that it passes.
    auto living() noexcept {
        return detail::filtered_view(detail::live_filter<entry_type, store_type>(core().store()));
    }
    auto living() const noexcept {
        return detail::filtered_view(detail::live_filter<const_entry_type, store_type>(core().store()));
    }

    /// The handle of the object at a position of the dense store; stale when the object was erased since the
    /// last compaction.
    /// Progress: wait-free, constant.
    /// Throws std::out_of_range when there is no such position.
    handle_type handle_at(size_type position) const
        requires dense
    {
        return handle_type::from_value(core().handle_at(position));
    }

    // ---- Handles before objects: any thread, at any time, also while a compaction runs

    /// Gives out a handle whose object comes later, by fulfill(): to break a cycle between objects, or to
    /// answer a request before it is carried out. Until then the handle does not resolve, and can't be erased
    /// or revoked. It takes a slot, and so room from the capacity, until its object was erased or it is
    /// cancelled. clear() leaves it as it is; reset() and the pool's end make it stale.
    /// Progress: like emplace().
    /// Throws what emplace() throws, but for what T's constructor does.
    handle_type reserve_handle() { return made_or_throw(try_reserve_handle()); }

    /// Like reserve_handle(), but returns the null handle where that throws.
    handle_type try_reserve_handle() noexcept { return handle_type::from_value(core().reserve()); }

    /// Gives up a reserved handle: it is stale from here on, and its slot goes to the next object. Returns
    /// false when the handle is not reserved, or another thread is fulfilling it.
    /// Progress: wait-free after a thread's first call, which is lock-free. Constant.
    HANDLEPOOL_ALWAYS_INLINE bool cancel(handle_type handle) noexcept {
        return core().cancel(handle.value(), from_here());
    }

    // ---- Diagnostics: any thread, at any time

    /// The pool id in its handles, and its name.
    /// Progress: wait-free, constant.
    std::uint32_t id() const noexcept { return core_beside().id(); }
    const std::string& name() const noexcept { return core_beside().name(); }

    /// Describes a handle: "ships #1021 generation 7: erased 3 frames ago". The number of frames is known
    /// only with the option `remember_frames`.
    /// Progress: lock-free, constant; linear in the removals that have waited at one time like life_of().
    /// With the option `record_lives` it names places, as call_site::name() does, which takes a lock. Throws
    /// std::bad_alloc.
    std::string describe(handle_type handle) const { return core().describe(handle.value()); }

    /// Returns who began and ended the handle's life, when and from where, as far as that is known: only with
    /// the option `record_lives`, and for the last lives of each slot.
    /// Progress: lock-free, constant; of what waits for its removal, linear in all that ever has at one time.
    /// Throws std::bad_alloc.
    recorded_life life_of(handle_type handle) const { return core().life_of(handle.value()); }

protected:
    /// An empty pool: `args` are those of the core.
    template <class... Args>
    explicit pool_base(Args&&... args) : core_(std::forward<Args>(args)...) {}
    ~pool_base() = default;

    /// Returns what one of the `try_` functions has made, or throws the error that it has not thrown.
    handle_type made_or_throw(handle_type made) {
        if (!made) {
            core().throw_refusal();
        }
        return made;
    }
    template <class OutputIt>
    OutputIt made_or_throw(std::optional<OutputIt>&& end) {
        if (!end) {
            core().throw_refusal();
        }
        return *std::move(end);
    }
    /// Creates the object of a reserved handle by `construct(site)`, or throws why it can't.
    template <class Construct>
    void fulfill_or_throw(handle_type handle, Construct&& construct, detail::caller who) {
        const detail::fulfill_outcome outcome = core().fulfill(handle.value(), construct, who);
        if (outcome != detail::fulfill_outcome::done) {
            core().throw_unfulfilled(outcome, handle.value());
        }
    }
    /// Like fulfill_or_throw(), but returns whether it did.
    template <class Construct>
    bool fulfilled(handle_type handle, Construct&& construct, detail::caller who) {
        return core().fulfill(handle.value(), construct, who) == detail::fulfill_outcome::done;
    }
    /// The entry of an object that this thread has just made: even if another thread has erased it since, it
    /// is there until the next compaction.
    entry_type entry_of(handle_type made) noexcept {
        return entry_type::of(made.value(), core().place_of(made.value()));
    }

    /// The function that calls what calls this, if the pool records that: all between must be inlined.
    HANDLEPOOL_ALWAYS_INLINE detail::caller from_here() const noexcept { return core_.from_here(); }

    /// The core, through which all that the pool does goes. A checked build reports a use after the pool's
    /// destruction, and one by another thread than that which has exclusive access.
    core_type& core() noexcept {
        core_.expect_access();
        return core_;
    }
    const core_type& core() const noexcept {
        core_.expect_access();
        return core_;
    }
    /// The core for what other threads may call then: it waits or is refused, or reads what never changes.
    core_type& core_beside() noexcept {
        core_.expect_in_use();
        return core_;
    }
    const core_type& core_beside() const noexcept {
        core_.expect_in_use();
        return core_;
    }

private:
    friend struct detail::pool_access;

    template <class Look>
    auto view() const noexcept {
        return detail::range_of_positions<dense, Look>(Look(core().store()));
    }

    core_type core_;
};

/// Erases the objects for which `predicate(object)` is true: those of the store in their order, then those
/// created since the last compaction. Returns how many it erased, without those that other threads erased or
/// revoked concurrently. Objects created concurrently may be left out. The predicate may use the pool. An
/// executor's threads call the predicate at the same time; it must run no compaction meanwhile.
/// Progress: that of erase() for each object; linear in the store, and in the slots ever used if anything was
/// created since the last compaction.
/// Throws what the predicate throws, in an executor's threads the first of it; then it has erased some.
template <class T, class Traits, class Predicate, executor Executor = inline_executor>
    requires std::predicate<Predicate&, typename detail::object_access<T>::reference>
HANDLEPOOL_ALWAYS_INLINE inline std::size_t erase_if(pool_base<T, Traits>& pool, Predicate predicate,
                                                     Executor&& executor = Executor()) {
    using access = detail::object_access<T>;
    auto& core = detail::pool_access::core_of(pool);
    return core.erase_if(
        executor, [&](typename access::pointer object) -> bool { return predicate(access::refer(object)); },
        core.from_here());
}

} // namespace handlepool
