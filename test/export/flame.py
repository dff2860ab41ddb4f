#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a flame graph with folded call stacks.

  flame.py FLAME.svg SKIP FOLDED [FOLDED OF THE OTHER]      SKIP: parts of the paths that were left out in the graph

Every path that is wide enough has the time of all stacks that begin with it, lies inside of its caller, and is as
wide as in the archive where it took more; and there is nothing else.

Limits: names without ": ".
"""
import re
import sys
import xml.etree.ElementTree
from collections import Counter

BAR, ROW, WIDTH = 16, 17, 1180
MARKUP = "{http://www.w3.org/2000/svg}"


def stacks(path, skip):
    """({path: ns in it and below}, {path: ns in it})"""
    inclusive, exclusive = Counter(), Counter()
    for line in open(path, encoding="utf-8"):
        names, ns = line.rsplit(" ", 1)
        names = ("all",) + tuple(names.split(";"))[skip:]
        exclusive[names] += int(ns)
        for length in range(1, len(names) + 1):
            inclusive[names[:length]] += int(ns)
    return inclusive, exclusive


def boxes(picture):
    """[(x, y, width, name, seconds, seconds of the other)]"""
    found = []
    for rect in xml.etree.ElementTree.parse(picture).getroot().iter(MARKUP + "rect"):
        title = rect.find(MARKUP + "title")
        if title is not None:
            name, one, two = re.match(r"(.*): (\S+) s, \S+ %(?:; in the other (\S+) s)?", title.text).groups()
            found.append((float(rect.get("x")), float(rect.get("y")), float(rect.get("width")), name, float(one),
                          float(two or 0)))
    return found


def main():
    picture, skip = sys.argv[1], int(sys.argv[2])
    (one, own), (two, others) = [stacks(p, skip) for p in sys.argv[3:5]] if len(sys.argv) > 4 else \
        [stacks(sys.argv[3], skip), (Counter(), Counter())]
    widths = Counter()
    for path in set(own) | set(others):
        for length in range(1, len(path) + 1):
            widths[path[:length]] += max(own[path], others[path])
    scale = WIDTH / widths[("all",)]
    wanted = {path: (one[path] / 1e9, two[path] / 1e9, width * scale) for path, width in widths.items() if width * scale > 0.3}
    open_boxes, seen = [], set()
    for x, y, width, name, seconds, other in boxes(picture):
        while open_boxes and open_boxes[-1][1] >= y:
            open_boxes.pop()
        path = tuple(b[3] for b in open_boxes) + (name,)
        assert path not in seen, path
        assert not open_boxes or (y == open_boxes[-1][1] + ROW and x >= open_boxes[-1][0] - 0.01 and
                                  x + width <= open_boxes[-1][0] + open_boxes[-1][2] + 0.6), path
        want = wanted[path]
        assert abs(seconds - want[0]) <= 1e-5 * want[0] and abs(other - want[1]) <= 1e-5 * want[1], (path, seconds, other, want)
        assert abs(width - want[2]) < 0.6, (path, width, want)
        seen.add(path)
        open_boxes.append((x, y, width, name))
    assert seen == set(wanted), set(wanted) ^ seen
    print("%d paths" % len(seen) if len(seen) > 5 else "only %d paths" % len(seen))


main()
