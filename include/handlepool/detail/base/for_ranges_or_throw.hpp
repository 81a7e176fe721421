// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/executor.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// Has an executor run a loop that calls what users pass, which may throw: the executor's bodies may not. The
/// first exception reaches the caller, when all bodies have returned; a range in which one was thrown ends
/// there, the others go on to their ends.
template <class Policy, class Executor, class Body>
void for_ranges_or_throw(Executor& executor, std::size_t count, std::size_t grain, Body body) {
    if constexpr (std::is_same_v<std::remove_cv_t<Executor>, inline_executor> ||
                  std::is_nothrow_invocable_v<Body&, std::size_t, std::size_t>) {
        executor.for_ranges(count, grain, body);
    } else {
        // Relaxed: the executor carries the exception to the caller.
        typename Policy::template atomic<bool> has_thrown{false};
        std::exception_ptr first_thrown;
        executor.for_ranges(count, grain, [&](std::size_t first, std::size_t last) noexcept {
            std::exception_ptr thrown = capture_exception([&] { body(first, last); });
            if (thrown != nullptr && !has_thrown.exchange(true, std::memory_order::relaxed)) {
                first_thrown = std::move(thrown);
            }
        });
        if (first_thrown != nullptr) {
            std::rethrow_exception(first_thrown);
        }
    }
}

} // namespace handlepool::detail
