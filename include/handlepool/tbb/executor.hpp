// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/executor.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <cstddef>

namespace handlepool {

/// Runs the loops of a compaction on oneTBB's threads; loops that are not worth it run inline. Any number of
/// threads may use one executor at the same time.
///
/// A thread that waits for a loop runs nothing but that loop meanwhile: another task could take an access
/// guard, and wait for the compaction that it runs in. A loop runs to its end even when the group of tasks in
/// which it was called is cancelled: half a compaction would be worse than a late end.
class tbb_executor {
public:
    /// Runs loops in the arena of the thread that compacts.
    tbb_executor() = default;
    /// Runs them in this arena, which must outlive the executor. A thread of another arena that compacts then
    /// waits for a place in it.
    explicit tbb_executor(tbb::task_arena& arena) noexcept : arena_(&arena) {}

    /// Runs a loop, and returns when it is done.
    /// Progress: blocking.
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) const {
        if (count <= grain) {
            inline_executor{}.for_ranges(count, grain, body);
        } else if (arena_ == nullptr) {
            run(count, grain, body);
        } else {
            arena_->execute([&] { run(count, grain, body); });
        }
    }

private:
    template <class Body>
    static void run(std::size_t count, std::size_t grain, Body& body) {
        tbb::this_task_arena::isolate([&] {
            tbb::task_group_context uncancelled(tbb::task_group_context::isolated);
            tbb::parallel_for(
                tbb::blocked_range<std::size_t>(0, count, grain),
                [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); },
                uncancelled);
        });
    }

    tbb::task_arena* arena_ = nullptr;
};

static_assert(executor<tbb_executor>);

} // namespace handlepool
