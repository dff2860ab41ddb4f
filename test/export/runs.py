#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes an archive in which "work" and "pthread_mutex_lock" take as long as they are told.

  runs.py WORK LOCK DIR       ns of each call; "work" is called 10 times on each of two threads, the second of
                              which takes 5 ns more
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))

from goodtrace import MAIN, RANK1, R_LOCK, R_MAIN, R_WORK, STREAM, Trace, WORKER

work, lock = int(sys.argv[1]), int(sys.argv[2])
trace = Trace()
trace.events = {location: [] for location in (MAIN, WORKER, STREAM, RANK1)}
trace.attributes, trace.markers = {}, []
for location in (MAIN, RANK1):
    now = 0
    events = trace.events[location]
    events.append((now, "Enter", R_MAIN))
    for region in 10 * [R_WORK] + ([R_LOCK] if lock else []):
        events.append((now, "Enter", region))
        now += lock if region == R_LOCK else work + (5 if location == RANK1 else 0)
        events.append((now, "Leave", region))
    events.append((now, "Leave", R_MAIN))
    trace.clock[2] = max(trace.clock[2], now + 1)
trace.write(sys.argv[3])
