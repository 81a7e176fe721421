// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>

#include <cstddef>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

/// Parallel loops over the dense store of a handlepool::pool, within the frame contract: no compaction may
/// run meanwhile. Any thread, blocking. A thread that waits for a loop runs other tasks of its arena: it must
/// hold no access guard, or isolate itself. Objects that were erased since the last compaction are among
/// those visited, newborns are not; the bodies may create and erase. An exception from a body ends the loop,
/// which then throws it.
///
/// Tasks get whole cache lines, so that two of them never write to one line. tbb::parallel_for_each would
/// copy the objects, since it can't divide the range.
namespace handlepool {

namespace detail {

/// The fewest objects that fill whole cache lines.
template <class T>
constexpr std::size_t objects_in_whole_lines() {
    return std::lcm(sizeof(T), detail::cache_line) / sizeof(T);
}

/// Positions of objects, in groups that fill cache lines.
template <class T>
struct line_range {
    explicit line_range(std::size_t count)
        : objects(count),
          groups(0, (count + objects_in_whole_lines<T>() - 1) / objects_in_whole_lines<T>()) {}

    std::size_t first(const tbb::blocked_range<std::size_t>& part) const {
        return part.begin() * objects_in_whole_lines<T>();
    }
    std::size_t last(const tbb::blocked_range<std::size_t>& part) const {
        return detail::least(part.end() * objects_in_whole_lines<T>(), objects);
    }

    std::size_t objects;
    tbb::blocked_range<std::size_t> groups;
};

template <class Pool>
auto objects_of(Pool& pool) {
    if constexpr (std::is_const_v<Pool>) {
        return pool.items();
    } else {
        return pool.mutable_items();
    }
}

/// Calls body(position, object) for all, in parallel.
template <class T, class Body, class Partitioner>
void for_each_position(std::span<T> items, const Body& body, Partitioner&& partitioner) {
    const line_range<T> range(items.size());
    tbb::parallel_for(
        range.groups,
        [&](const tbb::blocked_range<std::size_t>& part) {
            T* const objects = items.data();
            for (std::size_t i = range.first(part), last = range.last(part); i != last; ++i) {
                body(i, objects[i]);
            }
        },
        std::forward<Partitioner>(partitioner));
}

} // namespace detail

/// Calls `body(object)` for each object of the dense store. Linear.
template <class Pool, class Body>
void for_each(Pool& pool, const Body& body) {
    detail::for_each_position(
        detail::objects_of(pool), [&](std::size_t, auto& object) { body(object); }, tbb::auto_partitioner());
}

/// Like for_each(pool, body), but each part of the store goes to the thread that had it last time with this
/// partitioner, and may still have it in its caches. One loop at a time for each partitioner.
template <class Pool, class Body>
void for_each(Pool& pool, const Body& body, tbb::affinity_partitioner& placement) {
    detail::for_each_position(
        detail::objects_of(pool), [&](std::size_t, auto& object) { body(object); }, placement);
}

/// Calls `body(handle, object)` for each object of the dense store; the handle is stale when the object was
/// erased since the last compaction. Linear.
template <class Pool, class Body>
void for_each_with_handle(Pool& pool, const Body& body) {
    detail::for_each_position(
        detail::objects_of(pool),
        [&](std::size_t position, auto& object) { body(pool.handle_at(position), object); },
        tbb::auto_partitioner());
}
/// Like for_each_with_handle(pool, body), with a partitioner as for for_each().
template <class Pool, class Body>
void for_each_with_handle(Pool& pool, const Body& body, tbb::affinity_partitioner& placement) {
    detail::for_each_position(
        detail::objects_of(pool),
        [&](std::size_t position, auto& object) { body(pool.handle_at(position), object); }, placement);
}

/// Sums up the objects of the dense store: `add(value, object)` returns the sum of both, `join(value, value)`
/// that of two parts, and `identity` is the sum of nothing. The parts depend on the number of objects alone:
/// the result is the same in each run, also for floating-point numbers. Linear.
template <class Pool, class Value, class Add, class Join>
Value reduce(Pool& pool, const Value& identity, const Add& add, const Join& join) {
    const auto items = pool.items();
    using element = std::remove_cv_t<typename decltype(items)::element_type>;
    const detail::line_range<element> range(items.size());
    // Splitting stops at the grain, whatever the threads do: at some 16 KiB.
    constexpr std::size_t group = detail::objects_in_whole_lines<element>() * sizeof(element);
    constexpr std::size_t grain = detail::greatest<std::size_t>(16384 / group, 1);
    return tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(range.groups.begin(), range.groups.end(), grain), identity,
        [&](const tbb::blocked_range<std::size_t>& part, Value sum) {
            for (std::size_t i = range.first(part), last = range.last(part); i != last; ++i) {
                sum = add(std::move(sum), items[i]);
            }
            return sum;
        },
        join);
}

} // namespace handlepool
