// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/threads/parent_gate.hpp>
#include <handlepool/detail/threads/per_thread_table.hpp>
#include <handlepool/error.hpp>

#include <string>

namespace handlepool::detail {

namespace {

std::string conflict(std::string_view owner, std::string_view what) {
    return std::string("handlepool: ").append(owner).append(": ").append(what);
}

} // namespace

void throw_compaction_refused(std::string_view owner, gate_refusal refusal) {
    throw_exception(compaction_conflict(conflict(
        owner,
        refusal == gate_refusal::running
            ? "compaction was asked for while one is running"
            : "compaction was asked for by a thread that has made an access guard, which still lives")));
}

void throw_guard_refused(std::string_view owner) {
    throw_exception(
        compaction_conflict(conflict(owner, "an access guard was asked for in a thread that is compacting")));
}

void throw_thread_refused(std::string_view owner, bool of_this_module, std::size_t max_threads) {
    if (!of_this_module) {
        throw_exception(foreign_module(owner));
    }
    throw_exception(too_many_threads(owner, max_threads));
}

} // namespace handlepool::detail
