#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/tools/cross_packages.sh PLATFORM
#
# Makes the packages that a cross build of handlepool finds, in build/PLATFORM-packages: those that are headers alone, as
# Debian has them for this machine, GoogleTest, compiled from Debian's sources, and for ARM64 oneTBB, as Debian has it for that. Does
# nothing when they are there.
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

if [ "$platform" = arm64 ]; then
    # With lists and downloads of its own, so that this machine's packages stay what they are.
    apt=(apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt"
        -o APT::Sandbox::User=root -qq)
    mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
    "${apt[@]}" update
    (cd "$work/apt" && "${apt[@]}" download libtbb12 libtbb-dev libtbbmalloc2 libtbbbind-2-5)
    for package in "$work"/apt/*.deb; do
        dpkg -x "$package" "$work/apt/root"
    done
    cp -r "$work"/apt/root/usr/{include,lib} "$work/"
    rm -rf "$work/apt"
fi

cmake -S /usr/src/googletest -B "$work/googletest" -G Ninja --toolchain "$PWD/cmake/toolchains/$toolchain.cmake" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$work" -D CMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --build "$work/googletest"
cmake --install "$work/googletest" >/dev/null
rm -rf "$work/googletest"
mv "$work" "$packages" # complete, or not there at all
