// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>

#include <cstdint>

namespace handlepool::detail {

/// The widths in the layout of handles, which come next. Throws invalid_snapshot for such as no layout has.
std::uint32_t read_any_widths(block_reader& from);

/// What any pool of a snapshot could take, where that of its program is not known: as the next bytes say.
/// Throws invalid_snapshot for widths and placements that no pool has.
pool_limits_of_snapshot widest_limits(block_reader from);

} // namespace handlepool::detail
