// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/invoke_const.hpp>
#include <handlepool/detail/columns/type_list.hpp>
#include <handlepool/detail/sorting/sorter.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/pool_base.hpp>
#include <handlepool/stats.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

/// Sorting the dense store of a pool: by a comparison or by keys, at once or in parts over several frames.
/// Like compact(), for one thread at a time; handles may be used concurrently, and stay right.
///
///     sort_by(ships, &ship::depth);
///     sort(ships, [](const ship& one, const ship& other) { return one.depth < other.depth; });
namespace handlepool {

namespace detail {

/// Calls `sort(sorter)` while no compaction runs and no guard is held.
template <class T, class Traits, class Sort>
sort_stats sort_while_closed(pool_base<T, Traits>& pool, Sort sort) {
    return pool_access::core_beside(pool).while_closed([&](auto& parts) {
        sorter<T, config_of<Traits>> sorts(parts, pool.name());
        return sort(sorts);
    });
}

template <class Traits>
concept sortable = std::is_same_v<typename Traits::placement, dense_placement>;

/// Whether C, const or not, is the type of exactly one column.
template <class C, class... Cs>
concept one_of_columns = occurrences_of<std::remove_const_t<C>, Cs...> == 1;

/// The function of rows that reads a key from the element of one column.
template <class C, class... Cs, class Key>
auto key_in_column(Key& key) noexcept {
    return [&key](const row<const Cs...>& of) -> decltype(auto) {
        return invoke_const(key, of.template get<index_of<std::remove_const_t<C>, Cs...>()>());
    };
}

} // namespace detail

/// Sorts by a comparison: `compare(a, b)` returns whether a comes before b, each a const_reference. Equal
/// objects keep their order. Objects that were created since the last compaction take no part yet, those that
/// were erased since then still do; objects that the next compaction moves are out of order again, unless the
/// pool has the option `keep_order`.
///
/// All comparisons are made before the first object moves, so they may look up objects of the pool, but not
/// compact it; then each object moves once. An executor's threads call `compare` at the same time. `compare`
/// must be a strict weak order, such as `<`. Any other comparison, such as `<=`, gives an arbitrary order,
/// but loses no object and ends; a checked build ends the program with a message that names the objects, for
/// which it compares some three times more per object.
/// Progress: blocking: waits for access guards. One comparison an object, and no working memory, when all are
/// in order; linear when few are not; otherwise n log n.
/// Throws compaction_conflict like compact(), std::bad_alloc, and what `compare` throws, in an executor's
/// threads the first of it; then no object has moved.
template <class T, class Traits, class Compare, executor Executor = inline_executor>
    requires detail::comparison_of<Compare, T> && detail::sortable<Traits>
sort_stats sort(pool_base<T, Traits>& pool, Compare compare, Executor&& executor = Executor()) {
    return detail::sort_while_closed(pool, [&](auto& sorts) { return sorts.sort(executor, compare); });
}

/// Sorts by keys, which are compared by `<`: `key(object)` is called once for each object; it may be a
/// pointer to a member. A key that is returned by reference is copied; keys may refer to their objects, like
/// a std::string_view. Numbers of up to 32 bits are the fastest; among those, a NaN comes before or after all
/// others. Otherwise like sort().
/// Progress: like sort(), but with working memory for the keys also when all objects are in order.
/// Throws what sort() throws, and what reading, copying and comparing keys throws.
template <class T, class Traits, class Key, executor Executor = inline_executor>
    requires detail::key_of<Key, T> && detail::sortable<Traits>
sort_stats sort_by(pool_base<T, Traits>& pool, Key key, Executor&& executor = Executor()) {
    return detail::sort_while_closed(pool, [&](auto& sorts) { return sorts.sort_by(executor, key); });
}

/// Sorts rows by keys that one column has: `key(element)` reads that column alone.
///
///     sort_by<position>(movers, &position::x);
template <class C, class... Cs, class Traits, class Key, executor Executor = inline_executor>
    requires detail::one_of_columns<C, Cs...> && detail::key_of<Key, C>
sort_stats sort_by(pool_base<columns<Cs...>, Traits>& pool, Key key, Executor&& executor = Executor()) {
    return sort_by(pool, detail::key_in_column<C, Cs...>(key), executor);
}

/// A part of a sort, for frames without the time for a whole one: at most `budget` objects change their
/// positions. Sorts as many positions as the budget allows, continuing where the previous call stopped and
/// wrapping around. A store that no thread changes is in order after 2 n / budget calls, for an even budget,
/// whatever its order was; objects that come and go leave a disorder that the next round repairs. A budget
/// below 2 does nothing, because a move needs a partner.
///
/// Equal objects get the order that they had before the first of the calls; objects created since then come
/// after the others. Where a call has another comparison than the one before, its equal objects get the order
/// that the one before was to give them, so by name and then by team sorts the names of each team. The result
/// tells whether the store is in order now, equal objects included. The pool remembers an order that it has
/// not reached, in 4 bytes a slot, until it is reached, until sort() finds another one, or until
/// shrink_to_fit() or the end of all objects; after that, the order in which the objects stand counts.
/// Progress: like sort(), and at least linear. The budget is for moves: each call compares all objects.
/// Throws what sort() throws.
template <class T, class Traits, class Compare, executor Executor = inline_executor>
    requires detail::comparison_of<Compare, T> && detail::sortable<Traits>
sort_stats sort_some(pool_base<T, Traits>& pool, Compare compare, std::size_t budget,
                     Executor&& executor = Executor()) {
    return detail::sort_while_closed(pool,
                                     [&](auto& sorts) { return sorts.sort_some(executor, compare, budget); });
}

/// A part of a sort like sort_some(), by keys like sort_by().
template <class T, class Traits, class Key, executor Executor = inline_executor>
    requires detail::key_of<Key, T> && detail::sortable<Traits>
sort_stats sort_some_by(pool_base<T, Traits>& pool, Key key, std::size_t budget,
                        Executor&& executor = Executor()) {
    return detail::sort_while_closed(pool,
                                     [&](auto& sorts) { return sorts.sort_some_by(executor, key, budget); });
}
template <class C, class... Cs, class Traits, class Key, executor Executor = inline_executor>
    requires detail::one_of_columns<C, Cs...> && detail::key_of<Key, C>
sort_stats sort_some_by(pool_base<columns<Cs...>, Traits>& pool, Key key, std::size_t budget,
                        Executor&& executor = Executor()) {
    return sort_some_by(pool, detail::key_in_column<C, Cs...>(key), budget, executor);
}

} // namespace handlepool
