// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/stats.hpp>

#include <cstdint>
#include <string_view>

namespace handlepool::detail {

/// Why a gate was not closed for a compaction.
enum class gate_refusal : std::uint8_t {
    none,
    running,        ///< another compaction is running
    guard_of_caller ///< a guard lives that the calling thread has made
};

/// A compaction, if it was not refused.
struct compaction_attempt {
    gate_refusal refusal = gate_refusal::none;
    compaction_stats done;
};

/// Throw compaction_conflict: a compaction was refused, or a guard in a thread that is compacting. `owner` is
/// "pool 'ships'", say.
[[noreturn]] HANDLEPOOL_EXPORT void throw_compaction_refused(std::string_view owner, gate_refusal refusal);
[[noreturn]] HANDLEPOOL_EXPORT void throw_guard_refused(std::string_view owner);

/// A gate around another one, which lets its own guards pass while a compaction inside waits.
class HANDLEPOOL_EXPORT parent_gate {
public:
    /// The compaction inside begins to wait for guards.
    virtual void step_aside() noexcept = 0;
    /// It goes on.
    virtual void close_again() noexcept = 0;

protected:
    ~parent_gate() = default;
};

} // namespace handlepool::detail
