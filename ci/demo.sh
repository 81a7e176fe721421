#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/demo.sh [ARGUMENTS...]
#
# Installs what building needs, builds handlepool-stress and runs it with the arguments; without any, it replays a shipped
# trace. For a replay, only that command is built, which takes a quarter of the time.
#
# examples:
#   ci/demo.sh
#   ci/demo.sh churn --threads 2
#   ci/demo.sh churn --help
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
"$project/ci/tools/install.sh" --harness

if [ $# -eq 0 ]; then
    traces=("$project"/stress/traces/*.zst)
    set -- replay "${traces[0]}"
fi
if [[ $1 == replay ]]; then
    build=$project/build/replay
    build_harness "$build" replay
else
    build=$project/build/stress # that of ci/stress.sh
    build_harness "$build" "$all_harness_commands"
fi
# From where it was called, so that the files in the arguments mean what they say.
exec "$build/stress/handlepool-stress" "$@"
