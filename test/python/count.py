# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program with a profile function that counts its functions: "calls NAME N" on standard error.

usage: count.py MODULE[,MODULE...] PROGRAM ARGUMENT...; only functions of these modules
"""
import runpy
import sys
import threading

modules, sys.argv = sys.argv[1].split(","), sys.argv[2:]
counts = {}


def called(frame, event, _):
    module = frame.f_globals.get("__name__")
    if event == "call" and module in modules:
        name = "%s.%s" % (module, getattr(frame.f_code, "co_qualname", frame.f_code.co_name))
        counts[name] = counts.get(name, 0) + 1


threading.setprofile(called)
sys.setprofile(called)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    sys.setprofile(None)
    for name, number in sorted(counts.items()):
        print("calls", name, number, file=sys.stderr)
