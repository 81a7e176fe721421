#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/all.sh
#
# What ci/check.sh leaves out: all tests under the sanitizers, the other compiler with and without them, models, the stress
# scenarios and the shipped traces, shared libraries, a machine without packages, fuzzing, other compilers and platforms. Each is a
# job of .github/workflows/ci.yml too. It needs root, and takes some three hours on two cores.
#
# examples:
#   ci/check.sh && ci/all.sh
#   ci/all.sh 2>&1 | tee all.log
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"

replay_traces() {
    for trace in stress/traces/*.zst; do
        ci/demo.sh replay "$trace"
    done
}

step "clang++-19, AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer"
ci/asan.sh clang++-19 10
step "clang++-19, ThreadSanitizer"
ci/tsan.sh clang++-19 10
step "g++, contracts checked"
CXX=g++ ci/test.sh
step "g++, AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer"
ci/asan.sh g++ 10
step "g++, ThreadSanitizer"
ci/tsan.sh g++ 10
step "models"
ci/model.sh
step "stress scenarios, release"
ci/stress.sh 10
step "replay of the shipped traces"
replay_traces
step "a machine with a compiler and CMake only"
ci/bare.sh
step "fuzzing"
ci/fuzz.sh 10
step "g++, shared libraries"
ci/shared.sh
step "other compilers, standard libraries and modes"
ci/compilers.sh
step "Windows, under wine"
ci/windows.sh
step "ARM64, under qemu"
ci/arm64.sh
step "done"
