// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/stats.hpp>

#include <cstdint>
#include <string_view>

namespace handlepool::detail {

/// What a gate is closed for.
enum class gate_use : std::uint8_t { compaction, exclusive_access };

/// Why a gate was not closed.
enum class gate_refusal : std::uint8_t {
    none,
    running,         ///< another compaction is running
    exclusive,       ///< a thread has exclusive access
    within_step,     ///< the calling thread has, and runs what one of its operations calls
    guard_of_caller, ///< a guard lives that the calling thread has made
};

/// A compaction, if it was not refused.
struct compaction_attempt {
    gate_refusal refusal = gate_refusal::none;
    compaction_stats done;
};

/// Throw compaction_conflict: a gate was not closed for what was asked; or a guard was asked for by the
/// thread that has closed it for this use. `owner` is "pool 'ships'", say.
[[noreturn]] HANDLEPOOL_EXPORT void throw_refused(std::string_view owner, gate_use asked,
                                                  gate_refusal refusal);
[[noreturn]] HANDLEPOOL_EXPORT void throw_guard_refused(std::string_view owner, gate_use closed_for);

/// Ends the program: a thread used a pool to which another one has exclusive access.
[[noreturn]] HANDLEPOOL_EXPORT void exclusive_access_violated(std::string_view pool, std::uint32_t owner,
                                                              std::uint32_t user) noexcept;

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
