// SPDX-License-Identifier: MIT
#pragma once

#include "relacy.hpp"

#include <source_location>
#include <string>

namespace handlepool::model {

/// What the last requirement that did not hold was about.
inline std::string last_requirement;

/// Ends the execution as a failed one, unless the condition holds.
inline void require(bool condition, const char* what,
                    const std::source_location& where = std::source_location::current()) {
    if (!condition) {
        last_requirement = what;
        rl::ctx().fail_test(what, rl::test_result_user_assert_failed,
                            {where.function_name(), where.file_name(), where.line()});
    }
}

} // namespace handlepool::model
