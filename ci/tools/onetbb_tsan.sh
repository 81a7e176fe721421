#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/tools/onetbb_tsan.sh [COMPILER]
#
# Builds oneTBB with ThreadSanitizer from its Debian source package into build/onetbb-tsan-COMPILER, unless it is there.
# The packaged library is not instrumented: correct programs that use it would be reported.
#
#   COMPILER  g++, the default, or clang++-19
#
# examples:
#   ci/tools/onetbb_tsan.sh
#   ci/tools/onetbb_tsan.sh clang++-19
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"

compiler=${1:-g++}
require_compiler "$compiler"
refuse_arguments "${@:2}"

prefix=$PWD/build/onetbb-tsan-$compiler
[ ! -d "$prefix" ] || exit 0
ci/tools/install.sh "$compiler" dpkg-source
mkdir -p build
work=$(mktemp -d "$PWD/build/onetbb.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The machine's own package sources as sources of source code, with everything that apt keeps apart from the machine's.
mkdir -p "$work/sources" "$work/lists/partial"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case "$list" in
        *.list) change='s/^deb(-src)?[[:space:]]/deb-src /; /^deb-src/!d' ;;
        *.sources) change='s/^Types:.*/Types: deb-src/I' ;;
        *) continue ;;
    esac
    [ ! -f "$list" ] || sed -E "$change" "$list" >"$work/sources/$(basename "$list")"
done
apt=(apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/sources"
    -o Dir::State::Lists="$work/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
"${apt[@]}" update
(cd "$work" && "${apt[@]}" source onetbb >/dev/null)

# -w: they would be warnings about others' code.
cmake -S "$work"/onetbb-*/ -B "$work/build" -G Ninja -D CMAKE_CXX_COMPILER="$compiler" \
    -D CMAKE_BUILD_TYPE=RelWithDebInfo -D CMAKE_INSTALL_PREFIX="$prefix" -D TBB_SANITIZE=thread \
    -D TBB_TEST=OFF -D TBB_EXAMPLES=OFF -D TBB_STRICT=OFF -D TBBMALLOC_BUILD=OFF \
    -D TBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON -D CMAKE_CXX_FLAGS=-w >/dev/null
cmake --build "$work/build"
# Complete, or not there at all.
DESTDIR=$work/install cmake --install "$work/build" >/dev/null
mv "$work/install$prefix" "$prefix"
