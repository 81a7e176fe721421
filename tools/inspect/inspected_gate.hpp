// SPDX-License-Identifier: MIT
#pragma once

#include "inspected_program.hpp"

#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/recorded_life.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::inspect_tool {

/// A thread's guards of a pool, or of a service.
struct held_guards {
    std::uint32_t thread_number = 0; ///< the library's
    std::string thread;              ///< its name, if known
    std::uint32_t count = 0;
    // Of the first of them, if that is recorded.
    std::optional<std::uint64_t> nanoseconds = std::nullopt;
    std::optional<recorded_event> maker = std::nullopt;
};

/// Who keeps others from a pool, or from a service.
struct gate_view {
    enum class state : std::uint32_t { open, waiting, closed };
    state is = state::open;
    bool is_exclusive = false;     ///< not a compaction, but exclusive access
    std::string thread;            ///< who compacts, or has it alone
    std::uint64_t nanoseconds = 0; ///< for which a compaction has waited for guards
    std::vector<held_guards> guards;
};

/// A gate of a program at a moment. Throws process_unreadable, or memory_gone when its pool or service has
/// ended.
gate_view gate_of(const inspected_program& program, const detail::described_gate& gate);

} // namespace handlepool::inspect_tool
