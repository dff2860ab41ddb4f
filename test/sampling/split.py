#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares where samples say the processor time went with what the program says.

    split.py REPORT.json TRUTH TOLERANCE

REPORT.json is of `gputrace report --json`; TRUTH has lines "FUNCTION SECONDS". Each share may be off by
TOLERANCE percent of the whole and three standard deviations, the sum by 3 % and 20 ms a thread, which ends
behind its last sample. Prints what is wrong; nothing: all is right."""
import json
import math
import sys

report = json.load(open(sys.argv[1]))
truth = {}
for line in open(sys.argv[2]):
    name, seconds = line.split()
    truth[name] = truth.get(name, 0) + float(seconds)
rows = {}
samples = 0
for row in report["samples"]:
    name = row["function"]
    # The libc's own names for system calls; touch() maps and unmaps what it touches.
    if "read" in truth and name in ("__read", "__GI___libc_read", "__libc_read", "read"):
        name = "read"
    if "touch" in truth and name.strip("_") in ("mmap", "munmap", "GI___mmap", "GI___munmap", "mmap64"):
        name = "touch"
    rows[name] = rows.get(name, 0) + row["cpu_s"]
    samples += row["samples"]
whole = sum(rows.values())
expected = sum(truth.values())
threads = max(1, len(report.get("thread_states", [])))
if abs(whole - expected) > 0.03 * expected + 0.02 * threads:
    print(f"all samples together: {whole:.3f} s of {expected:.3f} s")
for name, seconds in truth.items():
    share = seconds / expected
    seen = rows.get(name, 0) / whole
    # Each function asks the clock, which is a system call and waits on a busy machine.
    clock = (rows.get("clock_gettime", 0) + rows.get("now", 0)) / whole
    sigma = math.sqrt(share * (1 - share) / max(1, samples))
    off = max(seen - share, share - seen - clock)
    if off > float(sys.argv[3]) / 100 + 3 * sigma:
        print(f"{name}: {100 * seen:.1f} %, not {100 * share:.1f} %")
