#!/usr/bin/env bash
# usage: ci/demo.sh [ARGUMENTS...]
#
# Installs what building needs, builds handlepool-stress and runs it with the arguments; without any, it replays a shipped
# trace.
#
# examples:
#   ci/demo.sh
#   ci/demo.sh churn --threads 2
#   ci/demo.sh churn --help
set -euo pipefail
. "$(dirname "$0")/common.sh"
"$project/ci/install.sh"
# The same build as that of ci/stress.sh: released, with contracts checked.
cmake -S "$project" --preset release -B "$project/build/stress" -D HANDLEPOOL_CHECKED=ON >/dev/null
cmake --build "$project/build/stress" --target handlepool-stress handlepool_record
if [ $# -eq 0 ]; then
    traces=("$project"/stress/traces/*.zst)
    set -- replay "${traces[0]}"
fi
# From where it was called, so that the files in the arguments mean what they say.
exec "$project/build/stress/stress/handlepool-stress" "$@"
