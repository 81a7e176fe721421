// SPDX-License-Identifier: MIT
#pragma once

namespace handlepool {

/// Where a pool keeps its objects: contiguous in memory. A compaction moves them, to close holes.
struct dense_placement {};

/// Where a pool keeps its objects: each has its address for life. Holes stay until new objects fill them,
/// those at the front first.
struct stable_placement {};

/// Objects never move, and an erased object is cleared and kept for the next one in its place.
struct recycling_placement {};

} // namespace handlepool
