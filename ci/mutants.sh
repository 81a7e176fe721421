#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/mutants.sh [--models] [--jobs N] [--timeout SECONDS] [--json FILE] [--list] [--check] [NAME...]
#
# Shows that the tests see bugs. For each patch of tests/mutants/, or for those that are named: applies it to a copy of the
# sources, builds the tests that its header names, and runs one after the other until one is red. Before that, all of them
# must be green without a patch.
#
# A mutant is killed by a test that fails, crashes, or does not end in time. Each line names the first such test, and the
# seconds that building and running took.
#
#   --models           run the models of tests/model/ instead of the tests; a mutant may survive them, as some bugs are in
#                      parts that they don't run
#   --jobs N           mutants at the same time; by default as many as there are cores
#   --timeout SECONDS  how long a test file may run, beside ten times what it takes without a mutant; by default 30
#   --json FILE        also write the results to FILE
#   --list             print the mutants and what they do, and end
#   --check            see whether the patches apply and name tests that exist, and end
#
# Exits with 0 when all are killed, with 1 when one survived that must not, and with 2 when that could not be found out: a
# patch does not apply, something does not build, or a test is red without a patch.
#
# examples:
#   ci/mutants.sh
#   ci/mutants.sh --jobs 1 freelist-counted-before-read publish-relaxed
set -euo pipefail
export LC_ALL=C
. "$(dirname "$0")/tools/common.sh"

mutants=$project/tests/mutants

die() {
    complain "$1"
    exit 2
}

# ---- What is asked for --------------------------------------------------------------------------------------

jobs=$(nproc)
limit=30
json=
list=false
check=false
names=()
models=false
while [[ $# -gt 0 ]]; do
    case $1 in
        --jobs | --timeout | --json)
            [[ $# -gt 1 ]] || refuse "$1 needs a value"
            case $1 in
                --jobs) jobs=$2 ;;
                --timeout) limit=$2 ;;
                --json) json=$2 ;;
            esac
            shift
            ;;
        --list) list=true ;;
        --check) check=true ;;
        --models) models=true ;;
        -*) refuse_arguments "$1" ;;
        *) names+=("$1") ;;
    esac
    shift
done
require_number --jobs "$jobs"
require_number --timeout "$limit"
if [[ ${#names[@]} -eq 0 ]]; then
    for patch in "$mutants"/*.patch; do
        names+=("$(basename "$patch" .patch)")
    done
fi
for name in "${names[@]}"; do
    [[ -f $mutants/$name.patch ]] || refuse "there is no tests/mutants/$name.patch; --list prints the names"
done

# header FIELD NAME: what the mutant's patch says after "# FIELD: ".
header() { sed -n "s/^# $1: //p" "$mutants/$2.patch"; }
# killers NAME: the tests that must see the mutant, one a line: files of tests/, or "models".
killers() {
    if $models; then
        echo models
    else
        header "Killed by" "$1" | tr -s ' ' '\n'
    fi
}

if $list; then
    for name in "${names[@]}"; do
        printf '%-36s %s\n' "$name" "$(header What "$name")"
    done
    exit 0
fi

mapfile -t tests < <(for name in "${names[@]}"; do killers "$name"; done | sort -u)
for test in "${tests[@]}"; do
    [[ $test == models || -f $project/tests/$test.cpp ]] || die "a patch names $test, but there is no tests/$test.cpp"
done

# apply NAME TREE [OPTION...]: puts the mutant into the sources there.
apply() { patch -d "$2" -p1 --force --fuzz=0 "${@:3}" <"$mutants/$1.patch"; }

if $check; then
    for name in "${names[@]}"; do
        apply "$name" "$project" --dry-run --silent || die "tests/mutants/$name.patch does not apply"
    done
    echo "${#names[@]} patches apply"
    exit 0
fi

# ---- Trees --------------------------------------------------------------------------------------------------

# Each job has a tree of its own, that is a copy of the sources and a build folder. Both are as before when the next mutant
# comes, the times of the files too: so ninja builds what the patch concerns, and nothing else.

compiler=${CXX:-clang++-19} # which takes half of g++'s time
tools=()
if [[ $compiler == clang++-19 ]]; then
    tools+=("$compiler")
fi
"$project/ci/tools/install.sh" "${tools[@]}" >&2
work=$(mktemp -d -t handlepool-mutants.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sources" "$work/results"
tar -C "$project" -c --exclude=./build --exclude=./.git . | tar -C "$work/sources" -x

trees=()
for ((i = 1; i <= jobs && i <= ${#names[@]}; i++)); do
    trees+=("$work/$i")
done
processes=$((jobs / ${#trees[@]})) # of the build of one tree
# What does not depend on a mutant's test.
parts=(handlepool handlepool_service handlepool_properties)
if [[ " ${tests[*]} " == *" models "* ]]; then
    parts+=(handlepool-model)
fi

# make_tree TREE
make_tree() {
    mkdir "$1"
    cp -a "$work/sources" "$1/sources"
    # Compiling takes most of the time: no debug information, no warnings, and texts that include the same headers are joined.
    if ! {
        cmake --preset dev -S "$1/sources" -B "$1/build" -D CMAKE_CXX_COMPILER="$compiler" -D CMAKE_CXX_FLAGS_DEBUG=-w -D CMAKE_UNITY_BUILD=ON \
            -D HANDLEPOOL_SEPARATE_TESTS=ON -D HANDLEPOOL_BUILD_MODELS=ON -D HANDLEPOOL_BUILD_STRESS=OFF \
            -D HANDLEPOOL_BUILD_BENCH=OFF -D HANDLEPOOL_BUILD_EXAMPLES=OFF -D HANDLEPOOL_INSTALL=OFF &&
            cmake --build "$1/build" --parallel "$processes" --target "${parts[@]}"
    } >"$1/log" 2>&1; then
        tail -n 30 "$1/log" >&2
        die "the library does not build without a mutant"
    fi
    mv "$1/build" "$1/clean"
}

# reset_tree TREE
reset_tree() {
    rm -rf "$1/sources" "$1/build"
    cp -a "$work/sources" "$1/sources"
    cp -a "$1/clean" "$1/build"
}

# in_parallel FUNCTION ARGUMENT...: calls FUNCTION TREE ARGUMENT for each argument, each at a time in a tree of its own. Fails when
# one of the calls does.
in_parallel() {
    local function=$1 argument tree ended failed=false
    local -A tree_of=() # by process
    shift
    for argument in "$@"; do
        if [[ ${#tree_of[@]} -lt ${#trees[@]} ]]; then
            tree=${trees[${#tree_of[@]}]}
        else
            wait -n -p ended || failed=true
            tree=${tree_of[$ended]}
            unset "tree_of[$ended]"
        fi
        "$function" "$tree" "$argument" &
        tree_of[$!]=$tree
    done
    for ended in "${!tree_of[@]}"; do
        wait "$ended" || failed=true
    done
    ! $failed
}

# ---- Building and running -----------------------------------------------------------------------------------

# build_test TREE TEST
build_test() {
    local program=tests/$2
    [[ $2 != models ]] || program=tests/model/handlepool-model
    cmake --build "$1/build" --parallel "$processes" --target "$program" >"$1/log" 2>&1
}

# show_failed_build TREE
show_failed_build() { sed -n '/^FAILED: \|^ninja: error: /,$p' "$1/log" | head -n 20 >&2; }

# run_test TREE TEST SECONDS: ends at the first failure, after which a mutant may hang. It may also print without end, and
# would leave a core behind.
run_test() {
    (
        ulimit -c 0 -f 100000
        cd "$1/build/tests"
        if [[ $2 == models ]]; then
            run_models
        else
            exec timeout --kill-after=5 "$3" "./$2" --gtest_break_on_failure --gtest_color=no
        fi
    ) >"$1/log" 2>&1
}

# run_models: ends at the first model that fails.
run_models() {
    timeout 600 model/handlepool-model run --jobs 1 --random 3000 --preemptions 1 --seconds 1 --first-failure &&
        timeout 600 model/handlepool-model stops --jobs 1 --preemptions 0 --seconds 1
}

# red_test LOG: the test that was running at the end, or the model that failed.
red_test() {
    sed -n -e 's/^\[ RUN      \] //p' -e 's/^| \([^|]*[^ |]\) *|.*\(FAILED\|UNEXPECTED\): \([^|]*[^ |]\) *|$/\1: \3/p' "$1" |
        tail -n 1
}

# how_red LOG CODE: what became of that test.
how_red() {
    if grep -q -e ': Failure$' -e '^| .*\(FAILED\|UNEXPECTED\): ' "$1"; then
        echo fails
    elif [[ $2 -eq 124 || $2 -eq 137 ]]; then
        echo hangs
    else
        echo crashes
    fi
}

# Time is counted in hundredths of a second.
now() { echo $((${EPOCHREALTIME/./} / 10000)); }
seconds() { printf '%d.%02d' $(($1 / 100)) $(($1 % 100)); }

# ---- Without a mutant: all green ----------------------------------------------------------------------------

# try_unchanged TREE TEST: keeps the time that the run took.
try_unchanged() {
    local tree=$1 test=$2 start
    reset_tree "$tree"
    if ! build_test "$tree" "$test"; then
        show_failed_build "$tree"
        die "$test does not build without a mutant"
    fi
    start=$(now)
    if ! run_test "$tree" "$test" 300 2>/dev/null; then
        tail -n 30 "$tree/log" >&2
        die "$test is red without a mutant: $(red_test "$tree/log")"
    fi
    echo $(($(now) - start)) >"$work/results/${test//\//.}.green"
}

started=$(now)
in_parallel make_tree "${trees[@]}" || exit 2
in_parallel try_unchanged "${tests[@]}" || exit 2
echo "without a mutant: ${#tests[@]} test files are green ($(seconds $(($(now) - started))) s)"

# ---- With each mutant: one red ------------------------------------------------------------------------------

# report NAME VERDICT HOW FILE TEST BUILD RUN: prints the result, and keeps it.
report() {
    printf '%s\n' "${@:2}" >"$work/results/$1"
    printf '%-8s  %-36s %6s s + %5s s  %s\n' "$2" "$1" "$(seconds "$6")" "$(seconds "$7")" \
        "${4:+$4: $5}${3:+ ($3)}"
}

# try_mutant TREE NAME
try_mutant() {
    local tree=$1 name=$2 build=0 run=0 test start code
    reset_tree "$tree"
    if ! apply "$name" "$tree/sources" >"$tree/log" 2>&1; then
        cat "$tree/log" >&2
        report "$name" ERROR "tests/mutants/$name.patch does not apply" "" "" 0 0
        return
    fi
    for test in $(killers "$name"); do
        start=$(now)
        if ! build_test "$tree" "$test"; then
            show_failed_build "$tree"
            report "$name" ERROR "does not compile" "$test" "" 0 0
            return
        fi
        build=$((build + $(now) - start))
        start=$(now)
        code=0
        run_test "$tree" "$test" $((limit + $(<"$work/results/${test//\//.}.green") / 10)) 2>/dev/null || code=$?
        run=$((run + $(now) - start))
        if [[ $code -ne 0 && -z $(red_test "$tree/log") ]]; then
            report "$name" ERROR "ended with $code before its first test" "$test" "" "$build" "$run"
            return
        fi
        if [[ $code -ne 0 ]]; then
            report "$name" killed "$(how_red "$tree/log" "$code")" "$test" "$(red_test "$tree/log")" "$build" "$run"
            return
        fi
    done
    report "$name" SURVIVED "$(header What "$name")" "" "" "$build" "$run"
}

in_parallel try_mutant "${names[@]}" || true # a mutant without a result is found below

# ---- The sum ------------------------------------------------------------------------------------------------

quoted() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

killed=0
errors=0
longest=0
slowest=
rows=()
for name in "${names[@]}"; do
    mapfile -t result <"$work/results/$name" || die "$name: has no result"
    case ${result[0]} in
        killed) killed=$((killed + 1)) ;;
        ERROR) errors=$((errors + 1)) ;;
    esac
    took=$((result[4] + result[5]))
    if [[ $took -ge $longest ]]; then
        longest=$took
        slowest=$name
    fi
    rows+=("$(printf '{"name": %s, "what": %s, "verdict": %s, "how": %s, "file": %s, "test": %s, "build_seconds": %s, "test_seconds": %s}' \
        "$(quoted "$name")" "$(quoted "$(header What "$name")")" "$(quoted "${result[0],,}")" "$(quoted "${result[1]}")" \
        "$(quoted "${result[2]}")" "$(quoted "${result[3]}")" "$(seconds "${result[4]}")" "$(seconds "${result[5]}")")")
done
total=${#names[@]}
took=$(seconds $(($(now) - started)))
if [[ -n $json ]]; then
    {
        printf '{"killed": %d, "total": %d, "errors": %d, "seconds": %s, "mutants": [' "$killed" "$total" "$errors" "$took"
        separator=
        for row in "${rows[@]}"; do
            printf '%s\n  %s' "$separator" "$row"
            separator=,
        done
        printf '\n]}\n'
    } >"$json"
fi

echo "killed $killed / $total in $took s; the longest, $slowest, took $(seconds "$longest") s"
[[ $errors -eq 0 ]] || exit 2
$models || [[ $killed -eq $total ]]
