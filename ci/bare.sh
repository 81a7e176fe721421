#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/bare.sh
#
# Shows that pools need a C++ compiler, CMake and make only: a Debian 12 that has nothing else builds, installs and uses
# them. Its root is made by debootstrap from the machine's own package sources, and kept in build/bare. Needs root: it
# changes roots.
#
# examples:
#   ci/bare.sh
#   rm -r build/bare && ci/bare.sh    from a new Debian
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
refuse_arguments "$@"
if [ "$(id -u)" -ne 0 ]; then
    complain "must run as root: it makes a root of its own, and changes to it"
    exit 2
fi

# What is mounted below ends with this process, however that ends: the mounts are its own.
if [ -z "${HANDLEPOOL_OWN_MOUNTS:-}" ]; then
    ci/tools/install.sh debootstrap
    HANDLEPOOL_OWN_MOUNTS=1 exec unshare --mount --propagation private "$script"
fi

root=$PWD/build/bare

# ---- A Debian 12 with g++, cmake and make -------------------------------------------------------------------

if [ ! -d "$root" ]; then
    step "debootstrap"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Release: bookworm' 'Component: main' |
        head -n 1)
    if [ -z "$mirror" ]; then
        complain "the machine's package sources have no Debian 12 (bookworm main)"
        exit 1
    fi
    mkdir -p build
    work=$(mktemp -d "$PWD/build/bare.XXXXXX")
    trap 'umount --recursive --quiet "$work"/* || true; rm -rf --one-file-system "$work" "$work.log"' EXIT
    debootstrap --variant=minbase --include=g++,cmake,make bookworm "$work" "$mirror" >"$work.log" ||
        { tail -n 20 "$work.log" >&2; exit 1; }
    rm -rf "$work"/var/cache/apt/archives/*.deb "$work.log"
    umount --recursive --quiet "$work/proc" "$work/sys" || true
    mv "$work" "$root" # complete, or not there at all
    trap - EXIT
fi

# ---- The sources, in memory ---------------------------------------------------------------------------------

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/usr/local" # where the plain commands install
mkdir "$root/tmp/handlepool"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$root/tmp/handlepool"
bare() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin MAKEFLAGS="-j$(nproc)" chroot "$root" bash -euc "cd /tmp/$1; $2"; }
# fails MESSAGE FOLDER COMMAND: it must fail and say so; CMake breaks its lines.
fails() {
    if output=$(bare "$2" "$3" 2>&1); then
        complain "succeeds, and must not: $3"
        exit 1
    fi
    if ! tr -s ' \n' ' ' <<<"$output" | grep -q -e "$1"; then
        echo "$output" >&2
        complain "fails, but does not say \"$1\": $3"
        exit 1
    fi
}

step "the plain three commands"
bare handlepool "cmake -S . -B build | tee configured && cmake --build build && cmake --install build"
for left_out in "service (libfmt-dev nlohmann-json3-dev)" "tbb (libfmt-dev nlohmann-json3-dev libtbb-dev)" \
    "snapshots (libxxhash-dev)" "redis (libxxhash-dev libhiredis-dev)" "zeromq (libxxhash-dev libzmq3-dev pkg-config cppzmq-dev)" \
    "fmt (libfmt-dev)" "boost (libboost1.81-dev)" "properties (libfmt-dev nlohmann-json3-dev libboost1.81-dev)" "c (libfmt-dev nlohmann-json3-dev)" "examples (.*libcli11-dev)"; do
    grep -q "handlepool: left out, each with the Debian packages that it lacks: .*$left_out" \
        "$root/tmp/handlepool/configured" || { complain "says nothing of $left_out"; exit 1; }
done

step "programs, by find_package and by add_subdirectory"
users=handlepool/tests/delivery/install
for program in pools time; do
    bare $users "cmake -S $program -B '/tmp/by package/$program' && cmake --build '/tmp/by package/$program' &&
        '/tmp/by package/$program/program'"
done
bare $users "cmake -S subproject -B '/tmp/by source' -D handlepool_source=/tmp/handlepool &&
    cmake --build '/tmp/by source' && '/tmp/by source/program'"

step "what can't be had is an error that says how to get it"
fails "The component 'tbb' is not installed in /usr/local; beside the pools there is: time\\." \
    $users "cmake -S pools -B /tmp/missing -D components='service;tbb'"
fails "HANDLEPOOL_BUILD_TESTS needs: .*libgtest-dev libgmock-dev" \
    handlepool "cmake -S . -B tests -D HANDLEPOOL_BUILD_TESTS=ON"
fails "component service needs: libfmt-dev nlohmann-json3-dev" \
    handlepool "cmake -S . -B service -D HANDLEPOOL_COMPONENTS=service"
step "done"
