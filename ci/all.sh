#!/usr/bin/env bash
# Everything that a change must pass: formatting, both compilers, sanitizers, the shipped traces and the stress scenarios.
# It takes less than 30 minutes on two cores.
# usage: ci/all.sh
set -euo pipefail
[ $# -eq 0 ] || { echo "usage: ci/all.sh" >&2; exit 2; }
cd "$(dirname "$0")/.."

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

step "formatting"
ci/format.sh
step "g++, contracts checked"
ci/test.sh
step "clang++-19, release"
CXX=clang++-19 ci/test.sh release
step "AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer"
ci/asan.sh g++ 30
step "ThreadSanitizer"
ci/tsan.sh g++ 30
step "replay of the shipped traces"
for trace in stress/traces/*.zst; do
    ci/demo.sh replay "$trace"
done
step "stress scenarios"
ci/stress.sh 60
step "done"
