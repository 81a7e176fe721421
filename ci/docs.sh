#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/docs.sh
#
# Makes the reference of the public headers, build/docs/html/index.html. A public name without a comment is an error.
#
# examples:
#   ci/docs.sh
#   ci/docs.sh && xdg-open build/docs/html/index.html
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"

ci/tools/install.sh doxygen
mkdir -p build/docs
doxygen docs/Doxyfile
echo "the reference is build/docs/html/index.html"
