# SPDX-License-Identifier: BSD-3-Clause
"""Compares an archive with what program.c says and what the driver ran: calls, how long commands took, messages.

usage: compare.py TRACE SAID RAN [lanes]; prints "same", or what differs
"""
import re
import sys

import otf2
from otf2.enums import LocationType
from otf2.events import Enter, Leave, MpiRecv, MpiSend

NAMES = {"copy": "Level Zero copy", "fill": "Level Zero fill", "_Z3addPfS_": "add(float*, float*)"}
TICK = 1e9 / 19200000
calls, sizes, ticks, ran = {}, [], [], []
for line in open(sys.argv[2], encoding="utf-8"):
    found = re.match(r"calls (.*) (\d+)$", line)
    if found:
        calls[found[1]] = calls.get(found[1], 0) + int(found[2])
    elif line.startswith("bytes "):
        sizes.append(int(line.split()[1]))
    elif line.startswith("ticks "):
        ticks.append(int(line.split()[1]))
wrong = []
for line in open(sys.argv[3], encoding="utf-8"):
    word = line.split()
    if word[0] == "ran":
        ran.append((NAMES.get(word[1], word[1]), int(word[2]), word[3], int(word[4])))
    else:
        wrong.append(line.strip())

seen, sent, received, host, device, places = {}, [], [], [], [], set()
with otf2.reader.open(sys.argv[1]) as trace:
    tick = 1e9 / trace.timer_resolution
    begun = {}
    for location, event in trace.events:
        on_device = location.type == LocationType.ACCELERATOR_STREAM
        if isinstance(event, Enter):
            seen[event.region.name] = seen.get(event.region.name, 0) + 1
            begun.setdefault(location, []).append(event)
        elif isinstance(event, Leave):
            first = begun[location].pop()
            attributes = dict((a.name, v) for a, v in (first.attributes or {}).items())
            span = (first.region.name, first.time * tick, event.time * tick, attributes.get("CORRELATION_ID"), location.name)
            (device if on_device else host).append(span)
            if on_device:
                places.add(location.name)
        elif isinstance(event, MpiSend):
            sent.append(event.msg_length)
        elif isinstance(event, MpiRecv):
            received.append(event.msg_length)

wrong += ["%s: %d in the archive, %d called" % (n, seen.get(n, 0), c) for n, c in calls.items() if seen.get(n, 0) != c]
calls_of = {c: (b, e) for n, b, e, c, l in host if c}
for name, begin, end, correlation, place in device:
    if correlation not in calls_of:
        wrong.append("%s: no call caused it" % name)
    elif begin < calls_of[correlation][0] - 20e3:
        wrong.append("%s: runs %.0f us before its call" % (name, (calls_of[correlation][0] - begin) / 1e3))
last = max(e for n, b, e, c, l in host)
wrong += ["%s: ends after the host's last call" % n for n, b, e, c, l in device if e > last + 20e3]

# All that the driver ran, with its times: one tick of the device more or less, and one of the archive.
def kind(name):
    """The driver does not know which way a copy goes."""
    return "Level Zero copy" if name.startswith("Level Zero copy") else name

real = sorted((b, kind(n), e - b) for n, b, e, c, l in device if n != "Level Zero barrier")
if len(real) != len(ran):
    wrong.append("%d commands in the archive, %d run" % (len(real), len(ran)))
left = {}
for b, n, length in real:
    left.setdefault(n, []).append((length, b))
base = None
for n, length, queue, start in sorted(ran, key=lambda r: r[1]):
    near = min(left.get(n, []), key=lambda m: abs(m[0] - length), default=None)
    if near is None or abs(near[0] - length) > 2 * TICK + 2 * tick:
        wrong.append("no %s took %d ns; next %s" % (n, length, near))
    else:
        left[n].remove(near)
# When they began, in order: the same distances but for how well the clocks agree.
starts, begins = sorted(r[3] for r in ran), [b for b, n, e in real]
if len(starts) == len(begins) and starts:
    apart = sorted((b - begins[0]) - (s - starts[0]) for s, b in zip(starts, begins))
    if apart[-1] - apart[0] > 300e3:
        wrong.append("times differ by %.0f us" % ((apart[-1] - apart[0]) / 1e3))
for t in ticks:
    if not any(abs((e - b) - t * TICK) <= 2 * TICK for n, b, e, c, l in device if n == "timed"):
        wrong.append("the program saw one of %d ticks" % t)
if sorted(sent) != sorted(received):
    wrong.append("sent %s, received %s" % (sorted(sent), sorted(received)))
if sorted(sent) != sorted(sizes):
    wrong.append("messages of %s bytes, not %s" % (sorted(sent), sorted(sizes)))
overlap = any(re.search(" lane ", p) for p in places)
if overlap != (len(sys.argv) > 4):
    wrong.append("lanes: %s" % sorted(places))
print("\n".join(wrong[:20]) or "same")
