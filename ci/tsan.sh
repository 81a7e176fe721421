#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/tsan.sh [COMPILER [SECONDS]]
#
# Runs the controls, all tests that have threads and all stress scenarios under ThreadSanitizer, oneTBB included,
# without a suppression. The controls are programs with a planted race each: one that is not reported fails the run.
#
#   COMPILER  g++, the default, or clang++-19
#   SECONDS   of the scenarios; 60 by default
#
# examples:
#   ci/tsan.sh
#   ci/tsan.sh clang++-19 30
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"

compiler=${1:-g++}
seconds=${2:-60}
require_compiler "$compiler"
require_number SECONDS "$seconds"
refuse_arguments "${@:3}"

ci/tools/install.sh "$compiler" chromium
ci/tools/onetbb_tsan.sh "$compiler"
build=build/tsan-$compiler
cmake --preset tsan -B "$build" -D CMAKE_CXX_COMPILER="$compiler" \
    -D TBB_DIR="$PWD/build/onetbb-tsan-$compiler/lib/cmake/TBB" >/dev/null
cmake --build "$build"

export TSAN_OPTIONS=atexit_sleep_ms=0 # saves a second a process
ctest --test-dir "$build" --output-on-failure --no-tests=error --label-regex control
export GTEST_FILTER=-$tests_of_whole_scenarios
ctest --test-dir "$build" --output-on-failure --no-tests=error --label-exclude control --parallel "$(nproc)"
# The bound is for bugs that show as a wait without end.
timeout "$((seconds * 3 + 300))" "$build/stress/handlepool-stress" run all --seconds "$seconds" --threads 4 --alive 5000
