#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/model.sh [--deep]
#
# Runs the library's headers under a model checker: the models' executions, each memory order one step weaker, and threads
# that are stopped for ever. Takes some four minutes on two cores; what it shows stands in docs/inside/verification.md.
#
#   --deep  a million random executions a model, and all with two preemptions, as far as a minute goes; some two hours
#
# examples:
#   ci/model.sh
#   ci/model.sh --deep
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"

deep=false
if [[ ${1:-} == --deep ]]; then
    deep=true
    shift
fi
refuse_arguments "$@"

ci/tools/install.sh
cmake --preset release -B build/model -D HANDLEPOOL_CHECKED=ON -D HANDLEPOOL_BUILD_MODELS=ON >/dev/null
cmake --build build/model --target handlepool-model
model=build/model/tests/model/handlepool-model

if $deep; then
    step "a million random executions, all executions with two preemptions as far as a minute goes"
    "$model" run --random 1000000 --preemptions 2 --seconds 60
    step "all executions with three preemptions, as far as seconds go"
    "$model" run --preemptions 3 --seconds 10
    step "all executions, as far as seconds go"
    "$model" run --exhaustive --seconds 3
    step "a thread that is stopped for ever, with a preemption beside"
    "$model" stops --preemptions 1 --seconds 3
else
    step "random executions, all executions with one and two preemptions as far as seconds go"
    "$model" run --random 20000 --preemptions 1 --preemptions 2 --seconds 1
    step "a thread that is stopped for ever"
    "$model" stops --preemptions 0
fi
step "each memory order, one step weaker"
"$model" orders
step "done"
