#!/usr/bin/env bash
# Everything that a change must pass: formatting, both compilers, sanitizers, and the shipped traces.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

step "formatting"
ci/format.sh
step "g++, release"
ci/test.sh release
step "clang++-19, contracts checked"
CXX=clang++-19 ci/test.sh dev
step "AddressSanitizer and UndefinedBehaviorSanitizer"
ci/test.sh asan-ubsan
step "ThreadSanitizer"
ci/test.sh tsan
step "replay of the shipped traces"
for trace in stress/traces/*.zst; do
    build/release/stress/handlepool-stress replay "$trace"
done
step "g++, contracts checked"
ci/test.sh
