#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/all.sh
#
# What a change must pass: formatting, the reference, both compilers, models, sanitizers, the stress scenarios and the shipped
# traces, shared libraries, a machine without packages, fuzzing, other platforms. Each compiler is used once with a sanitizer; all
# combinations, and the tests of release builds, are jobs of .github/workflows/ci.yml. It needs root, and takes some
# 50 minutes on two cores, two thirds of them for compiling. Of the last steps it leaves those out, and says so, that would
# not end within 55 minutes.
#
# examples:
#   ci/all.sh
#   ci/all.sh 2>&1 | tee all.log
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"
last_second=3300

# if_in_time SECONDS NAME COMMAND...: a step that jobs of their own repeat, and that takes so long on two cores.
if_in_time() {
    if [[ $((SECONDS + $1)) -le $last_second ]]; then
        step "$2"
        "${@:3}"
    else
        step "left out, for want of time: $2"
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
step "clang++-19, contracts checked"
ci/test.sh
step "clang++-19, AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer"
ci/asan.sh clang++-19 10
step "g++, ThreadSanitizer"
ci/tsan.sh g++ 10
if_in_time 420 "models" ci/model.sh
if_in_time 150 "stress scenarios, release" ci/stress.sh 10
if_in_time 60 "replay of the shipped traces" replay_traces
if_in_time 240 "a machine with a compiler and CMake only" ci/bare.sh
if_in_time 250 "fuzzing" ci/fuzz.sh 10
if_in_time 400 "g++, shared libraries" ci/shared.sh
CXX=g++ if_in_time 1500 "g++, contracts checked" ci/test.sh
if_in_time 750 "other compilers, standard libraries and modes" ci/compilers.sh
if_in_time 330 "Windows, under wine" ci/windows.sh
if_in_time 270 "ARM64, under qemu" ci/arm64.sh
step "done"
