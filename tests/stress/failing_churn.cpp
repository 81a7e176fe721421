// SPDX-License-Identifier: MIT

// Stands in for the real churn, which a right pool gives nothing to find: with it the program reports a
// violation.

#include "run/churn.hpp"

namespace handlepool::stress {

report churn(const churn_options&) {
    report result{.command = "churn"};
    result.all.violate("something was wrong");
    return result;
}

void run_churn(test_run& run) {
    run.violate("something was wrong");
}

} // namespace handlepool::stress
