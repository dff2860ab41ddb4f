# SPDX-License-Identifier: BSD-3-Clause
"""Compares an archive with what program.c says: calls, when kernels ran, messages; the device's time with the host's.

usage: compare.py TRACE SAID; prints "same", or what differs
"""
import re
import sys

import otf2
from otf2.enums import LocationType
from otf2.events import Enter, Leave, MpiRecv, MpiSend

calls, ran = {}, []
for line in open(sys.argv[2], encoding="utf-8"):
    found = re.match(r"calls (.*) (\d+)$", line)
    if found:
        calls[found[1]] = calls.get(found[1], 0) + int(found[2])
    found = re.match(r"ran (\d+) (\d+)$", line)
    if found:
        ran.append(int(found[2]) - int(found[1]))

seen, spans, sent, received, host, device = {}, [], [], [], [], []
with otf2.reader.open(sys.argv[1]) as trace:
    tick = 1e9 / trace.timer_resolution
    begun = {}
    for location, event in trace.events:
        on_device = location.type == LocationType.ACCELERATOR_STREAM
        if isinstance(event, Enter):
            name = event.region.name
            seen[name] = seen.get(name, 0) + 1
            begun.setdefault(location, []).append((event, dict((a.name, v) for a, v in (event.attributes or {}).items())))
        elif isinstance(event, Leave):
            first, attributes = begun[location].pop()
            name = first.region.name
            span = (name, first.time * tick, event.time * tick, attributes.get("CORRELATION_ID"))
            (device if on_device else host).append(span)
        elif isinstance(event, MpiSend):
            sent.append(event.msg_length)
        elif isinstance(event, MpiRecv):
            received.append(event.msg_length)

wrong = ["%s: %d in the archive, %d called" % (n, seen.get(n, 0), c) for n, c in calls.items() if seen.get(n, 0) != c]
calls_of = {c: (b, e) for n, b, e, c in host if c}
for name, begin, end, correlation in device:
    if correlation not in calls_of:
        wrong.append("%s: no call caused it" % name)
    elif begin < calls_of[correlation][0] - 20e3:
        wrong.append("%s: runs %.0f us before it is enqueued" % (name, (calls_of[correlation][0] - begin) / 1e3))
last = max(e for n, b, e, c in host)
wrong += ["%s: ends after the host's last call" % n for n, b, e, c in device if e > last + 20e3]
# The queue that the program profiles itself: the 50 first ones of `add`.
if ran:
    mine = sorted(e - b for n, b, e, c in sorted(device, key=lambda d: d[3]) if n == "add")
    for theirs in sorted(ran):
        near = min(mine, key=lambda m: abs(m - theirs))
        if abs(near - theirs) > 500 + theirs / 1000:  # the clocks may be compared between begin and end
            wrong.append("no kernel took %d ns; next %.0f" % (theirs, near))
        mine.remove(near)
if sorted(sent) != sorted(received):
    wrong.append("sent %s, received %s" % (sent, received))
if ran and sorted(sent) != sorted([4 * 4096] * 5 + [512]):
    wrong.append("messages of %s bytes" % sorted(sent))
print("\n".join(wrong) or "same")
