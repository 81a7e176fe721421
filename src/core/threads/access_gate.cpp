// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/error.hpp>

#include <string>

namespace handlepool::detail {

void throw_refused(std::string_view owner, gate_refusal refusal) {
    if (refusal == gate_refusal::none) {
        return;
    }
    std::string text = "handlepool: ";
    text += owner;
    text += refusal == gate_refusal::running
                ? ": compaction was asked for while one is running"
                : ": compaction was asked for by a thread that has made an access guard, which still lives";
    throw_exception(compaction_conflict(text));
}

} // namespace handlepool::detail
