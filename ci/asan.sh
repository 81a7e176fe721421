#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/asan.sh [COMPILER [SECONDS]]
#
# Runs the controls, all tests and all stress scenarios under Address-, Leak- and UndefinedBehaviorSanitizer,
# without a suppression. The controls are programs with a planted fault each: one that is not reported fails the run.
#
#   COMPILER  g++, the default, or clang++-19
#   SECONDS   of the scenarios; 60 by default
#
# examples:
#   ci/asan.sh
#   ci/asan.sh clang++-19 30
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"

compiler=${1:-g++}
seconds=${2:-60}
require_compiler "$compiler"
require_number SECONDS "$seconds"
refuse_arguments "${@:3}"

ci/tools/install.sh "$compiler" chromium
build=build/asan-$compiler
cmake --preset asan -B "$build" -D CMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$build"

export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
unset LSAN_OPTIONS # no suppression of a caller's
ctest --test-dir "$build" --output-on-failure --no-tests=error --label-regex control
export GTEST_FILTER=-$tests_of_whole_scenarios
ctest --test-dir "$build" --output-on-failure --no-tests=error --label-exclude control --parallel "$(nproc)"
# The bound is for bugs that show as a wait without end.
timeout "$((seconds * 3 + 300))" "$build/stress/handlepool-stress" run all --seconds "$seconds" --threads 4
