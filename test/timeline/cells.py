#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a picture of gputrace timeline with its archive, as python3-otf2 reads it.

  cells.py ANCHOR PICTURE.svg FROM TO ROWS [DEPTH]

FROM, TO: ns; ROWS: 0, or how many rows a location has. For each pixel the region that took most of its time, and the
share of its time inside of any, are computed here and must be what is drawn; where two regions took the same time
within 1 % either will do.

Limits: archives whose clock ticks in nanoseconds, and regions whose colors are in PAINTS.
"""
import re
import sys
import xml.etree.ElementTree
from collections import defaultdict

import otf2
from otf2 import events as E

LABEL, TOP, ROW = 170, 44, 16
PAINTS = {"main": "#7cbbea", "work": "#7cbbea", "pthread_mutex_lock": "#f5de4a", "kernel\x1b[31m": "#0865a2",
          "GPU IDLE": "#d9dce3"}
MARKUP = "{http://www.w3.org/2000/svg}"


def spans(anchor, rows, depth):
    """Yields (location and depth, region, begin, end)."""
    stacks, last = defaultdict(list), {}
    with otf2.reader.open(anchor) as trace:
        clock = trace.definitions.clock_properties
        assert clock.timer_resolution == 10 ** 9

        def close(location, time, frame, place):
            if rows and place <= rows:
                yield (location, place), frame[0].name, frame[1], time

        for location, event in trace.events:
            location = location.group.name, location.name
            time, stack = event.time - clock.global_offset, stacks[location]
            if stack and not rows:
                yield (location, 0), stack[(min(depth, len(stack)) if depth else len(stack)) - 1][0].name, last[location], time
            last[location] = time
            if isinstance(event, E.Enter):
                stack.append((event.region, time))
            elif isinstance(event, E.Leave):
                yield from close(location, time, stack[-1], len(stack))
                stack.pop()
        for location, stack in stacks.items():
            while stack:
                yield from close(location, last[location], stack[-1], len(stack))
                stack.pop()


def expected(anchor, begin, end, columns, rows, depth):
    """{(location, depth): [{paint: ns}] by column}"""
    starts = [begin + (end - begin) * c // columns for c in range(columns + 1)]
    cells = defaultdict(lambda: [defaultdict(int) for _ in range(columns)])
    for row, region, left, right in spans(anchor, rows, depth):
        column = max(0, (left - begin) * columns // (end - begin) - 1)
        while column < columns and starts[column] < right:
            part = min(right, starts[column + 1]) - max(left, starts[column])
            if part > 0:
                cells[row][column][region] += part
            column += 1
    return starts, cells


def drawn(picture, columns):
    """[[(color, share)] by column] by row"""
    rows = defaultdict(lambda: [None] * columns)
    for rect in xml.etree.ElementTree.parse(picture).getroot().iter(MARKUP + "rect"):
        if rect.get("x") is None or float(rect.get("height")) != 13:
            continue
        row = round((float(rect.get("y")) - TOP) / ROW)
        for x in range(round(float(rect.get("x"))), round(float(rect.get("x")) + float(rect.get("width")))):
            rows[row][x - LABEL] = rect.get("fill"), (float(rect.get("fill-opacity") or 1) - 0.25) / 0.75
    return rows


def main():
    anchor, picture, begin, end, rows = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    depth = int(sys.argv[6]) if len(sys.argv) > 6 else 0
    width = int(re.search(r'viewBox="0 0 (\d+)', open(picture, encoding="utf-8").read()).group(1))
    columns = width - LABEL - 14
    starts, cells = expected(anchor, begin, end, columns, rows, depth)
    pixels = drawn(picture, columns)
    # Rows are in the order of the archive's locations; those in which there is nothing are left out.
    with otf2.reader.open(anchor) as trace:
        order = [(location.group.name, location.name) for location in trace.definitions.locations]
    used = [row for location in order for row in sorted((r for r in cells if r[0] == location), key=lambda r: r[1])
            if any(cells[row])]
    assert len(pixels) == len(used), (len(pixels), len(used))
    checked = 0
    for y, row in enumerate(used):
        for x, tally in enumerate(cells[row]):
            length, pixel = starts[x + 1] - starts[x], pixels[y][x]
            assert bool(tally) == bool(pixel), (row, x, tally, pixel)
            if not tally:
                continue
            most = max(tally.values())
            colors = {PAINTS[region] for region, ns in tally.items() if ns >= 0.99 * most}
            assert pixel[0] in colors, (row, x, tally, pixel)
            assert abs(pixel[1] - sum(tally.values()) / length) < 0.02, (row, x, tally, length, pixel)
            checked += 1
    print("%d cells" % checked if checked > 100 else "only %d cells" % checked)


main()
