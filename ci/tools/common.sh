# SPDX-License-Identifier: MIT

# Sourced first by each script of ci/. The comment at the top of a script is its usage, which -h and --help print.

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

usage() { sed '1,2d; /^#/!Q; s/^# \{0,1\}//' "$script"; }

# complain MESSAGE
complain() { echo "${script#"$project"/}: $1" >&2; }

# refuse MESSAGE: the script was called wrongly.
refuse() {
    complain "$1"
    usage >&2
    exit 2
}

# refuse_arguments ARGUMENT...: those that are left, of which there should be none.
refuse_arguments() { [[ $# -eq 0 ]] || refuse "unexpected argument '$1'"; }

# require_number NAME VALUE
require_number() { [[ $2 =~ ^[1-9][0-9]*$ ]] || refuse "$1 is '$2', and must be a number from 1 on"; }

# require_compiler VALUE
require_compiler() { [[ $1 == g++ || $1 == clang++-19 ]] || refuse "COMPILER is '$1', and must be g++ or clang++-19"; }

# Tests that run whole scenarios to see what is counted or printed. Under a sanitizer the scenarios run by themselves.
tests_of_whole_scenarios='command_line.*:run_all_test.*:run_soak_test.*:stopped_pool.*:*each_scenario.*:*recorded_trace*'
tests_of_whole_scenarios+=':terminal.shows_which_of_all_scenarios_it_is:run_scenario_test.the_peak_is_not_below_*'

# The tests that a cross build runs, each file a program: what touches the system or the processor most closely. They are
# memory and its plan, numbers and ends of threads, shards and freelists, the pool with its guards, limits and memory, and of
# what stands above it one file or two of each part. The others are many more, and take long to compile.
cross_tests=(handlepool_tests.{freelist,shard,memory_plan,pool,pool_bulk,pool_exhaustion,pool_guards,pool_memory}_test
    handlepool_tests.{recycling_pool_threads,thread_index,virtual_array}_test
    handlepool_snapshots_tests.{delta,journal,journal_simulation,snapshot,snapshot_container,snapshot_of_other_builds}_test handlepool_properties_tests.{property_bag,property_json}_test
    handlepool_service_tests.{service,service_threads}_test handlepool_system_tests.thread_end_test)

# run_cross_tests PLATFORM SUFFIX COMMAND...: runs them by COMMAND. Where threads start and take turns slowly, tests repeat less.
run_cross_tests() {
    local test
    for test in "${cross_tests[@]}"; do
        echo "${test#*.}"
        # The bound is for bugs that show as a wait without end.
        HANDLEPOOL_TEST_DIVISOR=10 timeout 120 "${@:3}" "$(find "build/$1/tests" -name "${test#*.}$2" -type f)" --gtest_brief=1
    done
}

# build_harness FOLDER COMMANDS: handlepool-stress with those commands, released, with contracts checked.
build_harness() {
    cmake -S "$project" --preset release -B "$1" -D HANDLEPOOL_CHECKED=ON -D HANDLEPOOL_UNITE_SOURCES=ON \
        -D HANDLEPOOL_COMPONENTS="time;service;tbb;fmt" -D HANDLEPOOL_STRESS_COMMANDS="$2" \
        -D HANDLEPOOL_BUILD_TESTS=OFF -D HANDLEPOOL_BUILD_TOOLS=OFF -D HANDLEPOOL_BUILD_BENCH=OFF -D HANDLEPOOL_BUILD_EXAMPLES=OFF >/dev/null
    cmake --build "$1"
}
all_harness_commands="run;replay;churn;record;recover;report"

# step NAME: says what comes next, and when.
step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

case ${1:-} in
    -h | --help)
        usage
        exit 0
        ;;
esac
