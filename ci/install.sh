#!/usr/bin/env bash
# Installs what building and testing handlepool needs on Debian 12, as root; does nothing when it is there.
# usage: ci/install.sh [--all]    --all: also clang-19 and clang-format-19, for the checks of ci/all.sh
set -euo pipefail

packages=(
    g++ cmake ninja-build pkg-config
    libboost1.81-dev libfmt-dev libgtest-dev libgmock-dev libbenchmark-dev
    libcli11-dev nlohmann-json3-dev libzstd-dev
)
case "${1:-}" in
    "") ;;
    --all) packages+=(clang-19 libclang-rt-19-dev clang-format-19) ;;
    *) sed -n '2,3s/^# //p' "$0"; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
        missing+=("$package")
    fi
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
