# SPDX-License-Identifier: BSD-3-Clause
"""Inclusive and exclusive sums of each synchronous metric for each region, and what the archive says of metrics.

    sums.py TRACES.OTF2     lines "METRIC<tab>REGION<tab>CALLS<tab>INCLUSIVE<tab>EXCLUSIVE", and
                            "alone N": readings that have no enter or leave of their time behind them

Limits: accumulated metrics; a reading that is missing counts as the one before it.
"""
import sys
from collections import defaultdict

import otf2
from otf2.events import Enter, Leave, Metric

sums = defaultdict(lambda: [0, 0, 0])
values = defaultdict(dict)
stacks = defaultdict(list)
pending = {}
alone = 0
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        if isinstance(event, Metric):
            metric = event.metric
            members = getattr(metric, "metric_class", metric).members
            if str(location.type).endswith("METRIC"):
                continue
            alone += pending.get(location, event.time) != event.time
            pending[location] = event.time
            for member, value in zip(members, event.values):
                values[location][member.name] = value
        elif isinstance(event, (Enter, Leave)):
            alone += pending.pop(location, event.time) != event.time
            now = dict(values[location])
            if isinstance(event, Enter):
                stacks[location].append((event.region.name, now, defaultdict(int)))
                continue
            region, begin, children = stacks[location].pop()
            for name, value in now.items():
                inclusive = value - begin.get(name, 0)
                total = sums[name, region.split("(")[0]]
                total[0] += 1
                total[1] += inclusive
                total[2] += inclusive - children[name]
                if stacks[location]:
                    stacks[location][-1][2][name] += inclusive
for (name, region), total in sorted(sums.items()):
    print(name, region, *total, sep="\t")
print("alone", alone, sep="\t")
