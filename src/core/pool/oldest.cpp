// SPDX-License-Identifier: MIT
#include <handlepool/detail/pool/oldest.hpp>

#include <algorithm>
#include <tuple>

namespace handlepool::detail {

void keep_oldest(std::vector<aged_handle>& handles, std::size_t most) noexcept {
    const std::size_t count = std::min(most, handles.size());
    const auto age = [](const aged_handle& one) {
        return std::tuple(~one.frames, one.generation, one.index);
    };
    std::ranges::partial_sort(handles, handles.begin() + static_cast<std::ptrdiff_t>(count), {}, age);
    handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(count), handles.end());
}

} // namespace handlepool::detail
