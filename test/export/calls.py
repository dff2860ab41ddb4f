#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Score-P's layout asks of an archive, and what its calls and samples were before.

  calls.py EXPORT ORIGINAL

Prints a line for each event that is not as it should be. In EXPORT no call is a plain Enter or Leave; each is
at a node whose path, without lines, is that of the open calls; a sample is below them, in the function and
line in which it was; and unwind distances lead to nodes that the path before has, too. Both have the same
calls and samples at the same times.
"""
import os
import sys

import otf2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sampling"))
from contexts import path_of  # noqa: E402

PLAIN = (otf2.events.Enter, otf2.events.Leave)
CALLS = (otf2.events.CallingContextEnter, otf2.events.CallingContextLeave)


def is_below(path, calls):
    """The innermost call may be in it by a node with a line."""
    regions = [node.region for node in path[:len(calls)]]
    return not calls or path[:len(calls) - 1] == calls[:-1] and regions == [node.region for node in calls]


def look(name, event, calls, before):
    """`before`: the path before the event, or None. Returns the one after it."""
    path = path_of(event.calling_context)
    if isinstance(event, CALLS[1]):
        if not calls or calls.pop() is not path[-1]:
            print(name, "leaves a node that it is not in")
        return path[:-1]
    kept = path[:len(path) - event.unwind_distance + 1]
    if before is not None and before[:len(kept)] != kept:
        print(name, event.time, "unwind distance", event.unwind_distance, "from", len(before), "to",
              len(path))
    if isinstance(event, CALLS[0]):
        if path[:-1] != calls:
            print(name, event.time, "is not below the open calls")
        calls.append(path[-1])
    elif not is_below(path, calls):
        print(name, event.time, "a sample is not below the open calls")
    return path


def events(anchor, looks=None):
    """(location, time, kind, function, line) of calls and samples."""
    found, calls, before = [], {}, {}
    with otf2.reader.open(anchor) as trace:
        for location, event in trace.events:
            name = f"{location.group.name}/{location.name}"
            if isinstance(event, PLAIN):
                found.append((name, event.time, type(event).__name__, event.region.name))
                if looks:
                    print(name, event.time, "a plain call")
                continue
            if not isinstance(event, CALLS + (otf2.events.CallingContextSample,)):
                continue
            node = event.calling_context
            source = node.source_code_location
            kind = type(event).__name__.removeprefix("CallingContext")
            found.append((name, event.time, kind, node.region.name) +
                         ((source and (source.file, source.line_number),) if kind == "Sample" else ()))
            if looks:
                before[name] = look(name, event, calls.setdefault(name, []), before.get(name))
    return sorted(found, key=str)


export, original = events(sys.argv[1], True), events(sys.argv[2])
for one, other in zip(export, original):
    if one != other:
        print("not the same:", one, other)
if len(export) != len(original):
    print(len(export), "events, not", len(original))
if not original:
    print("there are none")
