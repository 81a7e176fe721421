#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/windows.sh
#
# Cross-builds the library for Windows on x86-64 by mingw-w64, contracts checked, and runs under wine: tests of the core (see
# cross_tests in ci/tools/common.sh), the stress scenarios for a short time, the C interface, and a program with the library as a
# DLL. docs/platforms.md says what that shows, and what not.
#
# Some five minutes on two cores. Without oneTBB, RapidCheck and zstd, which would have to be compiled for Windows first: so
# without what needs them.
#
# examples:
#   ci/windows.sh
#   GTEST_FILTER='pool_test.*' ci/windows.sh    some tests
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"

ci/tools/cross_packages.sh windows
# Not under qemu, which takes too long: each of its many stores reserves gibibytes.
cross_tests+=(handlepool_properties_tests.property_store_file_test)
export WINEDEBUG=-all WINEPREFIX=$PWD/build/wine
# The compiler's own DLLs, and the C interface's.
compiler_libraries=$(dirname "$(x86_64-w64-mingw32-g++-posix -print-file-name=libstdc++-6.dll)")
export WINEPATH="$compiler_libraries;/usr/x86_64-w64-mingw32/lib;$PWD/build/windows"

step "build"
cmake --preset windows >/dev/null
cmake --build build/windows --target "${cross_tests[@]}" handlepool_c99_test handlepool-stress

step "tests"
wine wineboot --init >/dev/null 2>&1 # or the first test would wait for it
run_cross_tests windows .exe wine

step "C interface"
ctest --test-dir build/windows/tests/c -R 'c99_test|symbols' --output-on-failure

step "scenarios"
timeout 300 wine build/windows/stress/handlepool-stress.exe run all --seconds 20 --alive 1000

step "DLL"
cmake --preset windows -B build/windows-dll -D BUILD_SHARED_LIBS=ON -D HANDLEPOOL_COMPONENTS= \
    -D HANDLEPOOL_BUILD_TESTS=OFF -D HANDLEPOOL_BUILD_STRESS=OFF -D HANDLEPOOL_BUILD_TOOLS=OFF >/dev/null
cmake --build build/windows-dll --target handlepool
x86_64-w64-mingw32-g++-posix -std=c++20 -D HANDLEPOOL_CHECKED=1 -Iinclude tests/delivery/windows/dll_program.cpp \
    -Lbuild/windows-dll -lhandlepool-checked -o build/windows-dll/dll_program.exe
timeout 60 wine build/windows-dll/dll_program.exe
step "done"
