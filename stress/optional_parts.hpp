#pragma once

// The parts of the harness that a build may lack, because they need a package or a system. Folder without/
// has what stands in their place.
namespace handlepool::stress {

inline constexpr bool has_tbb = HANDLEPOOL_STRESS_TBB != 0;
inline constexpr bool has_traces = HANDLEPOOL_STRESS_TRACES != 0;     // zstd
inline constexpr bool has_recorder = HANDLEPOOL_STRESS_RECORDER != 0; // Linux and zstd

} // namespace handlepool::stress
