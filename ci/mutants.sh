#!/usr/bin/env bash
# Shows that the tests see bugs: each patch of tests/mutants/ puts one into a copy of the sources, and a test must turn red.
set -euo pipefail
export LC_ALL=C

usage() {
    cat <<'TEXT'
usage: ci/mutants.sh [--models] [--jobs N] [--timeout SECONDS] [--json FILE] [--list] [--help] [NAME...]

For each patch of tests/mutants/, or for those that are named: applies it to a copy of the sources, builds the tests that
its header names, and runs one after the other until one is red. Before that, all of them must be green without a patch.

A mutant is killed by a test that fails, crashes, or does not end in time. Each is told with the first such test, and with
the seconds that building and running took.

  --models           run the models of tests/model/ instead of the tests, and tell which of them sees what; a mutant may
                     survive them: some bugs are in parts that they don't run
  --jobs N           mutants at the same time; by default as many as there are cores
  --timeout SECONDS  how long a test file may run, beside ten times what it takes without a mutant; by default 30
  --json FILE        also write the results to FILE
  --list             print the mutants and what they do, and end

Exits with 0 when all are killed, with 1 when one survived that must not, and with 2 when that could not be found out: a
patch does not apply, something does not build, or a test is red without a patch.
TEXT
}

here=$(cd "$(dirname "$0")/.." && pwd)
mutants=$here/tests/mutants

die() {
    echo "ci/mutants.sh: $*" >&2
    exit 2
}

# ---- What is asked for --------------------------------------------------------------------------------------

jobs=$(nproc)
limit=30
json=
list=false
names=()
models=false
while [[ $# -gt 0 ]]; do
    case $1 in
        --jobs | --timeout | --json)
            [[ $# -gt 1 ]] || die "$1 needs a value"
            case $1 in
                --jobs) jobs=$2 ;;
                --timeout) limit=$2 ;;
                --json) json=$2 ;;
            esac
            shift
            ;;
        --list) list=true ;;
        --models) models=true ;;
        -h | --help)
            usage
            exit 0
            ;;
        -*) die "unknown option $1; see --help" ;;
        *) names+=("$1") ;;
    esac
    shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "--jobs is '$jobs', and must be a number from 1 on"
[[ $limit =~ ^[1-9][0-9]*$ ]] || die "--timeout is '$limit', and must be a number from 1 on"
if [[ ${#names[@]} -eq 0 ]]; then
    for patch in "$mutants"/*.patch; do
        names+=("$(basename "$patch" .patch)")
    done
fi
for name in "${names[@]}"; do
    [[ -f $mutants/$name.patch ]] || die "there is no tests/mutants/$name.patch; --list prints the names"
done

# header FIELD NAME: what the mutant's patch says behind "# FIELD: ".
header() { sed -n "s/^# $1: //p" "$mutants/$2.patch"; }
# killers NAME: the tests that must see the mutant, one a line.
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

# ---- Building and running -----------------------------------------------------------------------------------

"$here/ci/install.sh" >&2
work=$(mktemp -d -t handlepool-mutants.XXXXXX)
trap 'rm -rf "$work"' EXIT
base=$work/base # the sources as they are; each mutant has a folder beside it
mkdir "$base"
cp -r "$here/include" "$here/src" "$here/support" "$here/tests" "$base"

# Like the preset dev: what takes long here is compiling, and optimizing would double it.
compile=("${CXX:-g++}" -std=c++20 -DHANDLEPOOL_CHECKED=1)
test_includes=(-I "$base/tests" -I "$base")
libraries=(-lgtest_main -lgmock -lgtest -lfmt -ltbb -pthread)
# All models are one text, which compiles in half the time.
printf '#include "%s"\n' "$base"/tests/model/*_models.cpp >"$base/models.cpp"
mapfile -t checker_sources < <(find "$base/tests/model" -name '*.cpp' ! -name '*_models.cpp')
checker_sources+=("$base/support/output_file.cpp")

# build_library ROOT [CHANGED]: makes ROOT/objects; of a mutant, only those for which a file of the list CHANGED matters.
build_library() {
    local root=$1 changed=${2:-} source object
    mkdir "$root/objects"
    for source in "$root"/src/*.cpp; do
        object=objects/$(basename "$source" .cpp)
        if [[ -n $changed ]] && ! grep -qFf "$changed" "$base/$object.d"; then
            ln -s "$base/$object.o" "$root/$object.o"
        else
            "${compile[@]}" -MMD -I "$root/include" -c "$source" -o "$root/$object.o" || return 1
        fi
    done
}

# build_models ROOT [CHANGED]: makes ROOT/models of the model checker's program; CHANGED as above.
build_models() {
    local root=$1 changed=${2:-} source object
    mkdir "$root/model"
    for source in "$base/models.cpp" "${checker_sources[@]}"; do
        object=model/$(basename "$source" .cpp)
        if [[ -n $changed ]] && ! grep -qFf "$changed" "$base/$object.d"; then
            ln -s "$base/$object.o" "$root/$object.o"
        else
            # What the checker needs, as in tests/model/CMakeLists.txt; it runs for so long that optimizing pays.
            "${compile[@]}" -O1 -fno-sized-deallocation -U_FORTIFY_SOURCE -fno-lifetime-dse -Wno-mismatched-new-delete \
                -DRL_DO_ASSERT=1 -DHANDLEPOOL_SOURCE_DIR="\"$base\"" -MMD -I "$root/include" "${test_includes[@]}" \
                -I "$base/tests/model" -c "$source" -o "$root/$object.o" || return 1
        fi
    done
    "${compile[@]}" "$root"/model/*.o "$root"/objects/*.o -lfmt -pthread -o "$root/models"
}

# build_test ROOT TEST [CHANGED]: makes ROOT/TEST of the test file, or the models, and the library of ROOT.
build_test() {
    if [[ $2 == models ]]; then
        build_models "$1" "${3:-}"
        return
    fi
    "${compile[@]}" -I "$1/include" "${test_includes[@]}" "$base/tests/$2.cpp" "$1"/objects/*.o \
        "${libraries[@]}" -o "$1/$2"
}

# run_test ROOT TEST SECONDS: ends at the first failure, behind which a mutant may hang. It may also print without end, and
# would leave a core behind.
run_test() {
    if [[ $2 == models ]]; then
        run_models "$1" >"$1/$2.log" 2>&1
        return
    fi
    (
        ulimit -c 0 -f 100000
        exec timeout --kill-after=5 "$3" "$1/$2" --gtest_break_on_failure --gtest_color=no
    ) >"$1/$2.log" 2>&1
}

# run_models ROOT: ends at the first model that fails.
run_models() {
    (
        ulimit -c 0 -f 100000
        timeout 600 "$1/models" run --jobs 1 --random 3000 --preemptions 1 --seconds 1 --first-failure &&
            timeout 600 "$1/models" stops --jobs 1 --preemptions 0 --seconds 1
    )
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

# in_parallel FUNCTION ARGUMENT...: calls the function with each argument, as many at a time as there are jobs.
in_parallel() {
    local function=$1 running=0 argument
    shift
    for argument in "$@"; do
        if [[ $running -eq $jobs ]]; then
            wait -n || true
            running=$((running - 1))
        fi
        "$function" "$argument" &
        running=$((running + 1))
    done
    wait
}

# Time is counted in hundredths of a second.
now() { echo $((${EPOCHREALTIME/./} / 10000)); }
seconds() { printf '%d.%02d' $(($1 / 100)) $(($1 % 100)); }

# ---- Without a mutant: all green ----------------------------------------------------------------------------

# try_base TEST: leaves BASE/TEST.green when it is, with the time that the run took.
try_base() {
    local test=$1 start
    mkdir -p "$(dirname "$base/$test")"
    [[ $test == models || -f $base/tests/$test.cpp ]] || die "a patch names $test, but there is no tests/$test.cpp"
    if ! build_test "$base" "$test" >"$base/$test.log" 2>&1; then
        tail -n 30 "$base/$test.log" >&2
        die "$test does not build without a mutant"
    fi
    start=$(now)
    if ! run_test "$base" "$test" 300 2>/dev/null; then
        tail -n 30 "$base/$test.log" >&2
        die "$test is red without a mutant: $(red_test "$base/$test.log")"
    fi
    echo $(($(now) - start)) >"$base/$test.green"
}

started=$(now)
mapfile -t tests < <(for name in "${names[@]}"; do killers "$name"; done | sort -u)
build_library "$base" || die "the library does not build without a mutant"
in_parallel try_base "${tests[@]}"
for test in "${tests[@]}"; do
    [[ -f $base/$test.green ]] || exit 2
done
echo "without a mutant: ${#tests[@]} test files are green ($(seconds $(($(now) - started))) s)"

# ---- With each mutant: one red ------------------------------------------------------------------------------

# report NAME VERDICT HOW FILE TEST BUILD RUN: prints the result, and keeps it.
report() {
    printf '%s\n' "${@:2}" >"$work/$1.result"
    printf '%-8s  %-36s %6s s + %5s s  %s\n' "$2" "$1" "$(seconds "$6")" "$(seconds "$7")" \
        "${4:+$4: $5}${3:+ ($3)}"
}

# try_mutant NAME
try_mutant() {
    local name=$1 root=$work/$1 build=0 run=0 test start code
    mkdir "$root"
    cp -r "$base/include" "$base/src" "$root"
    if ! patch -d "$root" -p1 --force --fuzz=0 <"$mutants/$name.patch" >"$root/patch.log" 2>&1; then
        cat "$root/patch.log" >&2
        report "$name" ERROR "tests/mutants/$name.patch does not apply" "" "" 0 0
        return
    fi
    sed -n 's/^+++ [^/]*\/\([^\t]*\).*/\1/p' "$mutants/$name.patch" >"$root/changed"

    start=$(now)
    if ! build_library "$root" "$root/changed" >"$root/build.log" 2>&1; then
        head -n 20 "$root/build.log" >&2
        report "$name" ERROR "does not compile" "" "" 0 0
        return
    fi
    build=$(($(now) - start))
    for test in $(killers "$name"); do
        start=$(now)
        mkdir -p "$(dirname "$root/$test")"
        if ! build_test "$root" "$test" "$root/changed" >"$root/build.log" 2>&1; then
            head -n 20 "$root/build.log" >&2
            report "$name" ERROR "does not compile" "$test" "" 0 0
            return
        fi
        build=$((build + $(now) - start))
        start=$(now)
        code=0
        run_test "$root" "$test" $((limit + $(<"$base/$test.green") / 10)) 2>/dev/null || code=$?
        run=$((run + $(now) - start))
        if [[ $code -ne 0 && -z $(red_test "$root/$test.log") ]]; then
            report "$name" ERROR "ended with $code before its first test" "$test" "" "$build" "$run"
            return
        fi
        if [[ $code -ne 0 ]]; then
            report "$name" killed "$(how_red "$root/$test.log" "$code")" "$test" "$(red_test "$root/$test.log")" \
                "$build" "$run"
            rm -rf "$root"
            return
        fi
    done
    report "$name" SURVIVED "$(header What "$name")" "" "" "$build" "$run"
}

in_parallel try_mutant "${names[@]}"

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
    mapfile -t result <"$work/$name.result" || die "$name: has no result"
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
