#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: ci/compilers.sh [NAME]
#
# Compiles the library with each compiler, standard library, language version and mode that it is made for, without a
# warning, and runs small programs on each; compiles each header alone; and sees what must be refused refused. Some 18
# minutes of processor time.
#
#   NAME  only the configurations whose name contains it
#
# examples:
#   ci/compilers.sh
#   ci/compilers.sh libc++
set -euo pipefail
. "$(dirname "$0")/tools/common.sh"
cd "$project"

wanted=${1:-}
[[ $wanted != -* ]] || refuse_arguments "$wanted"
refuse_arguments "${@:2}"
ci/tools/install.sh clang++-14 clang++-19 libc++-19 -m32 musl

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"
# All that clang knows, but for:
everything=(
    -Weverything
    -Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-c++20-compat # the language is C++20
    -Wno-padded                      # padding is no mistake; where it costs, a static_assert stands beside the type
    -Wno-ctad-maybe-unsupported      # also said of std::scoped_lock
    -Wno-shadow-uncaptured-local     # [hook = std::move(hook)]: there is one hook, which goes on under its name
    -Wno-unsafe-buffer-usage         # no array without pointers
    -Wno-weak-vtables                # of the errors, which are classes of a line in a header
    -Wno-switch-default -Wno-switch-enum # a switch over an enumeration has a default just where some values are alike
    -Wno-format-nonliteral           # one function of error.cpp prints its callers' literals
    -Wno-cast-function-type-strict   # functions of C are passed on as noexcept, which C can't say
    -Wno-disabled-macro-expansion -Wno-used-but-marked-unused # the functions of xxHash, which one source uses
    -Wno-global-constructors -Wno-exit-time-destructors # two objects before main, each with its reason beside it
)
# Debian's fmt is built for libstdc++.
own_fmt=-DFMT_HEADER_ONLY

# The sources of the static library, and what runs on it.
mapfile -t sources < <(find src/core src/time src/snapshots src/service src/properties -name "*.cpp" ! -path "*/windows/*" | sort)
# Those of the C interface and of followers, which need exceptions.
c_sources=(src/c/*.cpp src/redis/*.cpp src/zeromq/*.cpp)
version='-DHANDLEPOOL_BUILT_VERSION=HANDLEPOOL_VERSION -DHANDLEPOOL_BUILT_VERSION_TEXT=\"\"'
program=tests/delivery/compilers/program.cpp
without_exceptions=tests/delivery/compilers/without_exceptions.cpp

names=()
compilers=()
configuration() { # NAME COMPILER [FLAGS...]
    if [[ $1 == *"$wanted"* ]]; then
        names+=("$1")
        compilers+=("${*:2}")
    fi
}
# Without exceptions and run-time type information.
small="-fno-exceptions -fno-rtti"
libcxx="-stdlib=libc++ $own_fmt"
configuration "g++, C++20" g++ -std=c++20
configuration "g++, C++23, no run-time type information" g++ -std=c++23 -fno-rtti
configuration "g++, C++20, no exceptions" g++ -std=c++20 "$small"
configuration "clang++-14, C++20" clang++-14 -std=c++20
configuration "clang++-14, C++23, no exceptions" clang++-14 -std=c++2b "$small"
configuration "clang++-19, C++20, all warnings" clang++-19 -std=c++20 "${everything[@]}"
configuration "clang++-19, C++23, no exceptions" clang++-19 -std=c++23 "$small"
configuration "clang++-19, libc++, C++20" clang++-19 -std=c++20 "$libcxx"
configuration "clang++-19, libc++, C++23, no exceptions" clang++-19 -std=c++23 "$libcxx" "$small"
if [ ${#names[@]} -eq 0 ]; then
    refuse "no configuration has '$wanted' in its name"
fi

# Commands that run beside each other; the first that fails ends all.
tasks=()
task() { tasks+=("$1 || { echo \"ci/compilers.sh: failed: \"$(printf %q "$2") >&2; exit 255; }"); }
run_tasks() {
    printf '%s\0' "${tasks[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c
    tasks=()
}

# One file that has all headers, in each configuration; and each header alone, in one.
headers=$(cd include && find handlepool -name '*.hpp' | sort)
sed 's/.*/#include <&>/' <<<"$headers" >"$work/all_headers.cpp"

for i in "${!names[@]}"; do
    compile="${compilers[i]} $warnings -Iinclude"
    mkdir "$work/$i"
    programs=("$program")
    if [[ ${compilers[i]} == *-fno-exceptions* ]]; then
        programs+=("$without_exceptions")
    else
        for source in "${c_sources[@]}"; do
            task "$compile $version -fsyntax-only $source" "${names[i]}: $source"
        done
    fi
    task "$compile -fsyntax-only $work/all_headers.cpp" "${names[i]}: headers"
    for source in "${sources[@]}" "${programs[@]}"; do
        task "$compile -c $source -o $work/$i/$(basename "$source" .cpp).o" "${names[i]}: $source"
    done
done
for header in $headers; do
    task "clang++-19 -std=c++20 $warnings -Iinclude -fsyntax-only -x c++ -include $header /dev/null" "$header alone"
done
# What a project may ask of the headers by a plain -I, which hides nothing, and not of the sources.
for file in "$work/all_headers.cpp" "$program"; do
    task "g++ -std=c++20 $warnings -Wuseless-cast -Wcast-align=strict -Iinclude -fsyntax-only $file" "warnings of g++ alone: $file"
done
# What C includes, in the languages that may.
for language in "gcc -std=c99 -x c" "gcc -std=c17 -x c" "musl-gcc -std=c99 -x c" "clang-19 -std=c99 -x c" "clang-19 -std=c23 -x c" \
    "g++ -std=c++11 -x c++" "g++ -std=c++20 -x c++" "clang++-19 -std=c++11 -Wold-style-cast -x c++"; do
    task "$language $warnings -Iinclude -fsyntax-only -include handlepool/handlepool.h /dev/null" "handlepool.h by $language"
done
run_tasks

for i in "${!names[@]}"; do
    objects=()
    for source in "${sources[@]}"; do
        objects+=("$work/$i/$(basename "$source" .cpp).o")
    done
    fmt=-lfmt
    [[ ${compilers[i]} != *"$own_fmt"* ]] || fmt=
    for file in "$work/$i/program" "$work/$i/without_exceptions"; do
        if [ -e "$file.o" ]; then
            task "${compilers[i]} -pthread $file.o ${objects[*]} $fmt -o $file && TMPDIR=$work/$i $file" "${names[i]}: $(basename "$file")"
        fi
    done
done
run_tasks
printf 'passed: %s\n' "${names[@]}"

# What can't work must not compile, or not link, and say why.
refused() { # MESSAGE COMMAND...
    if "${@:2}" >"$work/output" 2>&1 || ! grep -qF "$1" "$work/output"; then
        complain "should be refused because of \"$1\": ${*:2}"
        head -n 20 "$work/output" >&2
        exit 1
    fi
    echo "refused: $1"
}
refused "handlepool needs a machine with 64-bit pointers" \
    g++ -m32 -std=c++20 -Iinclude -idirafter /usr/include/x86_64-linux-gnu -fsyntax-only -include handlepool/pool.hpp -x c++ /dev/null
echo 'handlepool::stable_pool<handlepool::columns<int>> rows({.name = "rows", .capacity = 1});' >"$work/stable_rows.cpp"
refused "rows have no stable pool" \
    g++ -std=c++20 -Iinclude -fsyntax-only -include handlepool/columns.hpp "$work/stable_rows.cpp"
echo 'struct number { int value; };
void compact(handlepool::recycling_pool<number>& numbers) { numbers.compact(); }' >"$work/no_clear.cpp"
refused "objects of a recycling_pool need a clear() that can't throw" \
    g++ -std=c++20 -Iinclude -fsyntax-only -include handlepool/recycling_pool.hpp "$work/no_clear.cpp"
echo 'void make(handlepool::recycling_pool<std::vector<int>>& vectors) { vectors.emplace(100U); }' >"$work/not_assigned.cpp"
refused "a kept object can't be assigned these values: fill it by emplace_with(fill)" \
    g++ -std=c++20 -Iinclude -fsyntax-only -include handlepool/recycling_pool.hpp -include vector "$work/not_assigned.cpp"
echo 'handlepool::raw_pool<handlepool::with_placement<handlepool::recycling_placement>>
    blocks({.name = "blocks", .capacity = 1}, {.size = 1, .alignment = 1});' >"$work/raw_kept.cpp"
refused "says how objects end, not how they are cleared" \
    g++ -std=c++20 -Iinclude -fsyntax-only -include handlepool/recycling_pool.hpp -include handlepool/raw_pool.hpp "$work/raw_kept.cpp"
g++ -std=c++20 -Iinclude -c src/core/base/failure.cpp -o "$work/failure.o"
g++ -std=c++20 -Iinclude -fno-exceptions -c src/core/memory/virtual_memory.cpp -o "$work/virtual_memory.o"
refused "undefined reference to \`void handlepool::detail::library_built_with_exceptions<false>()'" \
    g++ "$work/virtual_memory.o" "$work/failure.o" -o "$work/mixed"
