// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/compaction/stable_placement.hpp>
#include <handlepool/raw_pool.hpp>

/// `raw_stable_pool<>` is to raw_pool what stable_pool is to pool: its objects never move.
