// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace handlepool {

/// Whose memory a freelist reserves, for messages and for its place beside other memory of the pool.
using freelist_memory = detail::allocation_label;

/// Sizes of a freelist.
struct freelist_options {
    /// Indices are below this, which is also how many can be put in service.
    std::size_t index_limit = 0;
    /// The most indices that can wait at the same time.
    std::size_t waiting_limit = 0;
    /// The most threads that claim at the same time.
    std::size_t max_threads = (std::numeric_limits<std::size_t>::max)();
    /// An index goes out again only after this many others were freed.
    std::size_t reuse_delay = 0;
};

/// Hands out indices in the order in which they were freed, to any number of threads; one thread, the
/// producer, frees them.
///
/// `claim(out, wanted, in_use_limit)`, any thread, lock-free: writes up to `wanted` indices and returns how
/// many, which may be fewer than there are. Freed ones go out while more than the reuse delay wait, else
/// fresh ones; none go out where more than `in_use_limit` would be in use (retired ones count as used). It
/// returns 0 only when, at some moment of the call, that was so or nothing was left, or after `tries`
/// attempts were lost to other threads.
///
/// `release(index)`, producer: gives an index back, to be seen by claims after the next `publish()`.
/// `released()`, producer: how many it has given back since the freelist was made or reset.
///
/// `in_use()`, `waiting()`, `fresh()`, any thread, each a moment's view: indices out, indices freed and not
/// handed out again, indices ever put in service. `limit()`: the index_limit. `smallest_reuse_distance()`:
/// the fewest others that were freed between the freeing of an index and its reuse, so far; the largest
/// std::size_t while none was reused. `memory()`: what it occupies.
///
/// `reset(fresh)`: as newly made, with `fresh` indices in use. Only while nobody else uses the freelist.
///
/// Memory orders: the pool relies on two edges of happens-before, which relaxed operations would not give.
/// What the producer did before publish() happens before the return of a claim of what it has published. And
/// what a thread did before a claim happens before the return of each claim that finds fewer indices left
/// because of it, also of one that is refused.
///
/// A freelist is made of a `freelist_memory`, which it passes on to its arrays, and of options. Its
/// constructor may throw.
template <class Freelist>
concept freelist = requires(Freelist list, const Freelist constant, std::uint32_t* out, std::uint32_t index,
                            std::size_t count, const freelist_memory& what_for, freelist_options options) {
    Freelist(what_for, options);
    { list.claim(out, count, count) } noexcept -> std::same_as<std::size_t>;
    { list.claim(out, count, count, count) } noexcept -> std::same_as<std::size_t>;
    { list.release(index) } noexcept;
    { list.publish() } noexcept;
    { constant.released() } noexcept -> std::same_as<std::uint64_t>;
    { list.reset(count) } noexcept;
    { constant.in_use() } noexcept -> std::same_as<std::size_t>;
    { constant.waiting() } noexcept -> std::same_as<std::size_t>;
    { constant.fresh() } noexcept -> std::same_as<std::size_t>;
    { constant.smallest_reuse_distance() } noexcept -> std::same_as<std::size_t>;
    { constant.limit() } noexcept -> std::same_as<std::size_t>;
    { constant.memory() } noexcept -> std::same_as<memory_use>;
};

/// A freelist with a shorter way for a thread that uses it alone, such as one with exclusive access to a
/// pool.
///
/// `release_many(count, index_at)`, producer: release(index_at(i)) for i from 0 on.
///
/// `claim_alone(out, wanted, in_use_limit)`: like claim().
///
/// `claim_in_place(wanted, in_use_limit)`: claims up to `wanted` freed indices, never fresh ones, and returns
/// how many. They stay where they are: `claimed_left()` says how many are left, `claimed(i)` is one of those,
/// and `take_claimed()` takes the first. `end_claim()` gives up those that are left, which are the next ones
/// then; other claims, and what others ask the freelist, come after that.
template <class Freelist>
concept sequential_freelist =
    freelist<Freelist> && requires(Freelist list, std::uint32_t* out, std::size_t count) {
        {
            list.release_many(count, [](std::size_t) { return std::uint32_t{}; })
        } noexcept;
        { list.claim_alone(out, count, count) } noexcept -> std::same_as<std::size_t>;
        { list.claim_in_place(count, count) } noexcept -> std::same_as<std::size_t>;
        { list.claimed_left() } noexcept -> std::same_as<std::size_t>;
        { list.claimed(count) } noexcept -> std::same_as<std::uint32_t>;
        { list.take_claimed() } noexcept -> std::same_as<std::uint32_t>;
        { list.end_claim() } noexcept;
    };

/// What a freelist is, beside the indices that wait.
struct freelist_position {
    std::uint64_t claimed = 0; ///< freed indices that were claimed, from some number on
    std::size_t waiting = 0;   ///< freed and not claimed again
    std::size_t fresh = 0;     ///< indices ever put in service

    /// Compare as a whole.
    friend bool operator==(const freelist_position&, const freelist_position&) = default;
};

/// A freelist that can be taken back to what it was, for captures of a pool. While nobody else uses it.
///
/// `position()`: what it is now. `for_each_waiting(first, visit)`: calls `visit(index)` for the indices that
/// wait, in the order in which they go out, without the first ones. `restore(position, index_at)`: becomes
/// what it was at that position, with `index_at(i)` as the indices that waited; it hands out what it handed
/// out then.
template <class Freelist>
concept capturable_freelist =
    freelist<Freelist> &&
    requires(Freelist list, const Freelist constant, std::size_t count, const freelist_position& position) {
        { constant.position() } noexcept -> std::same_as<freelist_position>;
        constant.for_each_waiting(count, [](std::uint32_t) {});
        {
            list.restore(position, [](std::size_t) { return std::uint32_t{}; })
        } noexcept;
    };

/// What claims of single indices, one after the other, would get: so many freed ones, then so many fresh
/// ones.
struct freelist_stock {
    std::size_t freed = 0; ///< freed indices
    std::size_t fresh = 0; ///< fresh ones
};

/// A freelist whose next indices can be looked at before they are claimed, so that they can be dealt out.
/// While nobody else uses it.
///
/// `stock(in_use_limit)`: what there is. `look_at_stock(first, count, out)`: writes so many of the freed
/// indices, from number `first` on. `take_stock(stock)`: claims the first so many of each kind.
template <class Freelist>
concept dealable_freelist =
    freelist<Freelist> && requires(Freelist list, const Freelist constant, std::size_t count,
                                   std::uint32_t* out, freelist_stock stock) {
        { constant.stock(count) } noexcept -> std::same_as<freelist_stock>;
        { constant.look_at_stock(count, count, out) } noexcept;
        { list.take_stock(stock) } noexcept;
    };

} // namespace handlepool
