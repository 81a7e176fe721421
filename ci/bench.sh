#!/usr/bin/env bash
# Measures the pool against its contenders and prints the table of figures that it must reach.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: ci/bench.sh [--json FILE] [--help] [options of handlepool-bench]

Builds handlepool-bench (preset release) and runs it. The table goes to the standard output, everything else to the
standard error. Exits with 1 when a figure misses what it must reach.

  --json FILE   also write the table's rows to FILE
  --rounds N    rounds of each comparison
TEXT
}

for argument in "$@"; do
    if [[ $argument == -h || $argument == --help ]]; then
        usage
        exit 0
    fi
done

here=$(cd "$(dirname "$0")" && pwd)
if [[ -x $here/install.sh ]]; then
    "$here/install.sh" >&2
fi
cmake -S "$here/.." --preset release >&2
cmake --build "$here/../build/release" --target handlepool-bench >&2
# From where it was called, so that FILE means what it says.
exec "$here/../build/release/bench/handlepool-bench" "$@"
