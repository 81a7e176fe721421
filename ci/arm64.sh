#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/arm64.sh
#
# Cross-builds the library for Linux on ARM64, contracts checked, and runs under qemu: tests of the core (see cross_tests in
# ci/tools/common.sh), the stress scenarios for a short time, the C interface, and simulations that come to the same numbers as
# on x86-64. docs/platforms.md says what that shows, and what not.
#
# Some eight minutes on two cores. Without RapidCheck and zstd, which would have to be compiled for ARM64 first: so without what
# needs them.
#
# examples:
#   ci/arm64.sh
#   GTEST_FILTER='pool_test.*' ci/arm64.sh    some tests
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"

ci/tools/cross_packages.sh arm64
emulator=(qemu-aarch64-static -L /usr/aarch64-linux-gnu)
cross_tests+=(handlepool_system_tests.{fork,signal}_test) # of what POSIX systems have
cross_tests+=(handlepool_tests.spawner_determinism_test)

step "build"
cmake --preset arm64 -D HANDLEPOOL_BUILD_EXAMPLES=AUTO >/dev/null
cmake --build build/arm64 --target "${cross_tests[@]}" handlepool_c99_test handlepool-stress asteroids boids

step "tests"
run_cross_tests arm64 "" "${emulator[@]}"

step "C interface"
ctest --test-dir build/arm64/tests/c -R 'c99_test|symbols' --output-on-failure

step "simulations"
ctest --test-dir build/arm64/examples -R same --output-on-failure

step "scenarios"
timeout 300 "${emulator[@]}" build/arm64/stress/handlepool-stress run all --seconds 20 --alive 1000
step "done"
