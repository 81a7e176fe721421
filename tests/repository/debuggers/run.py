#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a debugger on program.cpp and on its core dumps, and compares what is printed with a file, line by line.

examples:
    run.py --debugger gdb --program build/dev/tests/repository/debuggers/handlepool_debuggee --expected gdb.txt --work /tmp/work
    run.py ... --write    makes the expected file
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
TOOLS = PROJECT / "tools"
DOCUMENT = PROJECT / "docs" / "debuggers.md"
# What debuggers say of an expression in an optimized program.
OUT_OF_REACH = "optimized out|not available|Could not evaluate|No symbol|no variable"


def run(command, **environment):
    """What it prints. Ends the test unless it succeeds."""
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, timeout=240)
    if done.returncode != 0 or "Traceback" in done.stdout:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Debugger:
    def __init__(self, path, program, work):
        self.path = path
        self.program = program
        self.work = work
        self.is_lldb = "lldb" in path.name

    def session(self, live, make_cores, printers=True, natvis=None):
        """What drive_gdb.py, drive_lldb.py or drive_natvis.py writes.

        Without addresses, which differ, and without types of lldb's and of gdb's references, which compilers name
        differently.
        """
        output = self.work / "output.txt"
        output.unlink(missing_ok=True)
        name = "lldb" if self.is_lldb else "gdb"
        driver = HERE / f"drive_{'natvis' if natvis else name}.py"
        script = TOOLS / name / f"handlepool_{name}.py"
        how = (["--no-lldbinit", "--batch", "-o", f"command script import {driver}", self.program] if self.is_lldb
               else ["-nx", "-batch", "-x", driver, self.program])
        said = run([self.path, *how], PRINTERS=str(script) if printers else "", OUTPUT=str(output),
                   LIVE="yes" if live else "no", NATVIS=str(natvis or ""),
                   CORES=str(self.work) if make_cores or not live else "")
        if not output.exists() or not output.read_text(encoding="utf-8").endswith("== end\n"):
            sys.exit(f"{self.path} did not come to the end:\n{said}")
        text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", output.read_text(encoding="utf-8"))
        text = re.sub(r"(?<= = )\(.+ &\) (?=@ADDRESS: )", "", text)
        return re.sub(r"^\(.+?\) (?=\S+ = )", "", text, flags=re.MULTILINE).splitlines()


def entries(lines):
    """The lines of each expression, by its place and name."""
    found, stop, name = {}, "", None
    for line in lines:
        if line.startswith("== "):
            stop, name = line, None
        elif name is None or not line.startswith((" ", "}")):
            name = (stop, re.split(" = |: ", line)[0])
            found[name] = []
        if name is not None:
            found[name].append(line)
    return found


def differences(expected, printed, optimized):
    """Where they differ. Of an optimized program, an expression may be out of reach, but never wrong."""
    if not optimized:
        return list(difflib.unified_diff(expected, printed, "expected", "printed", lineterm=""))
    wanted, got = entries(expected), entries(printed)
    wrong = []
    for name, lines in wanted.items():
        seen = got.get(name, ["nothing"])
        if seen != lines and not re.search(OUT_OF_REACH, seen[0]):
            wrong += [f"{name}: expected", *lines, "printed", *seen]
    return wrong


def words_of_the_library(program):
    """What describe() says, in the form in which printers print a handle."""
    for line in run([program]).splitlines():
        pool, name, state = re.fullmatch(r"(\S+) (#\d+ generation \d+): (.*)", line).groups()
        yield f"= ship {name} ({pool}): {state}"


def quoted_in(document, language):
    """The lines of the blocks of that language."""
    for block in re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield from block.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debugger", type=pathlib.Path, required=True, help="the path of gdb or lldb")
    parser.add_argument("--gdb", type=pathlib.Path, help="makes the core dumps for lldb")
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--expected", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a folder for core dumps")
    parser.add_argument("--optimized", action="store_true", help="expressions may be optimized out")
    parser.add_argument("--natvis", type=pathlib.Path, help="evaluate the expressions of this file in gdb instead")
    parser.add_argument("--write", action="store_true", help="write the expected file")
    arguments = parser.parse_args()

    arguments.work.mkdir(parents=True, exist_ok=True)
    debugger = Debugger(arguments.debugger, arguments.program, arguments.work)
    cores_by_gdb = debugger.is_lldb and arguments.gdb is not None
    if cores_by_gdb:
        Debugger(arguments.gdb, arguments.program, arguments.work).session(True, make_cores=True, printers=False)
    printed = {"live": debugger.session(True, not debugger.is_lldb and not arguments.natvis, natvis=arguments.natvis)}
    if not arguments.natvis and (not debugger.is_lldb or cores_by_gdb):
        printed["core dump"] = debugger.session(False, make_cores=False)
        for core in arguments.work.glob("*.core"):
            core.unlink()
    if arguments.write:
        arguments.expected.write_text("\n".join(printed["live"]) + "\n", encoding="utf-8")

    expected = arguments.expected.read_text(encoding="utf-8").splitlines()
    wrong = []
    for how, lines in printed.items():
        found = differences(expected, lines, arguments.optimized)
        wrong += [f"-- {how}:", *found] if found else []
    for words in () if arguments.natvis else words_of_the_library(arguments.program):
        if not any(words in line for line in expected):
            wrong.append(f"describe() says what is not expected of a printer: {words}")
    for line in () if arguments.natvis else quoted_in(DOCUMENT, "lldb" if debugger.is_lldb else "gdb"):
        if line not in expected:
            wrong.append(f"{DOCUMENT.name} quotes what is not printed: {line}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(expected)} lines are as expected: {', '.join(printed)}")


if __name__ == "__main__":
    main()
