# SPDX-License-Identifier: BSD-3-Clause
"""Sums the time that threads spend inside of functions whose names begin with a word.

Limits: nested calls of such functions count once; reads with the otf2 module.

    group_time.py ARCHIVE/traces.otf2 PREFIX: prints CALLS SECONDS
"""
import sys

import otf2
from otf2.events import Enter, Leave


def main(path, prefix):
    """Prints the sum."""
    calls, ticks, depth, begin = 0, 0, {}, {}
    with otf2.reader.open(path) as trace:
        for location, event in trace.events:
            if not isinstance(event, (Enter, Leave)) or not event.region.name.startswith(prefix):
                continue
            if isinstance(event, Enter):
                calls += 1
                if not depth.get(location, 0):
                    begin[location] = event.time
                depth[location] = depth.get(location, 0) + 1
            else:
                depth[location] -= 1
                if not depth[location]:
                    ticks += event.time - begin[location]
        print(calls, ticks / trace.definitions.clock_properties.timer_resolution)


if __name__ == "__main__":
    main(*sys.argv[1:])
