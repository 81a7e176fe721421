# SPDX-License-Identifier: MIT

# Sourced by ci/asan.sh and ci/tsan.sh, after common.sh.

# read_arguments ARGUMENT...: those of ci/asan.sh and ci/tsan.sh, as `compiler`, `seconds` and `programs`.
read_arguments() {
    compiler=${1:-g++}
    seconds=${2:-60}
    programs=("${@:3}")
    require_compiler "$compiler"
    require_number SECONDS "$seconds"
    local program
    for program in "${programs[@]}"; do
        [[ $program =~ ^handlepool(-stress|_([a-z_]+_)?tests)$ ]] ||
            refuse "PROGRAM is '$program', and must be handlepool-stress or a program of tests, such as handlepool_tests"
    done
}

# sanitized_tests PRESET [ARGUMENTS OF CMAKE...]: builds what `programs` names, or all; runs the controls, of which each must be
# reported, then the other tests but those of whole scenarios, and the scenarios themselves for `seconds`, with what is in
# `scenario_options`.
sanitized_tests() {
    local build=build/$1-$compiler
    cmake --preset "$1" -B "$build" -D CMAKE_CXX_COMPILER="$compiler" "${@:2}" >/dev/null
    if [[ ${#programs[@]} -eq 0 ]]; then
        cmake --build "$build"
    else
        cmake --build "$build" --target sanitizer_controls "${programs[@]}"
    fi

    ctest --test-dir "$build" --output-on-failure --no-tests=error --label-regex control
    local tests=(--label-exclude control)
    if [[ ${#programs[@]} -ne 0 ]]; then
        tests+=(--tests-regex "^($(IFS='|' && echo "${programs[*]}"))\.[1-9]")
    fi
    [[ ${programs[*]} == handlepool-stress ]] || # which has no tests
        GTEST_FILTER=-$tests_of_whole_scenarios \
            ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)" "${tests[@]}"

    [[ ${#programs[@]} -eq 0 || " ${programs[*]} " == *" handlepool-stress "* ]] || return 0
    # The bound is for bugs that show as a wait without end.
    timeout "$((seconds * 3 + 300))" "$build/stress/handlepool-stress" run all --seconds "$seconds" --threads 4 \
        "${scenario_options[@]}"
}
