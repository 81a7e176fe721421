#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/tools/install.sh [--all | --harness | TOOL...]
#
# Installs what building handlepool needs on Debian 12, as root; does nothing when it is there.
#
#   TOOL   what some checks need beside it: chromium, gdb, lavapipe (a Vulkan device without hardware), lldb-19, numpy (the
#          tests), clang++-14, clang++-19, libc++-19, -m32 (of g++), musl (for C), clang-format-19, debootstrap, doxygen,
#          dpkg-source, matplotlib (pictures), peers (the containers of others that ci/peers.sh compares with), arm64 (a cross
#          compiler and qemu), windows (a cross compiler and wine), abi, packages (what ci/abi.sh and ci/packages.sh need);
#          g++ is always installed
#   --all  all tools
#   --harness  no tool, and of what building needs only the part that handlepool-stress does
#
# examples:
#   ci/tools/install.sh
#   ci/tools/install.sh chromium clang++-19
set -euo pipefail
. "$(dirname "$0")/common.sh"

packages=(g++ cmake ninja-build pkg-config libboost1.81-dev libcli11-dev libfmt-dev libtbb-dev libzstd-dev nlohmann-json3-dev)
if [ "${1:-}" = --harness ]; then
    refuse_arguments "${@:2}"
    shift
else
    packages+=(
        ccache cppzmq-dev patch libbenchmark-dev libboost-context1.81-dev libcereal-dev libgmock-dev libgtest-dev libhiredis-dev
        libdw1 liblua5.4-dev libplf-colony-dev librapidcheck-dev libvulkan-dev libxxhash-dev libzmq3-dev python3 redis-server relacy-dev
    )
fi
[ "${1:-}" != --all ] || set -- abi arm64 chromium clang++-14 clang++-19 libc++-19 -m32 clang-format-19 debootstrap doxygen dpkg-source gdb lavapipe lldb-19 matplotlib musl numpy packages peers windows
for tool in "$@"; do
    case "$tool" in
        g++) ;;
        abi) packages+=(abigail-tools git) ;;
        packages) packages+=(dpkg-dev file help2man lintian meson) ;;
        arm64) packages+=(g++-aarch64-linux-gnu qemu-user-static googletest) ;;
        chromium) packages+=(chromium-headless-shell) ;; # shows pages to their tests
        clang++-14) packages+=(clang-14) ;;
        clang++-19) packages+=(clang-19 libclang-rt-19-dev llvm-19) ;; # llvm-19: llvm-symbolizer
        libc++-19) packages+=(libc++-19-dev libc++abi-19-dev) ;;
        -m32) packages+=(libc6-dev-i386 lib32stdc++-12-dev) ;; # not g++-multilib, which no cross compiler can live with
        clang-format-19) packages+=(clang-format-19) ;;
        debootstrap) packages+=(debootstrap debian-archive-keyring) ;;
        doxygen) packages+=(doxygen) ;;
        gdb) packages+=(gdb python3) ;; # the tests of its printers
        lavapipe) packages+=(mesa-vulkan-drivers) ;; # to which an example uploads
        lldb-19) packages+=(lldb-19 python3-lldb-19 python3) ;; # those of its formatters
        matplotlib) # draws pictures for the documents: what it needs, see matplotlib.sh
            packages+=(libqhull-r8.0 python-matplotlib-data python3-contourpy python3-cycler python3-dateutil python3-kiwisolver
                python3-numpy python3-packaging python3-pil python3-pyparsing)
            ;;
        numpy) packages+=(python3-numpy) ;;
        musl) packages+=(musl-tools) ;; # for C only: Debian has no C++ library for it
        dpkg-source) packages+=(dpkg-dev) ;;
        peers) packages+=(libconcurrentqueue-dev libcds-dev librust-sharded-slab-dev librust-slotmap-dev cargo rustc git) ;;
        windows) packages+=(g++-mingw-w64-x86-64-posix wine wine64 googletest) ;;
        *) refuse "unknown tool '$tool'" ;;
    esac
done

missing=()
for package in "${packages[@]}"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
        missing+=("$package")
    fi
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

if [ "$(id -u)" -ne 0 ]; then
    complain "these packages are missing: ${missing[*]}"
    cat >&2 <<TEXT
Only root can install them:
    apt-get update && apt-get install -y --no-install-recommends ${missing[*]}
TEXT
    exit 1
fi
# show_progress: reads what apt says to its APT::Status-Fd, kind:what:percent:text, and says how far it is: on a terminal in a
# line that changes, elsewhere in a line for each tenth.
show_progress() {
    local kind what percent text tenth=-1
    while IFS=: read -r kind what percent text; do
        percent=${percent%.*}
        if [[ $kind != dlstatus && $kind != pmstatus || ! $percent =~ ^[0-9]+$ ]]; then
            continue
        fi
        [[ $kind == pmstatus ]] && kind=unpacking || kind=fetching
        if [ -t 1 ]; then
            printf '\r%-9s %3d %%' "$kind" "$percent"
        elif [[ $kind${percent%?} != "$tenth" ]]; then
            tenth=$kind${percent%?}
            printf '%s %d %%\n' "$kind" "$percent"
        fi
    done
    [ ! -t 1 ] || printf '\r%20s\r' ""
}

echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq -o DPkg::Lock::Timeout=600 -o APT::Status-Fd=3 --no-install-recommends "${missing[@]}" \
    3>&1 >/dev/null | show_progress
