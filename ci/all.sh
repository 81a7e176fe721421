#!/usr/bin/env bash
# Everything that a change must pass: formatting, both compilers, sanitizers, and the shipped traces.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

step "formatting"
ci/format.sh
step "g++, contracts checked"
ci/test.sh
step "clang++-19, release"
CXX=clang++-19 ci/test.sh release
step "AddressSanitizer and UndefinedBehaviorSanitizer"
ci/test.sh asan-ubsan
step "ThreadSanitizer"
ci/test.sh tsan
step "replay of the shipped traces"
for trace in stress/traces/*.zst; do
    ci/demo.sh replay "$trace"
done
step "done"
