#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Computes a report's figures anew, with OTF2's Python module, and compares.

  expected.py ARCHIVE REPORT.json      a line "ok WHAT" or "not ok WHAT: ..." for each kind of figure

Limits: what is in nanoseconds must agree to the nanosecond; the archive's clock must tick in them.
"""
import collections
import json
import os
import sys

import otf2
from otf2.events import (Enter, IoOperationBegin, IoOperationComplete, Leave, MpiCollectiveBegin,
                         MpiCollectiveEnd, MpiIrecv, MpiIsend, MpiRecv, MpiSend, ThreadAcquireLock,
                         ThreadReleaseLock)

failed = 0


def compare(what, mine, theirs):
    global failed
    if mine == theirs:
        print(f"ok {what}: {len(mine)} rows")
        return
    failed = 1
    wrong = [(k, mine.get(k), theirs.get(k)) for k in set(mine) | set(theirs) if mine.get(k) != theirs.get(k)]
    print(f"not ok {what}: (key, expected, reported) {wrong[:4]}")


def ns(seconds):
    return round(seconds * 1e9)


class Location:
    """What is open on one location."""

    def __init__(self):
        self.stack = []
        self.collective = None
        self.operations = {}
        self.last = 0


def main():
    report = json.load(open(sys.argv[2]))
    regions = collections.defaultdict(lambda: [0, 0, 0])
    paths = collections.defaultdict(lambda: [0, 0, 0])
    sent = [0, 0]
    got = [0, 0]
    collectives = collections.defaultdict(lambda: [0, 0, 0, 0])
    files = collections.defaultdict(lambda: [0, 0, 0, 0])
    locks = collections.defaultdict(list)
    locations = collections.defaultdict(Location)
    first, last = None, 0

    def leave(at, time):
        region, begin, inside = at.stack.pop()
        span = time - begin
        path = tuple(r.name for r, _, _ in at.stack) + (region.name,)
        outermost = all(r is not region for r, _, _ in at.stack)
        for table, key, whole in ((regions, region.name, outermost), (paths, path, True)):
            table[key][0] += 1
            table[key][1] += span if whole else 0
            table[key][2] += span - inside
        if at.stack:
            at.stack[-1][2] += span

    with otf2.reader.open(os.path.join(sys.argv[1], "traces.otf2")) as trace:
        for location, event in trace.events:
            at = locations[location]
            time = event.time
            first = time if first is None else min(first, time)
            last = max(last, time)
            at.last = time
            if isinstance(event, Enter):
                at.stack.append([event.region, time, 0])
                at.held = any(a.name == "GPUTRACE::HELD_BY" for a in event.attributes or {})
            elif isinstance(event, Leave):
                leave(at, time)
            elif isinstance(event, (MpiSend, MpiIsend)):
                if event.communicator.group.paradigm != otf2.Paradigm.MPI:
                    continue
                sent[0] += 1
                sent[1] += event.msg_length
            elif isinstance(event, (MpiRecv, MpiIrecv)):
                if event.communicator.group.paradigm == otf2.Paradigm.MPI:
                    got[0] += 1
                    got[1] += event.msg_length
            elif isinstance(event, MpiCollectiveBegin):
                at.collective = time
            elif isinstance(event, MpiCollectiveEnd):
                one = collectives[str(event.collective_op).split(".")[-1].lower().replace("_", " "), event.communicator._ref]
                one[0] += 1
                one[1] += time - at.collective
                one[2] += event.size_sent
                one[3] += event.size_received
            elif isinstance(event, IoOperationBegin):
                at.operations[event.handle._ref, event.matching_id] = (str(event.mode).split(".")[-1], time)
            elif isinstance(event, IoOperationComplete):
                mode, begin = at.operations.pop((event.handle._ref, event.matching_id))
                if mode in ("READ", "WRITE"):
                    one = files[event.handle.file.name]
                    one[0 if mode == "READ" else 2] += 1
                    one[1 if mode == "READ" else 3] += event.bytes_result
            elif isinstance(event, ThreadAcquireLock):
                called = at.stack[-1][1] if at.stack and "lock" in at.stack[-1][0].name else time
                known = at.held and bool(at.stack) and at.stack[-1][1] == called
                locks[location.group._ref, event.lock_id].append([called, time, sys.maxsize, location, known])
            elif isinstance(event, ThreadReleaseLock):
                hold = [h for h in locks[location.group._ref, event.lock_id] if h[3] is location and h[2] == sys.maxsize]
                if hold:
                    hold[-1][2] = time
    for at in locations.values():
        while at.stack:
            leave(at, at.last)

    compare("regions", {k: tuple(v) for k, v in regions.items()},
            {r["name"]: (r["count"], ns(r["inclusive_s"]), ns(r["exclusive_s"])) for r in report["regions"]})
    nodes = {n["id"]: n for n in report["call_tree"]}

    def path_of(node):
        above = path_of(nodes[node["parent"]]) if node["parent"] is not None else ()
        return above + (node["name"],)
    compare("call tree", {k: tuple(v) for k, v in paths.items()},
            {path_of(n): (n["count"], ns(n["inclusive_s"]), ns(n["exclusive_s"])) for n in nodes.values()})
    messages = report["messages"]
    compare("messages", {"sent": tuple(sent), "received": tuple(got)},
            {"sent": (messages.get("count", 0), messages.get("bytes", 0)),
             "received": (messages.get("received", 0), messages.get("received_bytes", 0))})
    compare("sums of messages", {"matrix": tuple(sent), "sizes": tuple(sent), "mpi": tuple(sent)},
            {"matrix": (sum(m["count"] for m in messages["matrix"]), sum(m["bytes"] for m in messages["matrix"])),
             "sizes": (sum(m["count"] for m in messages["sizes"]), sum(m["bytes"] for m in messages["sizes"])),
             "mpi": (sum(m["sent"] for m in report["mpi"]), sum(m["sent_bytes"] or 0 for m in report["mpi"]))})
    compare("collectives", {k: tuple(v) for k, v in collectives.items()},
            {(c["name"].replace("_", " "), c["communicator_id"]):
             (c["count"], ns(c["seconds"]), c["sent_bytes"], c["received_bytes"]) for c in report["collectives"]})
    compare("files", {k: tuple(v) for k, v in files.items()},
            {f["name"]: (f["reads"], f["read_bytes"], f["writes"], f["written_bytes"])
             for f in report["files"] if f["reads"] or f["writes"]})
    everything = any("unlock" in name for name in regions)
    waits = [acquired - called for holds in locks.values() for called, acquired, _, waiter, known in holds
             if known or (not everything and acquired - called >= 1000) or
             any(other is not waiter and min(end, acquired) > max(begin, called) for _, begin, end, other, _ in holds)]
    compare("locks", {"acquired": sum(map(len, locks.values())), "waited": sum(waits), "waits": len(waits)},
            {"acquired": sum(one["acquisitions"] for one in report["locks"]),
             "waited": sum(ns(one["wait_s"]) for one in report["locks"]),
             "waits": sum(one["waits"] for one in report["locks"])})
    return failed


sys.exit(main())
