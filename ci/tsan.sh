#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/tsan.sh [COMPILER [SECONDS [PROGRAMS...]]]
#
# Runs the controls, all tests that have threads and all stress scenarios under ThreadSanitizer, oneTBB included,
# without a suppression. The controls are programs with a planted race each: one that is not reported fails the run.
#
#   COMPILER  g++, the default, or clang++-19
#   SECONDS   of the scenarios; 60 by default
#   PROGRAMS  of tests, and handlepool-stress for the scenarios; all by default
#
# examples:
#   ci/tsan.sh
#   ci/tsan.sh clang++-19 30
#   ci/tsan.sh clang++-19 30 handlepool_service_tests handlepool-stress
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
. "$(dirname "$0")/tools/sanitizer.sh"
cd "$project"

read_arguments "$@"

ci/tools/install.sh "$compiler" chromium
ci/tools/onetbb_tsan.sh "$compiler"
export TSAN_OPTIONS=atexit_sleep_ms=0 # saves a second a process
# g++'s runtime takes the thread-local memory of a library that was loaded later, as that which names places is, to be hundreds of
# tebibytes.
[[ $compiler == clang* ]] || TSAN_OPTIONS+=:intercept_tls_get_addr=0
scenario_options=(--alive 5000)
sanitized_tests tsan -D TBB_DIR="$PWD/build/onetbb-tsan-$compiler/lib/cmake/TBB"
