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
    /// Copies the object at `from` to the memory at `to`. May throw; then no object is there. Only captures
    /// copy objects. Null: its bytes are copied, if nothing is to be done to move an object or to end it;
    /// else objects can't be captured.
    void (*copy)(void* to, const void* from, void* context) = nullptr;
    /// Passed to these functions.
    void* context = nullptr;
};

} // namespace handlepool
