#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/bench.sh [--json FILE] [--rounds N] [--benchmark_OPTION...]
#
# Builds handlepool-bench (preset release) and runs it: it measures the pool against its contenders, and prints the table
# of figures that it must reach. The table goes to the standard output, everything else to the standard error. Exits with
# 1 when a figure misses what it must reach.
#
#   --json FILE         also write the table's rows to FILE
#   --rounds N          rounds of each comparison
#   --benchmark_OPTION  of the benchmark library
#
# examples:
#   ci/bench.sh
#   ci/bench.sh --rounds 20 --json bench.json
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"

arguments=("$@")
while [[ $# -gt 0 ]]; do
    case $1 in
        --json | --rounds)
            [[ $# -gt 1 ]] || refuse "$1 needs a value"
            shift
            ;;
        --json=* | --rounds=* | --benchmark_*) ;;
        *) refuse_arguments "$1" ;;
    esac
    shift
done

"$project/ci/tools/install.sh" >&2
cmake -S "$project" --preset release >&2
cmake --build "$project/build/release" --target handlepool-bench >&2
# From where it was called, so that FILE means what it says.
exec "$project/build/release/bench/handlepool-bench" "${arguments[@]}"
