#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes an archive with many calls.

  large.py EVENTS DIR     so many enters and leaves on each of four locations
"""
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))

from goodtrace import MAIN, R_KERNEL, R_LOCK, R_MAIN, R_WORK, RANK1, STREAM, Trace, WORKER

count, dice = int(sys.argv[1]), random.Random(1)
trace = Trace()
trace.events = {location: [] for location in (MAIN, WORKER, STREAM, RANK1)}
trace.attributes, trace.markers = {}, []
for location in trace.events:
    now, events, stack = 0, trace.events[location], [R_MAIN]
    events.append((0, "Enter", R_MAIN))
    while len(events) < count - 10:
        now += int(dice.lognormvariate(5, 3)) + 1
        if len(stack) > 1 and (len(stack) > 7 or dice.random() < 0.5):
            events.append((now, "Leave", stack.pop()))
        else:
            stack.append(dice.choice([R_WORK, R_LOCK, R_KERNEL]))
            events.append((now, "Enter", stack[-1]))
    while stack:
        events.append((now + 1, "Leave", stack.pop()))
    trace.clock[2] = max(trace.clock[2], now + 2)
trace.write(sys.argv[2])
