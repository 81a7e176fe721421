#!/usr/bin/env bash
# Installs what is needed, builds handlepool-stress and runs it; without arguments, it replays a shipped trace.
# usage: ci/demo.sh [handlepool-stress ARGUMENTS...]    e.g. ci/demo.sh churn --threads 2
set -euo pipefail
cd "$(dirname "$0")/.."

ci/install.sh
# The same build as that of ci/stress.sh: released, with contracts checked.
cmake --preset release -B build/stress -D HANDLEPOOL_CHECKED=ON >/dev/null
cmake --build build/stress --target handlepool-stress handlepool_record
if [ $# -eq 0 ]; then
    traces=(stress/traces/*.zst)
    set -- replay "${traces[0]}"
fi
exec build/stress/stress/handlepool-stress "$@"
