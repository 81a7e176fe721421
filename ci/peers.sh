#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/peers.sh [--quick] [--json FILE] [--under COMMAND] [--draw-only]
#
# Compares the pools with other containers, in C++ and in Rust: cost against the number of objects and of threads, tails of
# single operations, memory, start. Installs what it needs, builds it with -O2, tests that each contender does what is
# measured, lets all take turns, and prints the row that the pool is judged by. Writes bench/peers/results/peers.json, the
# pictures in docs/inside/pictures/, and the tables in docs/inside/performance.md. Exits with 1 if the judged row misses what it must reach.
#
# On two quiet cores the measurements take some 12 minutes, and building before the first some 5.
#
#   --quick          for some 60 seconds: fewer sizes, threads and objects a round; prints, and writes build/peers/quick.json
#                    instead of what belongs to the documents
#   --json FILE      also write the results to FILE
#   --under COMMAND  run each measurement, of two minutes at most, under this command, for example "nice -n -5"
#   --draw-only      draw the pictures and write the tables anew, from the results that are there
#
# examples:
#   ci/peers.sh
#   ci/peers.sh --quick --json peers.json
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"

quick=
json=
under=
draw_only=
while [[ $# -gt 0 ]]; do
    case $1 in
        --quick) quick=1 ;;
        --draw-only) draw_only=1 ;;
        --json | --under)
            [[ $# -gt 1 ]] || refuse "$1 needs a value"
            if [[ $1 == --json ]]; then json=$(realpath -m "$2"); else under=$2; fi
            shift
            ;;
        *) refuse_arguments "$1" ;;
    esac
    shift
done
cd "$project"

# For Debian's Python.
PYTHONPATH=$(ci/tools/matplotlib.sh)
export PYTHONPATH
report=bench/peers/report.py
results=bench/peers/results/peers.json
if [[ $draw_only ]]; then
    /usr/bin/python3 "$report" draw "$results"
    exit 0
fi

ci/tools/install.sh peers
build=build/peers
step "building"
cmake -S . --preset release -B "$build" -D HANDLEPOOL_BUILD_PEERS=ON -D CMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" >/dev/null
cmake --build "$build" --target handlepool-peers handlepool_peers_tests
# Debian's, whose crates these are.
export RUSTC=/usr/bin/rustc CARGO_TARGET_DIR=$project/$build/rust
(cd bench/peers/rust && /usr/bin/cargo build --quiet --release --locked && /usr/bin/cargo test --quiet --release --locked)
"$build/tests/peers/handlepool_peers_tests" --gtest_brief=1

parts=$build/parts
rm -rf "$parts"
mkdir -p "$parts"
missed=
# measure ARGUMENT...: a part of the comparison.
measure() {
    step "$*"
    local status=0
    # shellcheck disable=SC2086 # a command and its arguments
    $under "$build/bench/peers/handlepool-peers" --with "$CARGO_TARGET_DIR/release/handlepool-peers-rust" \
        --json "$parts/$(printf %02d "$(find "$parts" -type f | wc -l)").json" "$@" || status=$?
    case $status in
        0) ;;
        1) missed=1 ;;
        *) exit "$status" ;;
    esac
}

if [[ $quick ]]; then
    results=$build/quick.json
    measure --part frames --sizes 10000,100000 --threads 1,2 --objects 30000
    measure --part latency,start --objects 30000 --sizes 100000 --threads 1,2
    measure --part memory --sizes 100000
else
    measure --part frames --sizes 1000,10000,100000 --threads 1,2
    measure --part frames --sizes 100000 --threads 4,8
    measure --part latency,start --sizes 100000 --threads 1,2
    measure --part memory --sizes 100000,1000000
    measure --part frames --sizes 1000000 --threads 1,2
    # Where a round of std::map would take as long as all others.
    measure --part frames --sizes 10000000 --threads 1 --filter '^(?!std::map)'
    measure --part frames --sizes 10000000 --threads 2 --filter '^(?!std::map)'
fi

step "done"
/usr/bin/python3 "$report" merge "$results" "$parts"/*.json
[[ ! $json ]] || cp "$results" "$json"
[[ $quick ]] || /usr/bin/python3 "$report" draw "$results"
/usr/bin/python3 "$report" judged "$results"
[[ ! $missed ]]
