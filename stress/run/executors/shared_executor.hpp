// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/executor.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/timeline.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace handlepool::stress {

// An executor, and the reference that is shared.
template <class Executor>
struct owned_executor {
    template <class... Args>
    explicit owned_executor(Args&&... args) : executor(std::forward<Args>(args)...) {}

    Executor executor;
    const executor_ref reference{executor};
};

template <class Executor, class... Args>
std::shared_ptr<const executor_ref> share(Args&&... args) {
    const auto made = std::make_shared<owned_executor<Executor>>(std::forward<Args>(args)...);
    return {made, &made->reference};
}

template <class Executor, class... Args>
std::shared_ptr<const executor_ref> share_traced(timeline* records, Args... args) {
    return records == nullptr ? share<Executor>(args...)
                              : share<traced_executor<Executor>>(*records, args...);
}

// oneTBB's, by up to this number of threads. Throws std::runtime_error where the build has no oneTBB.
std::shared_ptr<const executor_ref> make_tbb_executor(timeline* records, std::size_t threads);

} // namespace handlepool::stress
