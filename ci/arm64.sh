#!/usr/bin/env bash
# usage: ci/arm64.sh
#
# Cross-builds the library for Linux on ARM64, contracts checked, and runs its tests under qemu, but for those of limits
# and filters of system calls, which qemu does not pass on. docs/platforms.md says what that shows, and what not.
#
# Without oneTBB, RapidCheck and zstd, which would have to be compiled for ARM64 first: so without what needs them.
#
# examples:
#   ci/arm64.sh
#   GTEST_FILTER='pool_test.*' ci/arm64.sh    some tests
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"
refuse_arguments "$@"

ci/cross_packages.sh arm64

step "build"
cmake --preset arm64 -D HANDLEPOOL_BUILD_STRESS=OFF >/dev/null
programs=(handlepool_tests handlepool_ordered_access_tests handlepool_boost_tests handlepool_properties_tests
    handlepool_service_tests handlepool_system_tests)
cmake --build build/arm64 --target "${programs[@]}"

step "tests"
for program in "${programs[@]}"; do
    file=$(find build/arm64/tests -name "$program" -type f)
    # The bound is for bugs that show as a wait without end.
    timeout 900 qemu-aarch64-static -L /usr/aarch64-linux-gnu "$file" --gtest_brief=1
done
