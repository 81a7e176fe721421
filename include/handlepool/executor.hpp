#pragma once

#include <concepts>
#include <cstddef>

namespace handlepool {

/// Runs the loops of a compaction. `for_ranges(count, grain, body)` calls `body(first, last)` for ranges that
/// cover 0 to `count` exactly once, in any order, on any threads, at the same time or not, and returns when
/// all calls have returned; whatever came before for_ranges happens before the calls, and they before what
/// follows it. Ranges shorter than `grain` are not worth a thread of their own. The bodies are noexcept and
/// for_ranges must not throw: a compaction can't stop half-way, and ends the program instead.
template <class Executor>
concept executor = requires(Executor& run, std::size_t count, std::size_t grain,
                            void (*body)(std::size_t first, std::size_t last) noexcept) {
    run.for_ranges(count, grain, body);
};

/// Runs everything in the calling thread.
struct inline_executor {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t, Body&& body) const {
        if (count != 0) {
            body(std::size_t{0}, count);
        }
    }
};

static_assert(executor<inline_executor>);

} // namespace handlepool
