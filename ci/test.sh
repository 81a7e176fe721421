#!/usr/bin/env bash
# Installs what is needed, builds everything and runs all tests.
# usage: ci/test.sh [dev|release [CTEST ARGUMENTS...]]    dev, the default, is a Debug build with contracts checked
#        CXX=clang++-19 ci/test.sh                        with another compiler, in a build folder of its own
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-dev}
shift || true
case "$preset" in
    dev | release) ;;
    *) sed -n '2,4s/^# //p' "$0" >&2; exit 2 ;;
esac

if [ "${CXX:-}" = clang++-19 ]; then
    ci/install.sh chromium clang++-19
else
    ci/install.sh chromium
fi
build=build/$preset${CXX:+-$(basename "$CXX")}
cmake --preset "$preset" -B "$build" ${CXX:+-D CMAKE_CXX_COMPILER="$CXX"} >/dev/null
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" "$@"
