// SPDX-License-Identifier: MIT
#include "inspected_gate.hpp"

#include <handlepool/detail/threads/parent_gate.hpp>
#include <handlepool/detail/threads/thread_index.hpp>

#include <algorithm>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

/// The guards of the thread with this number, if it holds any.
std::optional<held_guards> guards_of(const inspected_program& program, const detail::described_gate& gate,
                                     std::uint32_t thread, std::uint64_t now) {
    const process_memory& memory = program.memory();
    const auto count = memory.read<std::uint32_t>(address_in(gate.guards, thread));
    if (count == 0) {
        return std::nullopt;
    }
    held_guards found{.thread_number = thread, .thread = program.thread_with_number(thread), .count = count};
    const auto since = memory.read<std::uint64_t>(address_in(gate.guards_since, thread));
    if (since != 0) {
        found.nanoseconds = now > since ? now - since : 0;
        found.maker = program.maker_of(memory.read<std::uint64_t>(address_in(gate.guard_makers, thread)));
        if (!found.maker->thread.empty()) { // the number may be another thread's by now
            found.thread = found.maker->thread;
        }
    }
    return found;
}

} // namespace

gate_view gate_of(const inspected_program& program, const detail::described_gate& gate) {
    const process_memory& memory = program.memory();
    gate_view found;
    const std::uint64_t now = inspect_tool::now();
    const auto state = memory.read<std::uint32_t>(gate.state);
    found.is = state == 0   ? gate_view::state::open
               : state == 1 ? gate_view::state::waiting
                            : gate_view::state::closed;
    found.is_exclusive = memory.read<detail::gate_use>(gate.closed_for) == detail::gate_use::exclusive_access;
    if (found.is != gate_view::state::open) {
        found.thread = program.thread_with_number(memory.read<std::uint32_t>(gate.compacting_thread));
    }
    if (const auto since = memory.read<std::uint64_t>(gate.waiting_since); since != 0) {
        found.nanoseconds = now > since ? now - since : 0;
    }
    const std::uint64_t threads = std::min<std::uint64_t>(
        {memory.read<std::uint32_t>(gate.thread_count), gate.guards.count, detail::thread_index_limit});
    for (std::uint32_t i = 0; i < threads; ++i) {
        if (auto guards = guards_of(program, gate, i, now)) {
            found.guards.push_back(*std::move(guards));
        }
    }
    return found;
}

} // namespace handlepool::inspect_tool
