#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/coherence.sh [--json FILE] [--picture FILE] [OPTION...]
#
# Builds handlepool-coherence (preset release) and runs it: the pool and its contenders on a simulated machine with coherent
# caches, with 1 to 128 threads. Prints its tables, and writes all counts as JSON and a picture. It takes some three minutes.
# Exits with 1 when a figure misses what it must reach.
#
#   --json FILE     where all counts go; build/coherence.json if nothing is said
#   --picture FILE  where the picture goes; docs/inside/pictures/coherence.svg if nothing is said
#   OPTION          of handlepool-coherence: see handlepool-coherence --help
#
# examples:
#   ci/coherence.sh
#   ci/coherence.sh --threads 2,64 --contenders pool --picture /tmp/two_and_64.svg
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"

json=$project/build/coherence.json
picture=$project/docs/inside/pictures/coherence.svg
options=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --json | --picture)
            [[ $# -gt 1 ]] || refuse "$1 needs a value"
            [[ $1 == --json ]] && json=$2 || picture=$2
            shift
            ;;
        --threads | --contenders | --erase | --compactor | --alive | --frames | --warm-up | --seed)
            [[ $# -gt 1 ]] || refuse "$1 needs a value"
            options+=("$1" "$2")
            shift
            ;;
        *) refuse_arguments "$1" ;;
    esac
    shift
done

PYTHONPATH=$("$project/ci/tools/matplotlib.sh")
export PYTHONPATH
cmake -S "$project" --preset release >&2
cmake --build "$project/build/release" --target handlepool-coherence >&2
mkdir -p "$(dirname "$json")" "$(dirname "$picture")"
status=0
"$project/build/release/bench/coherence/handlepool-coherence" --json "$json" "${options[@]}" || status=$?
[[ $status -le 1 ]] || exit "$status"
# Debian's, which the package is for.
/usr/bin/python3 "$project/bench/coherence/picture.py" "$json" "$picture"
echo "the counts are in $json, the picture in $picture" >&2
exit "$status"
