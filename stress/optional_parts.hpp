// SPDX-License-Identifier: MIT
#pragma once

// The parts of the harness that a build may lack, because they need a package or a system. Folder without/
// has what stands in their place.
namespace handlepool::stress {

inline constexpr bool has_tbb = HANDLEPOOL_STRESS_TBB != 0;
inline constexpr bool has_traces = HANDLEPOOL_STRESS_TRACES != 0;     // zstd
inline constexpr bool has_recorder = HANDLEPOOL_STRESS_RECORDER != 0; // Linux and zstd

// Its commands: HANDLEPOOL_STRESS_COMMANDS of the build.
inline constexpr bool has_run = HANDLEPOOL_STRESS_RUN != 0;
inline constexpr bool has_replay = HANDLEPOOL_STRESS_REPLAY != 0;
inline constexpr bool has_churn = HANDLEPOOL_STRESS_CHURN != 0;
inline constexpr bool has_record = HANDLEPOOL_STRESS_RECORD != 0;
inline constexpr bool has_recover = HANDLEPOOL_STRESS_RECOVER != 0;
inline constexpr bool has_report = HANDLEPOOL_STRESS_REPORT != 0;

} // namespace handlepool::stress
