# SPDX-License-Identifier: BSD-3-Clause
"""Names in the radial charts of gputrace flow --svg: names.py PICTURE prints how many there are, and how many pairs
of them hide each other, at 6 pixels a letter.

Limits: none.
"""
import itertools
import sys
import xml.etree.ElementTree

boxes = []
for text in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}text"):
    if text.get("text-anchor") in ("start", "end") and ", stream " in (text.text or ""):
        width, x, y = 6 * len(text.text), float(text.get("x")), float(text.get("y"))
        boxes.append((x if text.get("text-anchor") == "start" else x - width, width, y))
pairs = itertools.combinations(boxes, 2)
print(len(boxes), sum(abs(a[2] - b[2]) < 11.9 and a[0] < b[0] + b[1] and b[0] < a[0] + a[1] for a, b in pairs))
