#!/usr/bin/env bash
# usage: ci/test.sh [PRESET [ARGUMENTS...]]
#
# Installs what is needed, builds everything, several files at a time, and runs all tests.
#
#   PRESET     dev, the default, a Debug build with contracts checked; or release
#   ARGUMENTS  of ctest
#
# examples:
#   ci/test.sh
#   ci/test.sh release --label-exclude stress
#   CXX=clang++-19 ci/test.sh    with another compiler, in a build folder of its own
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"

preset=${1:-dev}
[[ $preset == dev || $preset == release ]] || refuse "PRESET is '$preset', and must be dev or release"

if [ "${CXX:-}" = clang++-19 ]; then
    ci/install.sh chromium clang++-19 gdb lldb-19 numpy
else
    ci/install.sh chromium gdb lldb-19 numpy
fi
build=build/$preset${CXX:+-$(basename "$CXX")}
# Without debug information, which takes a fifth of the time.
cmake --preset "$preset" -B "$build" ${CXX:+-D CMAKE_CXX_COMPILER="$CXX"} -D HANDLEPOOL_UNITE_SOURCES=ON \
    -D CMAKE_CXX_FLAGS_DEBUG=-O0 >/dev/null
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" "${@:2}"
