#!/usr/bin/env bash
# usage: ci/format.sh [--fix]
#
# Checks that the sources are formatted by clang-format-19.
#
#   --fix  formats them
#
# examples:
#   ci/format.sh
#   ci/format.sh --fix
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"

mode=(--dry-run --Werror)
if [[ ${1:-} == --fix ]]; then
    mode=(-i)
    shift
fi
refuse_arguments "$@"
ci/install.sh clang-format-19
git ls-files --cached --others --exclude-standard '*.c' '*.cpp' '*.h' '*.hpp' | xargs -d '\n' clang-format-19 "${mode[@]}"
