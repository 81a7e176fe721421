#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/check.sh
#
# What each change must pass before others see it, in 40 minutes on two cores and in 15 where ccache has most of it: formatting,
# the reference, all tests with contracts checked, and of the sanitizers what finds most in little time. That is AddressSanitizer,
# LeakSanitizer and UndefinedBehaviorSanitizer where bytes come from outside and where memory runs out, and ThreadSanitizer under
# the scenarios and the service. One compiler, the faster one, compiles all of it; ci/all.sh and the jobs of
# .github/workflows/ci.yml have the other one and the rest. It needs root.
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
ci/asan.sh clang++-19 10 handlepool_{memory,properties,snapshots,states}_tests
step "clang++-19, ThreadSanitizer"
ci/tsan.sh clang++-19 10 handlepool_{service,tbb}_tests handlepool-stress
step "done"
