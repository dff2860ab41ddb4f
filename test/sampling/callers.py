#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The call paths that python3-otf2 finds in an archive.

    callers.py ARCHIVE LEAST [FUNCTION...]

Prints what is wrong: calls that took more than four times LEAST microseconds and have no CALL_PATH, those of
a quarter of it that have one (LEAST 0: any), unless they have a CORRELATION_ID or are no calls of a library;
and then, for each region and path, "N REGION: OUTER > ... > INNER", of which only the given functions, and
the innermost line, where that is known."""
import collections
import sys

import otf2
from otf2.enums import Paradigm, RegionRole
from otf2.events import Enter, Leave

from contexts import path_of

archive, least = sys.argv[1], 1000 * int(sys.argv[2])
shown = sys.argv[3:]


found = collections.Counter()
with otf2.reader.open(archive) as trace:
    ns = 1e9 / trace.definitions.clock_properties.timer_resolution
    attributes = {a.name: a for a in trace.definitions.attributes}
    stacks = collections.defaultdict(list)
    seen = set()
    for location, event in trace.events:
        if isinstance(event, Enter):
            stacks[location].append(event)
        if not isinstance(event, Leave):
            continue
        begun = stacks[location].pop()
        path = event.attributes.get(attributes.get("CALL_PATH")) if event.attributes else None
        launch = "CORRELATION_ID" in {a.name for a in begun.attributes or {}}
        took = (event.time - begun.time) * ns
        region = event.region
        call = region.paradigm != Paradigm.COMPILER and region.region_role not in (
            RegionRole.CODE, RegionRole.ARTIFICIAL) and "ACCELERATOR" not in str(location.type)
        if call and path is None and least and (took > 4 * least or launch):
            print(f"{region.name} took {took / 1000:.0f} us and has no call path")
        early = location not in seen  # its begin may lie before what was recorded of the thread
        seen.add(location)
        if path is not None and (not call or (not launch and (not least or took < least / 4 and not early))):
            print(f"{region.name} took {took / 1000:.0f} us and has a call path")
        if path is None:
            continue
        nodes = path_of(path)
        names = [n.region.name for n in nodes]
        if names[-1] in shown:
            line = nodes[-1].source_code_location
            names = [n for n in names if n in shown]
            found[f"{region.name}: {' > '.join(names)}" + (f" {line.line_number}" if line else "")] += 1
for what, n in sorted(found.items()):
    print(n, what)
