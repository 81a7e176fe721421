# SPDX-License-Identifier: MIT
"""Runs in gdb: prints what stops.py asks for, in the program that runs, or in the core dumps of such a run."""

import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from stops import STOPS  # noqa: E402

printers, cores, live = (os.environ[name] for name in ("PRINTERS", "CORES", "LIVE"))
output = open(os.environ["OUTPUT"], "w", encoding="utf-8")


def show(number, function, expressions):
    print(f"== {number}: {function}", file=output)
    frame = gdb.newest_frame()
    while frame.name() != function:
        frame = frame.older()
    frame.select()
    for expression in expressions:
        try:
            print(f"{expression} = {gdb.execute(f'output {expression}', to_string=True)}", file=output)
        except gdb.error as error:
            print(f"{expression}: {error}", file=output)


for command in ("set pagination off", "set confirm off", "set print pretty on", "set debuginfod enabled off"):
    gdb.execute(command)
if printers:
    gdb.execute(f"source {printers}")
if live == "yes":
    gdb.execute("break stop_here", to_string=True)
    for number, (function, expressions) in enumerate(STOPS):
        gdb.execute("run > /dev/null" if number == 0 else "continue", to_string=True)
        # Without our printers, gdb would follow what unmade objects point to: it makes core dumps for lldb then.
        show(number, function, expressions if printers else [])
        if cores:
            gdb.execute(f"generate-core-file {cores}/{number}.core", to_string=True)
    gdb.execute("kill", to_string=True)
else:
    for number, (function, expressions) in enumerate(STOPS):
        gdb.execute(f"core-file {cores}/{number}.core", to_string=True)
        show(number, function, expressions)
print("== end", file=output)
output.close()
