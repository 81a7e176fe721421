#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/tools/matplotlib.sh
#
# Prints the folder in which Debian's Python finds matplotlib: export PYTHONPATH=$(ci/tools/matplotlib.sh). Its package can't be
# installed beside the Boost 1.81 that handlepool is built with: by way of others, which drawing needs none of, it wants Boost 1.74. So
# it is unpacked in build/matplotlib, and what it does need is installed.
#
# examples:
#   PYTHONPATH=$(ci/tools/matplotlib.sh) /usr/bin/python3 bench/peers/report.py draw bench/peers/results/peers.json
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$project"
refuse_arguments "$@"

ci/tools/install.sh matplotlib >&2
unpacked=$PWD/build/matplotlib
if [[ ! -d $unpacked ]]; then
    work=$unpacked.new
    rm -rf "$work"
    mkdir -p "$work/root"
    (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download python3-matplotlib) >&2
    dpkg -x "$work"/python3-matplotlib_*.deb "$work/root"
    rm "$work"/*.deb
    mv "$work" "$unpacked" # complete, or not there at all
fi
echo "$unpacked/root/usr/lib/python3/dist-packages"
