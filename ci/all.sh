#!/usr/bin/env bash
# usage: ci/all.sh
#
# What a change must pass: formatting, the reference, both compilers, models, sanitizers, the stress scenarios and the shipped
# traces, shared libraries, a machine without packages, fuzzing. Each compiler is used once with a sanitizer; all
# combinations, and the tests of release builds, are jobs of .github/workflows/ci.yml. It needs root, and takes some
# 50 minutes on two cores, two thirds of them for compiling. On a slow machine the last steps are left out, which it says:
# none of them begins after 50 minutes.
#
# examples:
#   ci/all.sh
#   ci/all.sh 2>&1 | tee all.log
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"
refuse_arguments "$@"

# if_in_time NAME COMMAND...: a step that jobs of their own repeat.
if_in_time() {
    if [[ $SECONDS -lt 3000 ]]; then
        step "$1"
        "${@:2}"
    else
        step "left out, for want of time: $1"
    fi
}

replay_traces() {
    for trace in stress/traces/*.zst; do
        ci/demo.sh replay "$trace"
    done
}

step "formatting"
ci/format.sh
step "reference"
ci/docs.sh
step "g++, contracts checked"
ci/test.sh
step "clang++-19, AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer"
ci/asan.sh clang++-19 10
step "g++, ThreadSanitizer"
ci/tsan.sh g++ 10
if_in_time "models" ci/model.sh
if_in_time "stress scenarios, release" ci/stress.sh 10
if_in_time "replay of the shipped traces" replay_traces
if_in_time "other compilers, standard libraries and modes" ci/compilers.sh
if_in_time "g++, shared libraries" ci/shared.sh
if_in_time "a machine with a compiler and CMake only" ci/bare.sh
if_in_time "fuzzing" ci/fuzz.sh 10
step "done"
