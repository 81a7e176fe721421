#!/usr/bin/env bash
# Checks that the sources are formatted by clang-format-19.
# usage: ci/format.sh [--fix]    --fix: formats them
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(--dry-run --Werror)
if [ $# -ne 0 ]; then
    if [ "$*" != --fix ]; then
        sed -n '2,3s/^# //p' "$0" >&2
        exit 2
    fi
    mode=(-i)
fi
ci/install.sh clang-format-19
git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' | xargs -d '\n' clang-format-19 "${mode[@]}"
