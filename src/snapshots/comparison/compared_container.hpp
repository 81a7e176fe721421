// SPDX-License-Identifier: MIT
#pragma once

#include "difference_list.hpp"

#include <handlepool/detail/snapshots/snapshot_reader.hpp>

namespace handlepool::detail {

/// Compares the containers in two blocks. Throws invalid_snapshot and std::bad_alloc.
void compare_containers(const snapshot_block& first, const snapshot_block& second, difference_list& to);

} // namespace handlepool::detail
