// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace handlepool::model {

/// What became of a piece of work in a process of its own.
struct child_end {
    std::string text;    ///< what it returned
    std::string failure; ///< why it returned nothing: a signal, or the time limit; else empty
};

/// Calls `work(i)` for each i below `count`, each in a process of its own that may use the processor for
/// `limit`, `jobs` at a time, and `ended(i, end)` here as they end; when that returns false, no more are
/// begun. The checker can run one model at a time in a process, and a broken library may crash or hang it.
void in_children(std::size_t count, unsigned jobs, std::chrono::seconds limit,
                 const std::function<std::string(std::size_t)>& work,
                 const std::function<bool(std::size_t, const child_end&)>& ended);

} // namespace handlepool::model
