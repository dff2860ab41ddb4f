#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares an archive with what fake.c has called, or counts.c has counted in another run of the program.

  otf2-marker ANCHOR | compare.py ANCHOR COUNTS [canonical]        prints "same", or what differs

canonical: by the names that Kokkos gave, without looking for messages between memory spaces. Kokkos frees what
is its own after it has called a tool for the last time.

Also: each kernel says in which execution space it ran, messages of deep copies arrive with their bytes, a
space's bytes in use are 0 at the end and were at most what its other metric says.

Limits: needs python3-otf2.
"""
import re
import sys
from collections import Counter

import otf2
from otf2 import events as E


def main():
    anchor, counts = sys.argv[1:3]
    canonical = sys.argv[3:] == ["canonical"]
    wanted, found, sent, received = Counter(), Counter(), Counter(), Counter()
    spaces, wrong = {}, []
    for line in open(counts, encoding="utf-8"):
        wanted[tuple(line.rstrip("\n").split("\t"))] += 1
    with otf2.reader.open(anchor) as trace:
        groups = {region: group.name for group in trace.definitions.groups if group.group_type == otf2.GroupType.REGIONS
                  for region in group.members}
        kernel = {}  # of a location: one that has not said its space
        for location, event in trace.events:
            at = "%s/%s" % (location.group.name, location.name)
            if isinstance(event, E.Enter):
                group = groups.get(event.region, "")
                if group.startswith("Kokkos"):
                    name = re.sub("(^|/)_Z", r"\1", event.region.canonical_name) if canonical else event.region.name
                    found[group, name] += 1
                    kernel[at] = event.region.name if "parallel" in group or "fence" in group else None
            elif isinstance(event, E.ParameterString) and event.parameter.name == "KOKKOS_SPACE":
                kernel[at] = None
            elif isinstance(event, E.Leave) and kernel.get(at):
                wrong.append("no space: " + kernel[at])
            elif isinstance(event, E.MpiSend):
                sent[event.msg_tag, location.group.name, event.msg_length] += 1
                if not canonical:
                    found["message", location.name.replace("Kokkos space ", "")] += 1
            elif isinstance(event, E.MpiRecv):
                received[event.msg_tag, location.group.name, event.msg_length] += 1
            elif isinstance(event, E.Metric):
                name = event.metric.members[0].name
                if name.startswith("Kokkos"):
                    spaces.setdefault((at, "most" in name), []).append(event.values[0])
    for line in sys.stdin:
        if line.startswith("MARKER ") and "Text:" in line:
            found["mark", line.split('"')[1]] += 1
    wrong += ["%s %s: %d, not %d" % (*key, found[key], wanted[key]) for key in sorted(set(wanted) | set(found))
              if found[key] != wanted[key]]
    if sent != received and not canonical:
        wrong.append("messages")
    for (at, most), values in spaces.items():
        if most and max(values) != max(spaces[at, False]) or not most and values[-1] and not canonical:
            wrong.append("bytes in " + at)
    print("; ".join(wrong) or "same")


main()
