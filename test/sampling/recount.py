#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the samples of an archive by function and by source line, as python3-otf2 reads them.

    recount.py ANCHOR REPORT.json SUMMARY.json

Prints where samples[] and lines[] of `gputrace report --json` differ from that, where their rows do not add up to
the same, and where summary.json has other rows than the first twenty of these, and of thread_states[].

Limits: rows without samples are of time that no sample stands for, and left out.
"""
import collections
import json
import sys

import otf2
from otf2 import events

OWN = 4  # SAMPLE_FLAGS
report, summary = (json.load(open(name, encoding="utf-8")) for name in sys.argv[2:4])
found = {"samples": collections.defaultdict(lambda: [0, 0]), "lines": collections.defaultdict(lambda: [0, 0])}
with otf2.reader.open(sys.argv[1]) as trace:
    for _, event in trace.events:
        if not isinstance(event, events.CallingContextSample):
            continue
        says = {attribute.name: value for attribute, value in (event.attributes or {}).items()}
        generator, context = event.interrupt_generator, event.calling_context
        ns = says.get("SAMPLE_TIME", round(generator.period * 10.0 ** (generator.exponent + 9)))
        own = says.get("SAMPLE_FLAGS", 0) & OWN
        name = "[gputrace]" if own else context.region.name
        source = None if own else context.source_code_location
        place = (source.file or None, source.line_number or None) if source else (None, None)
        for key, row in ("samples", name), ("lines", (name, *place)):
            found[key][row][0] += 1
            found[key][row][1] += ns
for key, want in found.items():
    there = collections.defaultdict(lambda: [0, 0])
    for row in report[key]:
        # Where nothing is known of the line, the file may be that of the object.
        name = row["function"] if key == "samples" else (row["function"], row["line"] and row["file"], row["line"])
        there[name][0] += row["samples"]
        there[name][1] += round(row["cpu_s"] * 1e9)
    if key == "lines":
        want = {(name, line and file, line): sums for (name, file, line), sums in want.items()}
    there = {name: sums for name, sums in there.items() if sums[0]}
    for name in there.keys() | want.keys():
        if there.get(name) != want.get(name):
            print(key, name, there.get(name), "not", want.get(name))
sums = [sum(row["cpu_s"] for row in report[key]) for key in found]
if abs(sums[0] - sums[1]) > 1e-6:
    print("samples and lines add up to", *sums)
for key in (*found, "thread_states"):
    if summary[key] != report[key][:20]:
        print("summary.json has other", key)
