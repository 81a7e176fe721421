// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/policy.hpp>

#include <cstddef>

namespace handlepool::support {

/// Batches of N: with 1 and 2 the rare paths, at the end of a claim or of a chunk, are run all the time.
template <std::size_t N, class Base = default_policy>
struct tiny_policy : Base {
    static constexpr std::size_t claim_size = N;
    static constexpr std::size_t nursery_chunk = N;
    static constexpr std::size_t claim_groups = 2;
    static constexpr std::size_t warm_chunks = 0;
    static constexpr std::size_t removal_chunk = N;
    static constexpr std::size_t freelist_block = N;
    static constexpr std::size_t compaction_grain = N;
};

} // namespace handlepool::support
