#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/format.sh [--fix]
#
# Checks that the sources are formatted by clang-format-19, and that headers of the inside lie in their rooms.
#
#   --fix  formats them
#
# examples:
#   ci/format.sh
#   ci/format.sh --fix
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"

mode=(--dry-run --Werror)
if [[ ${1:-} == --fix ]]; then
    mode=(-i)
    shift
fi
refuse_arguments "$@"
ci/tools/install.sh clang-format-19
git ls-files --cached --others --exclude-standard '*.c' '*.cpp' '*.h' '*.hpp' | xargs -d '\n' clang-format-19 "${mode[@]}"
ci/tools/check_rooms
