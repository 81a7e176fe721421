#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/shared.sh
#
# Runs the library's tests against its shared libraries, but for those of its inside, with all symbols of the tests hidden:
# what users need must be exported, and nothing of others.
#
# examples:
#   ci/shared.sh
#   CXX=clang++-19 ci/shared.sh    with another compiler, in a build folder of its own
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"

if [ "${CXX:-}" = clang++-19 ]; then
    ci/tools/install.sh clang++-19
else
    ci/tools/install.sh
fi
build=build/shared${CXX:+-$(basename "$CXX")}
cmake --preset dev -B "$build" ${CXX:+-D CMAKE_CXX_COMPILER="$CXX"} -D BUILD_SHARED_LIBS=ON \
    -D CMAKE_CXX_VISIBILITY_PRESET=hidden -D CMAKE_VISIBILITY_INLINES_HIDDEN=ON -D CMAKE_CXX_FLAGS_DEBUG=-O0 \
    -D HANDLEPOOL_UNITE_SOURCES=ON \
    -D HANDLEPOOL_BUILD_STRESS=OFF -D HANDLEPOOL_BUILD_TOOLS=OFF -D HANDLEPOOL_BUILD_BENCH=OFF -D HANDLEPOOL_BUILD_EXAMPLES=OFF >/dev/null
cmake --build "$build"
# Those that are left out build libraries of their own, which the other builds do as well.
ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)" \
    --exclude-regex '^install\.(configurations|time|snapshots|zeromq|subproject|debuggers)$'
