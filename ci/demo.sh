#!/usr/bin/env bash
# Installs what building needs, builds handlepool-stress and runs it; without arguments, it replays a shipped trace.
# usage: ci/demo.sh [handlepool-stress ARGUMENTS...]    e.g. ci/demo.sh churn --threads 2; ci/demo.sh churn --help
set -euo pipefail

case "${1:-}" in
    -h | --help) sed -n '2,3s/^# //p' "$0"; exit 0 ;;
esac
here=$(cd "$(dirname "$0")/.." && pwd)
"$here/ci/install.sh"
# The same build as that of ci/stress.sh: released, with contracts checked.
cmake -S "$here" --preset release -B "$here/build/stress" -D HANDLEPOOL_CHECKED=ON >/dev/null
cmake --build "$here/build/stress" --target handlepool-stress handlepool_record
if [ $# -eq 0 ]; then
    traces=("$here"/stress/traces/*.zst)
    set -- replay "${traces[0]}"
fi
# From where it was called, so that the files in the arguments mean what they say.
exec "$here/build/stress/stress/handlepool-stress" "$@"
