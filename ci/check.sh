#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/check.sh
#
# What each change must pass before others see it: formatting, the reference, all tests with contracts checked, the tests under
# AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer, and those that have threads under ThreadSanitizer. One compiler,
# the faster one, compiles all of it; ci/all.sh and the jobs of .github/workflows/ci.yml have the other one and the rest.
# It needs root.
#
# examples:
#   ci/check.sh
#   ci/check.sh 2>&1 | tee check.log
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"

step "formatting"
ci/format.sh
step "reference"
ci/docs.sh
step "clang++-19, contracts checked"
ci/test.sh
step "clang++-19, AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer"
ci/asan.sh clang++-19 10
step "clang++-19, ThreadSanitizer"
ci/tsan.sh clang++-19 10
step "done"
