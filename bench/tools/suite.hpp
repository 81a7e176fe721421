// SPDX-License-Identifier: MIT
#pragma once

#include "table.hpp"

#include <cstddef>

namespace handlepool_bench {

/// Each registers benchmarks with the library, which write what they find into the table.
void register_one_thread(table& results, std::size_t rounds);
/// One thread alone with a pool.
void register_exclusive(table& results, std::size_t rounds);
/// A pool that is followed over time.
void register_changes(table& results, std::size_t rounds);
/// The last frames of a pool, and the way back.
void register_captures(table& results, std::size_t rounds);
void register_snapshots(table& results, std::size_t rounds);
void register_hashes(table& results, std::size_t rounds);
void register_spawners(table& results, std::size_t rounds);
/// Who has created and erased the objects.
void register_recorder(table& results, std::size_t rounds);
void register_look_up(table& results, std::size_t rounds);
void register_two_threads(table& results, std::size_t rounds);
void register_frames(table& results, std::size_t rounds);
void register_guards(table& results, std::size_t rounds);
/// Pools of few objects, which cost what a pool costs.
void register_small_pools(table& results, std::size_t rounds);
void register_stable(table& results, std::size_t rounds);
void register_sorting(table& results, std::size_t rounds);
void register_columns(table& results, std::size_t rounds);
void register_containers(table& results, std::size_t rounds);
void register_properties(table& results, std::size_t rounds);
/// What two threads can do at most here.
void register_machine(table& results, std::size_t rounds);
/// Contenders and costs that nobody judges.
void register_asides(std::size_t rounds);

} // namespace handlepool_bench
