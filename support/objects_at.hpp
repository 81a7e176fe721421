#pragma once

#include <cstdint>

namespace handlepool::test {

/// Objects by their location, like a dense store.
template <class T>
struct objects_at {
    T* first;

    T* at(std::uint32_t location) const noexcept { return first + location; }
};

} // namespace handlepool::test
