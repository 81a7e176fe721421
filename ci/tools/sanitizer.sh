# SPDX-License-Identifier: MIT

# Sourced by ci/asan.sh and ci/tsan.sh, after common.sh.

# sanitized_tests PRESET COMPILER SECONDS [ARGUMENTS OF CMAKE...]: builds them; runs the controls, of which each must be reported, then
# the other tests but those of whole scenarios, and the scenarios themselves for that long, with what is in `scenario_options`.
sanitized_tests() {
    local build=build/$1-$2
    cmake --preset "$1" -B "$build" -D CMAKE_CXX_COMPILER="$2" "${@:4}" >/dev/null
    cmake --build "$build"

    ctest --test-dir "$build" --output-on-failure --no-tests=error --label-regex control
    GTEST_FILTER=-$tests_of_whole_scenarios \
        ctest --test-dir "$build" --output-on-failure --no-tests=error --label-exclude control --parallel "$(nproc)"
    # The bound is for bugs that show as a wait without end.
    timeout "$(($3 * 3 + 300))" "$build/stress/handlepool-stress" run all --seconds "$3" --threads 4 \
        "${scenario_options[@]}"
}
