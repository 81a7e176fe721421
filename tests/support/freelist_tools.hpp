// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

/// Short forms of a freelist's calls.
namespace handlepool::test {

using indices = std::vector<std::uint32_t>;

/// first, first + 1, ... up to but without `last`.
inline indices sequence(std::uint32_t first, std::uint32_t last) {
    indices all(last - first);
    std::iota(all.begin(), all.end(), first);
    return all;
}

/// As many as there are, up to `wanted`.
template <class List>
indices claim(List& list, std::size_t wanted, std::size_t in_use_limit = 1U << 20) {
    indices claimed(wanted);
    std::size_t count = 0;
    for (std::size_t more = 1; more != 0 && count != wanted; count += more) {
        more = list.claim(claimed.data() + count, wanted - count, in_use_limit);
    }
    claimed.resize(count);
    return claimed;
}

template <class List>
void free_all(List& list, const indices& all) {
    for (const auto index : all) {
        list.release(index);
    }
    list.publish();
}

} // namespace handlepool::test
