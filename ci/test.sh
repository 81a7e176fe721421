#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
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
#   CXX=g++ ci/test.sh    with another compiler than clang++-19, which takes half of the time
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"

preset=${1:-dev}
[[ $preset == dev || $preset == release ]] || refuse "PRESET is '$preset', and must be dev or release"

compiler=${CXX:-clang++-19}
tools=(chromium gdb lavapipe lldb-19 numpy)
if [ "$compiler" = clang++-19 ]; then
    tools+=(clang++-19)
fi
ci/tools/install.sh "${tools[@]}"
build=build/$preset-$(basename "$compiler")
# Without debug information, which takes a fifth of the time.
cmake --preset "$preset" -B "$build" -D CMAKE_CXX_COMPILER="$compiler" -D HANDLEPOOL_UNITE_SOURCES=ON \
    -D CMAKE_CXX_FLAGS_DEBUG=-O0 >/dev/null
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" "${@:2}"
