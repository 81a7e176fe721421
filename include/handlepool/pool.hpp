// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/range_of.hpp>
#include <handlepool/detail/objects/construction.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/recycled_site.hpp>
#include <handlepool/detail/pool/emplace_n.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/pool_frames.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/stats.hpp>
#include <handlepool/traits.hpp>

#include <concepts>
#include <cstddef>
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
/// Its functions stand in three headers: here those that make objects or go through them; in pool_frames.hpp
/// those of frames, which are access guards, compaction, hooks, memory and statistics; in pool_base.hpp
/// those that spawners have, too: to erase, extract, look up, and reserve handles.
///
/// @tparam T object type; nothrow move constructible and nothrow destructible, of any size and alignment
/// @tparam Traits the types that the pool is configured with: see default_traits
template <class T, class Traits>
class pool : public detail::interface_of<T, Traits> {
    using base = detail::interface_of<T, Traits>;
    using base::core;
    using base::dense;
    using base::from_here;
    using placement = detail::placement_parts<typename base::config>;
    static constexpr bool recycles = std::is_same_v<typename Traits::placement, recycling_placement>;

    static_assert(std::is_nothrow_move_constructible_v<T> || !dense,
                  "compaction moves objects and can't fail half-way: T must be nothrow move constructible");
    static_assert(std::is_nothrow_destructible_v<T>,
                  "compaction destroys objects and can't fail half-way: T must be nothrow destructible");

public:
    /// The types that the functions of the pool take and return.
    using value_type = T;
    using typename base::entry_type;
    using typename base::handle_type;
    using iterator = typename placement::template iterator<T>;
    using const_iterator = typename placement::template const_iterator<T>;

    /// An empty pool. Reserves address space only; memory is used as objects come. Throws
    /// std::invalid_argument for options that no pool can have, reservation_failed when the system refuses
    /// the address space, and std::runtime_error when no pool id is left; each says what was asked for.
    explicit pool(const pool_options& options)
        requires(!base::is_view)
        : base(options) {}

    /// Destroys all objects. No other thread may be using the pool. Linear in the slots ever used.
    ~pool() = default;

    /// For exclusive_access(), and for a spawner.
    explicit pool(typename base::view_origin of)
        requires(base::is_view)
        : base(of) {}

    /// Explains why no pool can have these options; empty when one can. Whether the system has the address
    /// space, and whether the pool id is free, shows only when the pool is made. Any thread, at any time;
    /// constant. Throws std::bad_alloc.
    static std::string validate(const pool_options& options) { return base::core_type::validate(options); }

    // ---- Handles: any thread, at any time, also while a compaction runs

    /// Creates an object from `args` and returns its handle, which resolves in every thread from here on. An
    /// aggregate is made by braces, `T{args...}`, which refuse values that would be narrowed; any other
    /// object by parentheses.
    /// Progress: lock-free; wait-free except in calls that claim slots or nursery space, each about once in
    /// up to `policy::claim_size` or `policy::nursery_chunk` calls; amortized constant.
    /// Throws pool_exhausted (or pool_used_up, which is derived from it), too_many_threads, foreign_module,
    /// in a pool with spawners spawner_conflict, what T's constructor throws, and on Windows std::bad_alloc
    /// where the system has no memory for the object; then nothing has changed.
    template <class... Args>
        requires detail::emplaceable_from<T, Args...>
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace(Args&&... args) {
        return base::made_or_throw(try_emplace(std::forward<Args>(args)...));
    }

    /// Like emplace(), but returns the null handle where that throws an error of its own: the pool is
    /// exhausted or used up, there are too many threads, or the pool belongs to a foreign module. Then `args`
    /// were not touched. Throws what T's constructor throws.
    template <class... Args>
        requires detail::emplaceable_from<T, Args...>
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace(Args&&... args) {
        return handle_type::from_value(
            core().create(detail::maker_from<T>(std::forward<Args>(args)...), from_here()));
    }

    /// Like emplace(), but returns the object too, as a reference that is valid within the frame contract:
    ///
    ///     auto [handle, ship] = ships.emplace_entry("Argo");
    template <class... Args>
        requires detail::emplaceable_from<T, Args...>
    HANDLEPOOL_ALWAYS_INLINE entry_type emplace_entry(Args&&... args) {
        return base::entry_of(emplace(std::forward<Args>(args)...));
    }

    /// Creates the object that `make(handle)` returns, which knows its own handle from the beginning. When
    /// `make` returns a T, that is made in place. Until the object is complete the handle is reserved; when
    /// `make` throws, the handle never resolves.
    /// Progress: like emplace(), and one exchange on the object's own slot.
    /// Throws what emplace() throws, and what `make` throws.
    template <class Make>
        requires detail::factory_of<Make, T, handle_type>
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace_with(Make&& make) {
        return base::made_or_throw(try_emplace_with(std::forward<Make>(make)));
    }

    /// Like emplace_with(), but returns the null handle where that throws an error of its own; then `make`
    /// was not called.
    template <class Make>
        requires detail::factory_of<Make, T, handle_type>
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace_with(Make&& make) {
        return handle_type::from_value(core().create_with(
            [&](auto site, auto value) {
                detail::make_by<T>(site, [&]() -> decltype(auto) {
                    return std::forward<Make>(make)(handle_type::from_value(value));
                });
            },
            from_here()));
    }

    /// In a recycling_pool, `fill(handle, object)` fills the kept object, or a value-initialized one, before
    /// any thread can find it. When `fill` throws, the object is cleared.
    template <class Fill>
        requires recycles && detail::emplaceable_from<T> && std::invocable<Fill, handle_type, T&>
    HANDLEPOOL_ALWAYS_INLINE handle_type emplace_with(Fill&& fill) {
        return base::made_or_throw(try_emplace_with(std::forward<Fill>(fill)));
    }
    template <class Fill>
        requires recycles && detail::emplaceable_from<T> && std::invocable<Fill, handle_type, T&>
    HANDLEPOOL_ALWAYS_INLINE handle_type try_emplace_with(Fill&& fill) {
        return handle_type::from_value(core().create_with(
            [&](auto site, auto value) {
                site.template make_and_fill<T>([&](T& object) {
                    static_cast<void>(std::forward<Fill>(fill)(handle_type::from_value(value), object));
                });
            },
            from_here()));
    }

    /// Creates an object by moving `object`. Otherwise like emplace().
    HANDLEPOOL_ALWAYS_INLINE handle_type insert(T object)
        requires std::move_constructible<T>
    {
        return emplace(std::move(object));
    }

    /// Creates `count` objects, each from `args`, and writes their handles to `out`; returns the end of what
    /// was written. All or nothing: when a constructor throws or there is no room, no object was ever visible
    /// and nothing was written; when writing throws, the objects are erased.
    /// Progress: lock-free; linear, with working memory for the handles.
    /// Throws like emplace, std::bad_alloc, and what writing throws.
    template <class OutputIt, class... Args>
        requires detail::emplaceable_from<T, const Args&...> && std::output_iterator<OutputIt, handle_type>
    HANDLEPOOL_ALWAYS_INLINE OutputIt emplace_n(std::size_t count, OutputIt out, const Args&... args) {
        return base::made_or_throw(try_emplace_n(count, std::move(out), args...));
    }

    /// Like emplace_n(), but returns nothing where that throws an error of the pool. Of two simultaneous
    /// calls that together ask for more than there is, both may be refused.
    template <class OutputIt, class... Args>
        requires detail::emplaceable_from<T, const Args&...> && std::output_iterator<OutputIt, handle_type>
    HANDLEPOOL_ALWAYS_INLINE std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out,
                                                                   const Args&... args) {
        return detail::emplace_n<handle_type>(core(), from_here(), count, std::move(out),
                                              detail::maker_from<T>(args...));
    }

    /// Creates `count` different objects: `make(i)`, for i from 0 on, returns each, or a value from which it
    /// is made. For functions from which a T can't be made itself. Otherwise like emplace_n() with arguments;
    /// also throws what `make` throws.
    template <class OutputIt, class Make>
        requires detail::generator_of<Make, T> && std::output_iterator<OutputIt, handle_type>
    HANDLEPOOL_ALWAYS_INLINE OutputIt emplace_n(std::size_t count, OutputIt out, Make make) {
        return base::made_or_throw(try_emplace_n(count, std::move(out), std::move(make)));
    }
    template <class OutputIt, class Make>
        requires detail::generator_of<Make, T> && std::output_iterator<OutputIt, handle_type>
    HANDLEPOOL_ALWAYS_INLINE std::optional<OutputIt> try_emplace_n(std::size_t count, OutputIt out,
                                                                   Make make) {
        return detail::emplace_n<handle_type>(
            core(), from_here(), count, std::move(out), [&make, i = std::size_t{0}](auto site) mutable {
                detail::make_by<T>(site, [&]() -> decltype(auto) { return make(i++); });
            });
    }

    /// Creates an object from each element of a range, and writes their handles to `out`: like emplace_n(),
    /// all or nothing. Elements are moved if the range gives them as rvalues. If the range does not know its
    /// size and can be read only once, the objects are made in working memory first. Also throws what the
    /// iteration throws.
    template <detail::range_from<T> Range, std::output_iterator<handle_type> OutputIt>
    HANDLEPOOL_ALWAYS_INLINE OutputIt insert_range(Range&& range, OutputIt out) {
        return base::made_or_throw(try_insert_range(std::forward<Range>(range), std::move(out)));
    }
    /// Like insert_range(), but returns nothing where that throws an error of the pool.
    template <detail::range_from<T> Range, std::output_iterator<handle_type> OutputIt>
    HANDLEPOOL_ALWAYS_INLINE std::optional<OutputIt> try_insert_range(Range&& range, OutputIt out) {
        if constexpr (detail::countable<Range>) {
            const std::size_t count = detail::length_of(range);
            return detail::emplace_n<handle_type>(core(), from_here(), count, std::move(out),
                                                  [next = std::ranges::begin(range)](auto site) mutable {
                                                      detail::make_at<T>(site, *next);
                                                      ++next;
                                                  });
        } else {
            std::vector<detail::made_object<T>> objects;
            for (auto&& each : range) {
                if (!core().has_room_for(objects.size() + 1)) {
                    return std::nullopt;
                }
                objects.emplace_back(std::forward<decltype(each)>(each));
            }
            return detail::emplace_n<handle_type>(core(), from_here(), objects.size(), std::move(out),
                                                  [next = objects.begin()](auto site) mutable {
                                                      detail::make_at<T>(site, std::move((next++)->object));
                                                  });
        }
    }

    // ---- Handles before objects: any thread, at any time, also while a compaction runs

    /// Creates the object of a reserved handle from `args`: from here on the handle resolves in every thread.
    /// Exactly one of all calls of fulfill() and cancel() with a handle succeeds. A call that comes while
    /// another thread runs the constructor is refused, even if that constructor throws.
    /// Progress: lock-free; wait-free except in calls that claim nursery space; constant.
    /// Throws not_reserved, which says in which state the handle is; pool_exhausted, too_many_threads,
    /// foreign_module, and what T's constructor throws: then the handle is still reserved.
    template <class... Args>
        requires detail::emplaceable_from<T, Args...>
    HANDLEPOOL_ALWAYS_INLINE void fulfill(handle_type handle, Args&&... args) {
        base::fulfill_or_throw(handle, detail::maker_from<T>(std::forward<Args>(args)...), from_here());
    }

    /// Like fulfill(), but returns false where that throws an error of its own; then `args` were not touched.
    /// Throws what T's constructor throws.
    template <class... Args>
        requires detail::emplaceable_from<T, Args...>
    HANDLEPOOL_ALWAYS_INLINE bool try_fulfill(handle_type handle, Args&&... args) {
        return base::fulfilled(handle, detail::maker_from<T>(std::forward<Args>(args)...), from_here());
    }

    // ---- Objects: within the frame contract

    /// The dense store: the objects that were alive at the last compaction, contiguous. Those erased since
    /// are still among them, those created since are not yet.
    ///
    /// They are in the order of creation when one thread creates them, and no constructor creates objects of
    /// the same pool. Removals change the order, except with the option `keep_order`: newborns take the
    /// positions of removed objects first, and then the last objects do. So after one removal, and no
    /// creation, the last object has the position of the removed one, and all others are where they were.
    /// Progress: wait-free, constant.
    std::span<const T> items() const noexcept
        requires dense
    {
        return {core().store().first(), core().store().dense_size()};
    }
    /// The dense store, for loops that change objects through pointers. Handles name positions: objects must
    /// never be reordered except by sort().
    std::span<T> mutable_items() noexcept
        requires dense
    {
        return {core().store().first(), core().store().dense_size()};
    }
    /// Iterators over the store, through which objects may be changed but not reordered.
    iterator begin() noexcept { return core().store().template begin<iterator>(); }
    iterator end() noexcept { return core().store().template end<iterator>(); }
    const_iterator begin() const noexcept { return core().store().template begin<const_iterator>(); }
    const_iterator end() const noexcept { return core().store().template end<const_iterator>(); }
    const_iterator cbegin() const noexcept { return begin(); }
    const_iterator cend() const noexcept { return end(); }

    /// Calls `visit(object)` for each object of the store; with an executor for ranges of them at the same
    /// time.
    /// Progress: wait-free, linear.
    /// Throws what `visit` throws, in an executor's threads the first of it, when all have ended.
    template <std::invocable<T&> Visit, executor Executor = inline_executor>
    void for_each(Visit visit, Executor&& executor = Executor()) {
        core().store().for_each(
            executor, [&](T* object) noexcept(std::is_nothrow_invocable_v<Visit&, T&>) { visit(*object); });
    }

    /// The handle of an object of this pool, whether it is in the store yet or not; stale when the object was
    /// erased. Null for an object that is not in the pool.
    /// Progress: wait-free, constant.
    handle_type handle_of(const T& object) const noexcept {
        return handle_type::from_value(core().store().handle_of(&reinterpret_cast<const char&>(object)));
    }
};

} // namespace handlepool

/// size() counts all living objects, iteration goes over those of the dense store.
template <class T, class Traits>
inline constexpr bool std::ranges::disable_sized_range<handlepool::pool<T, Traits>> = true;
