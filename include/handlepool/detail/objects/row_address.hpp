// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool::detail {

/// Where the elements of a row lie: at one position of each column. The memory of a row, whether it is alive
/// or not; null when `starts` is.
struct row_address {
    /// Raw memory for the row's element of a column, which has the type C.
    template <class C>
    void* memory(std::size_t column) const noexcept {
        return starts[column] + position * sizeof(C);
    }

    friend bool operator==(row_address, row_address) noexcept = default;

    std::byte* const* starts = nullptr; // of the columns, in their order
    std::size_t position = 0;
};

} // namespace handlepool::detail
