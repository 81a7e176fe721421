#!/usr/bin/env bash
# Installs what is needed, builds handlepool-stress and runs it; without arguments, it replays a shipped trace.
# usage: ci/demo.sh [handlepool-stress ARGUMENTS...]    e.g. ci/demo.sh churn --threads 2
set -euo pipefail
cd "$(dirname "$0")/.."

ci/install.sh
cmake --preset release >/dev/null
cmake --build build/release --target handlepool-stress handlepool_record
if [ $# -eq 0 ]; then
    traces=(stress/traces/*.zst)
    set -- replay "${traces[0]}"
fi
exec build/release/stress/handlepool-stress "$@"
