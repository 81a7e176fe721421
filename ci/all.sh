#!/usr/bin/env bash
# usage: ci/all.sh
#
# What a change must pass: formatting, the reference, both compilers, shared libraries, a machine without packages,
# models, sanitizers, fuzzing, the stress scenarios and the shipped traces. Each compiler is used once with a sanitizer; all
# combinations, and the tests of release builds, are jobs of .github/workflows/ci.yml. It needs root, and takes some
# 50 minutes on two cores, two thirds of them for compiling.
#
# examples:
#   ci/all.sh
#   ci/all.sh 2>&1 | tee all.log
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"
refuse_arguments "$@"

step "formatting"
ci/format.sh
step "reference"
ci/docs.sh
step "g++, contracts checked"
ci/test.sh
step "g++, shared libraries"
ci/shared.sh
step "a machine with a compiler and CMake only"
ci/bare.sh
step "other compilers, standard libraries and modes"
ci/compilers.sh
step "models"
ci/model.sh
step "clang++-19, AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer"
ci/asan.sh clang++-19 10
step "g++, ThreadSanitizer"
ci/tsan.sh g++ 10
step "fuzzing"
ci/fuzz.sh 10
step "stress scenarios, release"
ci/stress.sh 10
step "replay of the shipped traces"
for trace in stress/traces/*.zst; do
    ci/demo.sh replay "$trace"
done
step "done"
