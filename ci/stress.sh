#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/stress.sh SECONDS [ARGUMENTS...]
#
# Installs what is needed, and runs all stress scenarios for SECONDS on the release build with contracts checked. The
# arguments go to `handlepool-stress run all`.
#
# examples:
#   ci/stress.sh 120
#   ci/stress.sh 600 --threads 2
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"

require_number SECONDS "${1:-}"
"$project/ci/tools/install.sh" --harness
build_harness "$project/build/stress" "$all_harness_commands"
# From where it was called, so that the files in the arguments mean what they say.
# The bound is for bugs that show as a wait without end.
exec timeout "$(($1 * 3 + 300))" "$project/build/stress/stress/handlepool-stress" run all --seconds "$@"
