#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/fuzz.sh [SECONDS [TARGET...]]
#
# Gives the readers of files and bytes what libFuzzer makes up, under Address- and UndefinedBehaviorSanitizer: bags of properties,
# their JSON and the files of stores, traces, limits of pools, results, snapshots, merges, deltas, journals,
# messages of followers. What ends a target is kept in
# build/fuzz/findings/ and fails the run. What a target has learnt is kept in build/fuzz/corpus/, where the next run goes on.
#
#   SECONDS  of each target; 10 by default
#   TARGET   bag, bag_edits, bag_json, delta, journal, merge, pool_limits, record, replica, result, saved_container, saved_pool, snapshot,
#            store, trace or zeromq_message; all of them by default
#
# examples:
#   ci/fuzz.sh
#   ci/fuzz.sh 600
#   ci/fuzz.sh 60 bag bag_json
#   build/fuzz/tests/fuzz/fuzz_bag build/fuzz/findings/bag-crash-...    what was found, again
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"

seconds=${1:-10}
require_number SECONDS "$seconds"
targets=("${@:2}")
all=(bag bag_edits bag_json delta journal merge pool_limits record replica result saved_container saved_pool snapshot store trace zeromq_message)
for target in "${targets[@]}"; do
    [[ " ${all[*]} " == *" $target "* ]] || refuse "TARGET is '$target', and must be one of ${all[*]}"
done
[[ ${#targets[@]} -ne 0 ]] || targets=("${all[@]}")

ci/tools/install.sh clang++-19
cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target "${targets[@]/#/fuzz_}"

mkdir -p build/fuzz/findings
found=()
for target in "${targets[@]}"; do
    step "$target"
    learnt=build/fuzz/corpus/$target
    mkdir -p "$learnt"
    options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -use_value_profile=1 -print_final_stats=1 -verbosity=1
        -artifact_prefix="build/fuzz/findings/$target-")
    case $target in
        bag_json | pool_limits | result) options+=(-dict=tests/fuzz/json.dict) ;;
    esac
    log=build/fuzz/$target.log
    if "build/fuzz/tests/fuzz/fuzz_$target" "${options[@]}" "$learnt" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
        grep -e '^stat::number_of_executed_units' -e 'DONE' "$log" || true
    else
        tail -n 40 "$log" >&2
        found+=("$target")
    fi
done

if [[ ${#found[@]} -ne 0 ]]; then
    complain "something was found by: ${found[*]}; see build/fuzz/findings/"
    exit 1
fi
step "done"
