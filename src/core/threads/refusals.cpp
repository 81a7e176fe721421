// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/contract.hpp>
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

void throw_refused(std::string_view owner, gate_use asked, gate_refusal refusal) {
    const bool compaction = asked == gate_use::compaction;
    std::string what = compaction ? "compaction was asked for " : "exclusive access was asked for ";
    switch (refusal) {
    case gate_refusal::none:
        break;
    case gate_refusal::running:
        what += compaction ? "while one is running" : "while a compaction is running";
        break;
    case gate_refusal::exclusive:
        what += "while a thread has exclusive access";
        break;
    case gate_refusal::within_step: // a compaction, a reset, a sort, a hook
        what = "an operation on the whole pool was asked for by a constructor, destructor, hook or sink";
        break;
    case gate_refusal::guard_of_caller:
        what += "by a thread that has made an access guard or spawners, which still live";
        break;
    }
    throw_exception(compaction_conflict(conflict(owner, what)));
}

void throw_guard_refused(std::string_view owner, gate_use closed_for) {
    throw_exception(compaction_conflict(
        conflict(owner, closed_for == gate_use::compaction
                            ? "an access guard was asked for in a thread that is compacting"
                            : "an access guard was asked for in a thread that has exclusive access")));
}

void exclusive_access_violated(std::string_view pool, std::uint32_t owner, std::uint32_t user) noexcept {
    contract_violated(pool, "thread " + std::to_string(user) + " has used it while thread " +
                                std::to_string(owner) + " has exclusive access");
}

void throw_thread_refused(std::string_view owner, bool of_this_module, std::size_t max_threads) {
    if (!of_this_module) {
        throw_exception(foreign_module(owner));
    }
    throw_exception(too_many_threads(owner, max_threads));
}

} // namespace handlepool::detail
