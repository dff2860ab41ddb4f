#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A timeline of a trace as text: a line for each location, a letter for the region with most of a column's time.

    timeline.py DIR [COLUMNS]

Needs OTF2's Python module (Debian: python3-otf2). Capital letters are the program's own functions and regions,
small ones calls of libraries (locks, MPI, CUDA, files), # is an activity on a GPU stream.

Limits: an example. Reads every event, about 100,000 a second; letters for the 20 regions with the most time.
"""
import collections
import sys

import otf2

path, columns = sys.argv[1] + "/traces.otf2", int(sys.argv[2]) if len(sys.argv) > 2 else 72
spans = collections.defaultdict(list)  # location: (begin, end, region), without what is called from there
with otf2.reader.open(path) as trace:
    stack, since = collections.defaultdict(list), {}
    for location, event in trace.events:
        if not isinstance(event, (otf2.events.Enter, otf2.events.Leave)):
            continue
        if stack[location]:
            spans[location].append((since[location], event.time, stack[location][-1]))
        if isinstance(event, otf2.events.Enter):
            stack[location].append(event.region)
        else:
            stack[location].pop()
        since[location] = event.time
    resolution = trace.timer_resolution

begin = min(s[0][0] for s in spans.values())
end = max(s[-1][1] for s in spans.values())
width = (end - begin) / columns or 1
total, on_gpu, rows = collections.Counter(), set(), {}
for location, own in spans.items():
    row = rows[location] = [collections.Counter() for _ in range(columns)]
    for t0, t1, region in own:
        total[region] += t1 - t0
        if str(location.type).endswith(("GPU", "ACCELERATOR_STREAM")):
            on_gpu.add(region)
        for column in range(int((t0 - begin) / width), min(int((t1 - begin) / width), columns - 1) + 1):
            edge = begin + column * width
            row[column][region] += max(0, min(t1, edge + width) - max(t0, edge))


def letter(region, taken):
    """The first letter of a word of its name that is free, the last word first."""
    words = [w for w in region.name.replace("::", "_").replace(" ", "_").split("_") if w[:1].isalpha()]
    wanted = "".join(w[0] for w in reversed(words)) + "".join(words) + "abcdefghijklmnopqrstuvwxyz"
    own = region.paradigm in (otf2.Paradigm.COMPILER, otf2.Paradigm.USER)
    return next(c for c in (wanted.upper() if own else wanted.lower()) if c.isalpha() and c not in taken)


letters = {}
for region, _ in total.most_common(20):
    letters[region] = "#" if region in on_gpu else letter(region, letters.values())
label = max(len(location.name) for location in rows)
seconds = f"{(end - begin) / resolution:.3g} s"
print(" " * label, "0".ljust(columns - len(seconds)) + seconds)
for location in sorted(rows, key=lambda l: (l.group.name, l.name)):
    cells = (max(c, key=c.get) if sum(c.values()) > width / 2 else None for c in rows[location])
    print(location.name.ljust(label), "".join(letters.get(r, "?") if r else " " for r in cells))
print("; ".join(f"{c} {region.name}" for region, c in letters.items() if total[region] > width))
