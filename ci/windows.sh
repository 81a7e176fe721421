#!/usr/bin/env bash
# usage: ci/windows.sh
#
# Cross-builds the library for Windows on x86-64 by mingw-w64, contracts checked, and runs under wine: the tests, but for
# those of POSIX, and a program with the library as a DLL. docs/platforms.md says what that shows, and what not.
#
# Without oneTBB, RapidCheck and zstd, which would have to be compiled for Windows first: so without what needs them.
#
# examples:
#   ci/windows.sh
#   GTEST_FILTER='pool_test.*' ci/windows.sh    some tests
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"
refuse_arguments "$@"

ci/cross_packages.sh windows
export WINEDEBUG=-all WINEPREFIX=$PWD/build/wine

step "build"
cmake --preset windows -D HANDLEPOOL_BUILD_STRESS=OFF >/dev/null
programs=(handlepool_tests handlepool_ordered_access_tests handlepool_boost_tests handlepool_properties_tests
    handlepool_service_tests handlepool_system_tests)
cmake --build build/windows --target "${programs[@]}"

step "tests"
wine wineboot --init >/dev/null 2>&1 # or the first test would wait for it
for program in "${programs[@]}"; do
    file=$(find build/windows/tests -name "$program.exe")
    # The bound is for bugs that show as a wait without end.
    timeout 900 wine "$file" --gtest_brief=1
done

step "DLL"
cmake --preset windows -B build/windows-dll -D BUILD_SHARED_LIBS=ON -D HANDLEPOOL_COMPONENTS= \
    -D HANDLEPOOL_BUILD_TESTS=OFF -D HANDLEPOOL_BUILD_STRESS=OFF >/dev/null
cmake --build build/windows-dll --target handlepool
x86_64-w64-mingw32-g++-posix -std=c++20 -D HANDLEPOOL_CHECKED=1 -Iinclude tests/windows/dll_program.cpp \
    -Lbuild/windows-dll -lhandlepool-checked -o build/windows-dll/dll_program.exe
# The compiler's own DLLs.
compiler_libraries=$(dirname "$(x86_64-w64-mingw32-g++-posix -print-file-name=libstdc++-6.dll)")
WINEPATH="$compiler_libraries;/usr/x86_64-w64-mingw32/lib" timeout 60 wine build/windows-dll/dll_program.exe
