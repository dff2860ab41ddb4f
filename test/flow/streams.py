#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes an archive of ten processes that do the same, but for one.

  streams.py SEED KIND DIR    KIND: same; longer, extra or missing: one process is longer in a call, makes another one,
                              or lacks one. Prints "PROCESS REGION NANOSECONDS", those that it is longer there.

Names are hostile on purpose. Durations differ by up to 4 % from process to process.
"""
import random
import sys

import otf2

seed, kind, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dice = random.Random(seed)
NAMES = ["main", "</text><script>alert(1)</script>", 'say "hi" \\ & go', "\u202egnp.exe", "kernel\x1b[31m", "x" * 4000, "step"]
MS = 1000000

# A program: (region, ns) in the order of their calls, in "main"; loops and single calls.
program = []
for _ in range(dice.randrange(4, 9)):
    body = [(dice.randrange(1, len(NAMES)), dice.randrange(20, 60) * MS) for _ in range(dice.randrange(1, 4))]
    program += body * dice.choice([1, 1, 5])
odd, place = dice.randrange(10), dice.randrange(len(program))
told = None

with otf2.writer.open(folder, timer_resolution=10**9) as trace:
    root = trace.definitions.system_tree_node("root")
    regions = [trace.definitions.region(name) for name in NAMES]
    extra = trace.definitions.region("extra")
    for process in range(10):
        group = trace.definitions.location_group(f"P{process}", system_tree_parent=root)
        write = trace.event_writer_from_location(trace.definitions.location("main thread", group=group))
        now = 1000
        write.enter(now, regions[0])
        for at, (region, ns) in enumerate(program):
            ns = int(ns * dice.uniform(0.98, 1.02))
            chosen = process == odd and at == place and kind != "same"
            if chosen and kind == "missing":
                told = (process, NAMES[region], -ns)
                continue
            if chosen and kind == "extra":
                write.enter(now, extra)
                write.leave(now + 50 * MS, extra)
                now += 50 * MS
                told = (process, "extra", 50 * MS)
            if chosen and kind == "longer":
                told = (process, NAMES[region], 4 * ns)
                ns *= 5
            write.enter(now, regions[region])
            now += ns
            write.leave(now, regions[region])
        write.leave(now, regions[0])
if told:
    print(*told)
