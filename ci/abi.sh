#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/abi.sh [REVISION]
#
# Compares what the shared libraries offer to programs, with the types that they exchange, with those of an earlier version: programs
# that were built with that one must run with these, unless the soname says that they need not. First shows, on the pools, that the
# comparison sees the changes of tests/delivery/abi/, and none in a function that is new. What programs compile by themselves, templates
# above all, no comparison of libraries sees.
#
#   REVISION   of git; the last tag if it is left out. Without a tag, nothing but the changes of tests/delivery/abi/ is compared
#
# examples:
#   ci/abi.sh
#   ci/abi.sh v0.1.0
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"
revision=
if [[ $# -gt 0 && $1 != -* ]]; then
    revision=$1
    shift
fi
refuse_arguments "$@"
ci/tools/install.sh abi
work=$PWD/build/abi
mkdir -p "$work"

# build SOURCE BUILD OPTIONS...: what is compared is in the debug information.
build() {
    cmake -S "$1" -B "$2" -G Ninja -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS=-Og -D HANDLEPOOL_CHECKED=OFF \
        -D BUILD_SHARED_LIBS=ON -D HANDLEPOOL_BUILD_EXAMPLES=OFF "${@:3}" >/dev/null
    cmake --build "$2" >/dev/null
}

# compare BEFORE AFTER: of two libraries or their descriptions. What is new does no harm.
compare() { abidiff --no-added-syms "$1" "$2"; }

# ---- The comparison sees what is planted --------------------------------------------------------------------

# control NAME: builds the pools with tests/delivery/abi/NAME.patch, and compares them with those without.
control() {
    patch -d "$control" -p1 --forward --quiet <"tests/delivery/abi/$1.patch"
    cmake --build "$work/control-build" >/dev/null
    status=0
    output=$(compare "$work/control.abi" "$work/control-build/libhandlepool.so") || status=$?
    patch -d "$control" -p1 --reverse --quiet <"tests/delivery/abi/$1.patch"
}

step "changes that must be seen, and one that does no harm"
control=$work/control
rm -rf "$control"
mkdir "$control"
cp -a CMakeLists.txt LICENSE cmake include src tools packaging "$control"
build "$control" "$work/control-build" -D HANDLEPOOL_COMPONENTS=
abidw --out-file "$work/control.abi" "$work/control-build/libhandlepool.so"
for name in changed_function changed_layout; do
    control "$name"
    # Bits: 4 for a change, 8 for one that certainly breaks programs; 1 and 2 for errors.
    if ((status == 0 || (status & 3) != 0)); then
        printf '%s\n' "$output" >&2
        complain "the comparison does not see tests/delivery/abi/$name.patch: abidiff ends with $status"
        exit 1
    fi
    echo "seen: $(sed -n '1s/^# //p' "tests/delivery/abi/$name.patch")"
done
control added_function
if ((status != 0)); then
    printf '%s\n' "$output" >&2
    complain "the comparison objects to tests/delivery/abi/added_function.patch, which breaks no program"
    exit 1
fi
echo "accepted: $(sed -n '1s/^# //p' tests/delivery/abi/added_function.patch)"

# ---- The libraries, and those of the earlier version --------------------------------------------------------

if [ -z "$revision" ] && ! revision=$(git describe --tags --abbrev=0 2>/dev/null); then
    step "done: there is no tag yet, and no version to compare with"
    exit 0
fi
step "the libraries, compared with those of $revision"
before=$work/before
rm -rf "$before"
mkdir "$before"
git archive "$revision" | tar -x -C "$before"
build "$before" "$work/before-build"
build . "$work/after-build"

failed=
for library in "$work"/before-build/libhandlepool*.so; do
    name=$(basename "$library")
    soname() { objdump -p "$1" | sed -n 's/^ *SONAME *//p'; }
    after=$work/after-build/$name
    if [ -e "$after" ] && [ "$(soname "$library")" != "$(soname "$after")" ]; then
        echo "$name: $(soname "$library") is now $(soname "$after"); programs are built anew"
    elif [ -e "$after" ] && compare "$library" "$after"; then
        echo "$name: programs that were built with $revision run with it"
    else
        complain "$name is gone, or breaks programs that were built with $revision: mend it, or raise the minor version"
        failed=1
    fi
done
[ -z "$failed" ]
step "done"
