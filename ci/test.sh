#!/usr/bin/env bash
# Installs what is needed, builds everything and runs all tests.
# usage: ci/test.sh [PRESET [CTEST ARGUMENTS...]]    presets: dev (default), release, asan-ubsan, tsan
#        CXX=clang++-19 ci/test.sh                   with another compiler, in a build folder of its own
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-dev}
shift || true
case "$preset" in
    dev | release | asan-ubsan | tsan) ;;
    *) sed -n '2,4s/^# //p' "$0"; exit 2 ;;
esac

ci/install.sh
build=build/$preset${CXX:+-$(basename "$CXX")}
cmake --preset "$preset" -B "$build" ${CXX:+-D CMAKE_CXX_COMPILER="$CXX"} >/dev/null
cmake --build "$build"

export ASAN_OPTIONS=${ASAN_OPTIONS:-strict_string_checks=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-atexit_sleep_ms=0}
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" "$@"
