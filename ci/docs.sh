#!/usr/bin/env bash
# Makes the reference of the public headers, build/docs/html/index.html; a public name without a comment is an error.
# usage: ci/docs.sh
set -euo pipefail
[ $# -eq 0 ] || { echo "usage: ci/docs.sh" >&2; exit 2; }
cd "$(dirname "$0")/.."

ci/install.sh doxygen
mkdir -p build/docs
doxygen docs/Doxyfile
echo "the reference is build/docs/html/index.html"
