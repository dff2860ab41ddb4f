#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What python3-otf2 finds of samples of paths.c in an archive.

    paths.py ARCHIVE PROGRAM WORK OFTEN SELDOM DOWN TRUTH

WORK to DOWN are names of the four functions, TRUTH is what the program has printed. Prints what is wrong:
calls that were not made, shares of time that are not the program's (by four standard deviations of samples
that stand for times so different, and 2 %), unwind distances that do not lead to a node of the sample before,
functions that are not said to be in PROGRAM; and at last the lines of the innermost calls, ascending, but for
those of less than 2 % of the samples, where functions begin and end."""
import collections
import math
import sys

import otf2
from otf2.events import CallingContextSample

from contexts import path_of

archive, program, work, often, seldom, down, truth = sys.argv[1:]


def line_of(context):
    """Its line, or 0."""
    return context.source_code_location.line_number if context.source_code_location else 0


def time_of(event):
    """Nanoseconds that it stands for."""
    period = event.interrupt_generator
    own = (event.attributes or {}).get(attributes["SAMPLE_TIME"])
    return period.period * 10 ** (9 + period.exponent) if own is None else own


times = {}
squares = 0
lines = collections.Counter()
before = {}
count = 0
with otf2.reader.open(archive) as trace:
    attributes = {a.name: a for a in trace.definitions.attributes}
    modules = {p.calling_context.region.name: p.value for p in trace.definitions.calling_context_properties
               if p.name == "module"}
    for location, event in trace.events:
        if not isinstance(event, CallingContextSample):
            continue
        path = path_of(event.calling_context)
        kept = len(path) - (event.unwind_distance - 1)
        if location in before and not 0 <= kept <= len(path):
            print(f"distance {event.unwind_distance} in a path of {len(path)}")
        elif location in before and path[:kept] != before[location][:kept]:
            print(f"distance {event.unwind_distance}: not what was before")
        before[location] = path
        names = [c.region.name for c in path]
        if names[-1] != work:
            continue
        caller = names[-2]
        if caller == seldom and names[-6:-2] != [down] * 4:
            print(f"{names} was not called")
        key = (location.group.name, location.name, caller)
        times[key] = times.get(key, 0) + time_of(event)
        squares += time_of(event) ** 2
        count += 1
        lines.update(line_of(c) for c in path[-2:])
        if caller == seldom:
            lines.update(line_of(c) for c in path[-5:-3])
for function in (work, often, seldom, down):
    if modules.get(function) != program:
        print(f"{function} is in {modules.get(function)}")
threads = {key[:2] for key in times}
if len(threads) != 3:
    print(f"samples of {len(threads)} threads")
whole = max(1, sum(times.values()))
share = sum(t for key, t in times.items() if key[2] == seldom) / whole
with open(truth, encoding="ascii") as file:
    seconds = [sum(column) for column in zip(*(map(float, line.split()) for line in file))]
wanted = seconds[1] / sum(seconds)
if abs(share - wanted) > 0.02 + 4 * math.sqrt(wanted * (1 - wanted) * squares) / whole:
    print(f"{100 * share:.1f} % of {count} samples, not {100 * wanted:.1f} %")
print("lines", *sorted(line for line, n in lines.items() if n > count / 50))
