// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>

namespace handlepool::detail {

/// Who keeps objects that end, instead of their destruction: they can't be copied before. Called while the
/// gate is closed, after the hooks, by one thread at a time.
template <class Value>
class object_keeper {
public:
    /// Takes the object of this handle, which has ended, out of its location; or leaves it to be destroyed,
    /// and returns false.
    virtual bool keep(Value handle, location where) noexcept = 0;
    /// The object of this handle has been handed over to somebody.
    virtual void miss(Value handle) noexcept = 0;
    /// All objects have been forgotten, without any of these calls.
    virtual void miss_all() noexcept = 0;

protected:
    object_keeper() = default;
    object_keeper(const object_keeper&) = default;
    object_keeper& operator=(const object_keeper&) = default;
    ~object_keeper() = default;
};

} // namespace handlepool::detail
