// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool {

/// A type that a program learns of at run time, for example from a script.
struct raw_type {
    /// Bytes of an object; at least 1. Neighbours lie this far apart, rounded up to the alignment.
    std::size_t size = 0;
    /// A power of two up to 1,048,576.
    std::size_t alignment = alignof(std::max_align_t);
    /// Moves the object at `from` to the memory at `to`, and ends its life at `from`. Null: its bytes are
    /// copied.
    void (*relocate)(void* to, void* from, void* context) noexcept = nullptr;
    /// Ends the life of an object. Null: there is nothing to do.
    void (*destroy)(void* object, void* context) noexcept = nullptr;
    /// Passed to both functions.
    void* context = nullptr;
};

} // namespace handlepool
