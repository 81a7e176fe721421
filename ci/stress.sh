#!/usr/bin/env bash
# Installs what is needed, and runs all stress scenarios on the release build with contracts checked.
# usage: ci/stress.sh SECONDS [handlepool-stress ARGUMENTS...]    e.g. ci/stress.sh 600 --threads 2
set -euo pipefail

if [[ $# -eq 0 || ! $1 =~ ^[1-9][0-9]*$ ]]; then
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")/.." && pwd)
"$here/ci/install.sh"
cmake -S "$here" --preset release -B "$here/build/stress" -D HANDLEPOOL_CHECKED=ON >/dev/null
cmake --build "$here/build/stress" --target handlepool-stress
# From where it was called, so that the files in the arguments mean what they say.
# The bound is for bugs that show as a wait without end.
exec timeout "$(($1 * 3 + 300))" "$here/build/stress/stress/handlepool-stress" run all --seconds "$@"
