# SPDX-License-Identifier: MIT
"""Runs in lldb: prints what stops.py asks for, in the program that runs, or in the core dumps of such a run."""

import os
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from stops import STOPS  # noqa: E402


def execute(debugger, command, frame=None):
    result = lldb.SBCommandReturnObject()
    context = lldb.SBExecutionContext(frame if frame is not None else debugger.GetSelectedTarget())
    debugger.GetCommandInterpreter().HandleCommand(command, context, result)
    return result.GetOutput() if result.Succeeded() else result.GetError()


def show(debugger, target, number, function, expressions, output):
    print(f"== {number}: {function}", file=output)
    process = target.GetProcess()
    frame = next(each for each in process.GetSelectedThread()
                 if (each.GetFunctionName() or "").split("(")[0] == function)
    for expression in expressions:
        print(execute(debugger, f"frame variable {expression}", frame).rstrip(), file=output)


def go(debugger):
    printers, cores, live = (os.environ[name] for name in ("PRINTERS", "CORES", "LIVE"))
    debugger.SetAsync(False)
    if printers:
        execute(debugger, f"command script import {printers}")
    target = debugger.GetSelectedTarget()
    with open(os.environ["OUTPUT"], "w", encoding="utf-8") as output:
        if live == "yes":
            target.BreakpointCreateByName("stop_here")
            for number, (function, expressions) in enumerate(STOPS):
                if number == 0:
                    # Containers forbid to switch the randomization of addresses off.
                    execute(debugger, "process launch --disable-aslr false --stdout /dev/null")
                else:
                    target.GetProcess().Continue()
                show(debugger, target, number, function, expressions, output)
            target.GetProcess().Kill()
        else:
            for number, (function, expressions) in enumerate(STOPS):
                target.LoadCore(f"{cores}/{number}.core")
                show(debugger, target, number, function, expressions, output)
                target.GetProcess().Destroy()
        print("== end", file=output)


def __lldb_init_module(debugger, _):
    go(debugger)
