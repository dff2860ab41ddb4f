# SPDX-License-Identifier: BSD-3-Clause
"""whatif.py DIR SHAPE CHANGE PREDICTION [SAME]: is what `gputrace whatif --json` said of a program right?

Prints "ok" or "not ok" with each claim. How long the changed program (whatif.c) takes follows from how long
each call took and from the shape, which is written down here once more, without segments, causes or replay.
SAME is what was said of a change that changes nothing.

Limits: what a busy machine adds between calls is taken to stay as it is.
"""
import json
import re
import sys

import otf2

ROOM, NEAR, LEAST = 2, 0.03, 0.01


class Calls:
    """How long each call of a function took, in seconds, by function and location, in order."""

    def __init__(self, folder):
        self.of = {}
        open_calls = {}
        with otf2.reader.open(folder + "/traces.otf2") as trace:
            tick = trace.timer_resolution
            for location, event in trace.events:
                stack = open_calls.setdefault(location, [])
                if isinstance(event, otf2.events.Enter):
                    stack.append((event.region.name, event.time))
                elif isinstance(event, otf2.events.Leave):
                    name, begin = stack.pop()
                    self.of.setdefault(name, {}).setdefault(location, []).append(
                        ((event.time - begin) / tick, begin / tick))

    def times(self, name):
        """Of all locations, one list each, in the order of their first calls."""
        lists = sorted(self.of.get(name, {}).values(), key=lambda calls: calls[0][1])
        return [[took for took, _ in calls] for calls in lists]

    def every(self, name):
        """How long each took and when it began, of all locations."""
        return sorted((call for calls in self.of.get(name, {}).values() for call in calls),
                      key=lambda call: call[1])

    def one(self, name):
        """The same of a function that one location calls."""
        return (self.times(name) or [[]])[0]


def locks(calls, a, b):
    """Three threads, in the order in which they got the lock."""
    turns = []
    for location, inside in calls.of["second"].items():
        outside = calls.of["first"][location]
        turns += [(begin, location, out, into) for (into, begin), (out, _) in zip(inside, outside)]
    free, there = 0, {}
    for _, location, outside, inside in sorted(turns, key=lambda turn: turn[0]):
        start = max(free, there.get(location, 0) + a * outside)
        free = there[location] = start + b * inside
    return max(there.values())


def stages(calls, a, b):
    """The consumer has what was produced; the producer has room."""
    made, used = [], []
    for i, (first, second) in enumerate(zip(calls.one("first"), calls.one("second"))):
        made.append(max(made[-1] if made else 0, used[i - ROOM] if i >= ROOM else 0) + a * first)
        used.append(max(used[-1] if used else 0, made[i]) + b * second)
    return used[-1]


def chain(calls, a, b):
    """Each rank works on what the one before has sent."""
    ranks, last = sorted(calls.of["first"].items(), key=lambda item: item[1][0][1]), None
    for location, work in ranks:
        there, now = [], 0
        tail = calls.of.get("second", {}).get(location)
        for i, (took, _) in enumerate(work):
            now = max(now, last[i] if last else 0) + a * took
            there.append(now)
            now += b * tail[i][0] if tail else 0
        last = there[:-1] + [now]
    return last[-1]


def both(calls, a, b, c, starts):
    """Rounds of what is serial and the longer one of two; `starts`: the second begins later, as it did."""
    first, second = calls.every("first"), calls.every("second")
    late = [max(0, of[1] - by[1]) if starts else 0 for by, of in zip(first, second)]
    return c * sum(calls.one("third")) + sum(
        max(a * by[0], wait + b * of[0]) for by, of, wait in zip(first, second, late))


def ranks(calls, a, b):
    """Rank 0 calls first(), all others second(); each round is as long as the longest."""
    others = zip(*calls.times("second"))
    return sum(max([a * first] + [b * x for x in more]) for first, more in zip(calls.one("first"), others))


SHAPES = {
    "serial": lambda calls, a, b, c: a * sum(calls.one("first")) + b * sum(calls.one("second")),
    "nested": lambda calls, a, b, c: a * sum(calls.one("first")) + b * sum(calls.one("second")) +
    c * sum(calls.one("third")),
    "threads": lambda calls, a, b, c: both(calls, a, b, c, True),
    "barriers": lambda calls, a, b, c: both(calls, a, b, c, False),
    "children": lambda calls, a, b, c: both(calls, a, b, c, True),
    "locks": lambda calls, a, b, c: locks(calls, a, b),
    "stages": lambda calls, a, b, c: stages(calls, a, b),
    "ranks": lambda calls, a, b, c: ranks(calls, a, b),
    "chain": lambda calls, a, b, c: chain(calls, a, b),
}
# Nobody waits there for what nobody is known to have done.
KNOWN = ("serial", "nested", "threads", "barriers", "children")
# Functions with what is called in them.
INSIDE = {"outer": "ab", "beside": "b", "critical": "ab"}


def factors(change, calls, said):
    """Of first(), second() and third()."""
    if change == "rank 0=mean":
        return {"a": said["changes"][0]["factor"]}
    name, factor = re.fullmatch(r"(\w+)[=*]([\d.]+)", change).groups()
    functions = INSIDE.get(name) or {"first": "a", "second": "b", "third": "c"}[name]
    return dict.fromkeys(functions, float(factor))


def main():
    """Prints all claims."""
    folder, shape, change = sys.argv[1:4]
    some, shape = shape.startswith("some_"), shape.removeprefix("some_")
    with open(sys.argv[4], encoding="utf-8") as file:
        said = json.load(file)
    calls = Calls(folder)

    def claim(holds, text, *figures):
        print("ok" if holds else "not ok", f"{shape}, {change}: {text}", *(figures if not holds else ()))

    def takes(**new):
        return SHAPES[shape](calls, **{"a": 1, "b": 1, "c": 1, **new})

    if change == "rank 0=mean":  # what threads of MPI's own do is work, too
        work = [sum(calls.one("first"))] + [sum(x) for x in calls.times("second")]
        right = sum(work) / len(work) / work[0]
        claim(right - 0.05 < said["changes"][0]["factor"] < right + 0.2, "the mean is that of ranks", said, right)
    want = said["duration_s"] - takes() + takes(**factors(change, calls, said))
    near = max(NEAR * want, LEAST)
    if some:
        claim(said["high_s"] == said["duration_s"], "it may be as long as it was", said)
    elif not some:
        claim(abs(said["predicted_s"] - want) <= near, "as long as its calls say", said["predicted_s"], want)
    claim(said["low_s"] <= said["predicted_s"] <= said["high_s"], "it is between the bounds", said)
    claim(said["low_s"] - near <= want <= said["high_s"] + near, "the bounds are right", want, said)
    if shape in KNOWN:
        claim(said["high_s"] - said["low_s"] <= near / 10, "everything is known", said)
    path = sum(row["seconds"] for row in said["critical_path"])
    claim(abs(path - said["predicted_s"]) < 1e-6, "the path is as long as the run", path, said["predicted_s"])
    own = {row["region"]: row["seconds"] for row in said["critical_path"]}
    if shape in ("serial", "nested"):
        new = factors(change, calls, said).get("a", 1) * sum(calls.one("first"))
        claim(abs(own.get("first", 0) - new) <= near, "first() has its new time there", own, new)
    waits = sum(own.get(name, 0) for name in ("pthread_join", "sem_wait", "pthread_barrier_wait", "waitpid",
                                              "pthread_mutex_lock", "MPI_Recv", "MPI_Allreduce"))
    claim(some or waits <= 0.1 * said["predicted_s"], "what it waits for is on the path, not the wait", own)
    if len(sys.argv) > 5:
        with open(sys.argv[5], encoding="utf-8") as file:
            same = json.load(file)
        claim(len({same[key] for key in ("duration_s", "predicted_s", "low_s", "high_s")}) == 1,
              "what changes nothing changes nothing", same)


main()
