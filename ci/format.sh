#!/usr/bin/env bash
# Checks that the sources are formatted by clang-format-19; with --fix, formats them.
set -euo pipefail
cd "$(dirname "$0")/.."

ci/install.sh --all
mode=(--dry-run --Werror)
[ "${1:-}" != --fix ] || mode=(-i)
git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' | xargs -d '\n' clang-format-19 "${mode[@]}"
