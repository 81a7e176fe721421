#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/asan.sh [COMPILER [SECONDS [PROGRAMS...]]]
#
# Runs the controls, all tests and all stress scenarios under Address-, Leak- and UndefinedBehaviorSanitizer,
# without a suppression. The controls are programs with a planted fault each: one that is not reported fails the run.
#
#   COMPILER  g++, the default, or clang++-19
#   SECONDS   of the scenarios; 60 by default
#   PROGRAMS  of tests, and handlepool-stress for the scenarios; all by default
#
# examples:
#   ci/asan.sh
#   ci/asan.sh clang++-19 30
#   ci/asan.sh clang++-19 30 handlepool_snapshots_tests
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
. "$(dirname "$0")/tools/sanitizer.sh"
cd "$project"

read_arguments "$@"

ci/tools/install.sh "$compiler" chromium lavapipe
export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
unset LSAN_OPTIONS # no suppression of a caller's
scenario_options=()
sanitized_tests asan
