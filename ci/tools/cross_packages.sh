#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/tools/cross_packages.sh PLATFORM
#
# Makes the packages that a cross build of handlepool finds, in build/PLATFORM-packages: those that are headers alone, as
# Debian has them for this machine, and GoogleTest, compiled from Debian's sources. Does nothing when they are there.
#
#   PLATFORM  windows or arm64
#
# examples:
#   ci/tools/cross_packages.sh windows
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"

platform=${1:-}
refuse_arguments "${@:2}"
case "$platform" in
    windows) toolchain=mingw-w64 ;;
    arm64) toolchain=aarch64-linux-gnu ;;
    *) refuse "PLATFORM is '$platform', and must be windows or arm64" ;;
esac
ci/tools/install.sh "$platform"

packages=$PWD/build/$platform-packages
[[ ! -d $packages ]] || exit 0
work=$packages.new
rm -rf "$work"
mkdir -p "$work/include" "$work/lib/cmake/fmt" "$work/share/cmake"

# Links, so that nothing else of /usr/include is seen.
for headers in boost CLI fmt nlohmann xxhash.h; do
    ln -s "/usr/include/$headers" "$work/include/$headers"
done
cp -r /usr/share/cmake/CLI11 /usr/share/cmake/nlohmann_json "$work/share/cmake/"
version=$(dpkg-query -W -f '${Version}' libfmt-dev)
cat >"$work/lib/cmake/fmt/fmt-config.cmake" <<'TEXT'
add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../../../include)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
TEXT
cat >"$work/lib/cmake/fmt/fmt-config-version.cmake" <<TEXT
set(PACKAGE_VERSION ${version%%+*})
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
TEXT

cmake -S /usr/src/googletest -B "$work/googletest" -G Ninja --toolchain "$PWD/cmake/toolchains/$toolchain.cmake" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$work" -D CMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --build "$work/googletest"
cmake --install "$work/googletest" >/dev/null
rm -rf "$work/googletest"
mv "$work" "$packages" # complete, or not there at all
