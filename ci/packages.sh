#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/packages.sh [PART...]
#
# Makes the packages of handlepool, and uses them.
#
#   PART   debian: the packages of CPack, with shared and with static libraries, are looked through by lintian and installed by
#            apt; the program of README.md is built with them, by CMake and by pkg-config, and runs, as the harness does; then
#            they are removed. Needs root
#          conan, vcpkg: the recipe and the port, whose steps run without Conan and vcpkg, which Debian does not have
#          meson: the wrap builds the program of README.md, and the same libraries as CMake
#          Without any, all of them.
#
# examples:
#   ci/packages.sh
#   ci/packages.sh conan vcpkg
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
[ $# -gt 0 ] || set -- debian conan vcpkg meson
for part in "$@"; do
    [[ $part =~ ^(debian|conan|vcpkg|meson)$ ]] || refuse "PART is '$part', and must be debian, conan, vcpkg or meson"
done
wanted() { [[ " $parts " == *" $1 "* ]]; }
parts=$*
if wanted debian && [ "$(id -u)" -ne 0 ]; then
    complain "must run as root: it installs packages, and removes them"
    exit 2
fi
ci/tools/install.sh packages

work=$PWD/build/packages
shared=$work/shared # what meson builds is compared with it
version=$(sed -n 's/^project(handlepool VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
rm -rf "$work/use"
mkdir -p "$work/use"
program=$work/use/program.cpp
sed -n '/^```cpp$/,/^```$/{/^```/!p}' README.md >"$program"
expected=$'frame 0: 3996 ships, hull 399596\nframe 1: 7992 ships, hull 799192\nframe 2: 11988 ships, hull 1198788'

# prints_ships COMMAND...: it must print what README.md's program does.
prints_ships() {
    if [ "$("$@")" != "$expected" ]; then
        complain "does not do what README.md's program does: $*"
        exit 1
    fi
}

# build KIND OPTIONS...: as Debian would.
build() {
    cmake -S . -B "$work/$1" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX=/usr -D CMAKE_SKIP_INSTALL_RPATH=ON \
        -D HANDLEPOOL_BUILD_EXAMPLES=OFF -D HANDLEPOOL_UNITE_SOURCES=ON "${@:2}" >/dev/null
    cmake --build "$work/$1"
}
build_shared() { build shared -D BUILD_SHARED_LIBS=ON -D HANDLEPOOL_BUILD_STRESS=ON -D HANDLEPOOL_BUILD_TOOLS=ON; }

# ---- Debian -------------------------------------------------------------------------------------------------

remove() { apt-get purge -y -qq "${packages[@]}" >/dev/null; }

# install_and_use KIND PACKAGES...
install_and_use() {
    local kind=$1
    packages=("${@:2}")
    rm -rf "$work/$kind/packages"
    (cd "$work/$kind" && cpack -G DEB >/dev/null)
    local files=("$work/$kind"/packages/*.deb)
    local made
    made=$(printf '%s\n' "${files[@]##*/}" | sed 's/_.*//' | paste -sd ' ')
    if [ "$made" != "${packages[*]}" ]; then
        complain "CPack makes the packages $made, and should make ${packages[*]}"
        exit 1
    fi
    # Nobody uploads them to Debian, where they would close a request for them. CPack calls ldconfig, beside the trigger.
    lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,maintscript-calls-ldconfig \
        "${files[@]}"
    for package in "${packages[@]}"; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ]; then
            complain "the package $package is installed already, and would be removed: apt-get purge $package"
            exit 1
        fi
    done

    trap remove EXIT
    apt-get install -y -qq --no-install-recommends "${files[@]}" >/dev/null
    cmake -S tests/delivery/packages/cmake -B "$work/use/$kind" -G Ninja -D CMAKE_BUILD_TYPE=Release -D program="$program" >/dev/null
    cmake --build "$work/use/$kind" >/dev/null
    prints_ships "$work/use/$kind/program"
    local file flags
    for file in $(dpkg -L libhandlepool-dev | grep '\.pc$'); do
        pkg-config --print-errors --exists "$(basename "$file" .pc) = $version"
    done
    flags=$(pkg-config --cflags --libs handlepool)
    # shellcheck disable=SC2086 # they are several
    g++ -std=c++20 -O2 "$program" -o "$work/use/$kind-by-hand" $flags
    prints_ships "$work/use/$kind-by-hand"
    if [[ " ${packages[*]} " == *" handlepool-tools "* ]]; then
        handlepool-stress --version | tee /dev/stderr | grep -qx "handlepool-stress $version"
        handlepool-stress churn --frames 5 --alive 100 --threads 1 >/dev/null
        handlepool-stress record --output "$work/use/trace.zst" -- "$work/use/$kind/program" >/dev/null
        handlepool-stress replay "$work/use/trace.zst" >/dev/null
        handlepool-journal --version | grep -qx "handlepool-journal $version"
        handlepool-inspect --version | grep -qx "handlepool-inspect $version"
        for page in handlepool-stress handlepool-stress-{run,replay,churn,record,recover,report} handlepool-journal{,-list,-verify,-cut,-replay,-diff} handlepool-inspect; do
            dpkg -L handlepool-tools | grep -qx "/usr/share/man/man1/$page.1.gz"
        done
    fi
    remove
    trap - EXIT
    if [ -e /usr/include/handlepool ] || [ -e /usr/bin/handlepool-stress ]; then
        complain "the packages leave files behind"
        exit 1
    fi
}

if wanted debian; then
    step "Debian packages with shared libraries"
    build_shared
    soversion=${version%.*}
    install_and_use shared handlepool-tools libhandlepool-dev "libhandlepool${soversion}"
    step "Debian packages with static libraries"
    build static
    expected_packages=(libhandlepool-dev)
    # The C interface is a shared library always.
    ! compgen -G "$work/static/*.so" >/dev/null || expected_packages=("libhandlepool-c${soversion}" "${expected_packages[@]}")
    install_and_use static "${expected_packages[@]}"
fi

# ---- Conan and vcpkg ----------------------------------------------------------------------------------------

if wanted conan; then
    step "the Conan recipe's steps"
    tests/delivery/packages/conan_recipe.py "$work/conan" with_service=False with_fmt=True with_time=False with_zeromq=True
    tests/delivery/packages/conan_recipe.py "$work/conan" with_service=False with_c=True shared=True checked=True
fi

if wanted vcpkg; then
    step "the vcpkg port's steps"
    cmake -D work="$work/vcpkg" -D "features=time;snapshots;zeromq;service;fmt;c" -P tests/delivery/packages/vcpkg_port.cmake
fi

# ---- Meson --------------------------------------------------------------------------------------------------

if wanted meson; then
    step "the Meson wrap"
    user=$work/use/meson
    cp -r tests/delivery/packages/meson "$user"
    mkdir -p "$user/subprojects/packagefiles"
    cp packaging/meson/handlepool.wrap "$user/subprojects"
    cp -r packaging/meson/handlepool "$user/subprojects/packagefiles"
    tar -c -z --exclude=./build --exclude=./.git --transform "s,^\.,handlepool-$version," \
        -f "$user/subprojects/packagefiles/handlepool-$version.tar.gz" .
    meson setup "$user/build" "$user" -Dbuildtype=release -Dprogram="$program" \
        -Dprogram_in_c="$PWD/tests/delivery/install/c/program.c" -Dhandlepool:default_library=shared -Dhandlepool:cpp_std=c++17 \
        -Dhandlepool:time=enabled -Dhandlepool:snapshots=enabled -Dhandlepool:service=enabled -Dhandlepool:properties=enabled -Dhandlepool:c=enabled -Dhandlepool:redis=enabled -Dhandlepool:zeromq=enabled >/dev/null
    meson compile -C "$user/build" >/dev/null
    prints_ships "$user/build/program"
    "$user/build/in_c"

    build_shared
    exported() { nm --dynamic --defined-only --format=posix "$1" | cut -d ' ' -f 1 | sort; }
    for library in libhandlepool libhandlepool_time libhandlepool_snapshots libhandlepool_service libhandlepool_properties libhandlepool_c libhandlepool_redis libhandlepool_zeromq; do
        exported "$shared/$library.so" >"$work/use/by_cmake"
        exported "$user/build/subprojects/handlepool-$version/$library.so" >"$work/use/by_meson"
        if ! diff "$work/use/by_cmake" "$work/use/by_meson"; then
            complain "$library does not export the same when it is built by Meson as when it is built by CMake"
            exit 1
        fi
    done
fi
step "done"
