#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a run and its report tell the same: agree.py SUMMARY REPORT, both JSON.

Prints one line for each difference. Of findings those are compared that both have rules for; the summary keeps
three, so one that is not there is a difference only if there was room, and it counts time and calls beyond what a
rule of the report leaves out, so seconds may differ by a tenth.
Limits: of one host; efficiencies of GPUs may be in the report only where several have made an archive, or
none ran a kernel.
"""
import json
import sys

COMMON = {"late-rank", "n-x-n", "flushes", "tiny-messages", "polling", "lock-convoy", "thread-creation", "tiny-writes",
          "costly-function", "blocking-copy", "pageable-copy", "no-overlap", "tiny-kernels", "gpu-gaps", "sync-each-launch",
          "gpu-memory", "one-stream", "unbalanced-gpus"}


def near(a, b, relative=1e-6, absolute=2e-6):
    return abs(a - b) <= max(absolute, relative * max(abs(a), abs(b)))


def by_name(regions):
    sums = {}
    for r in regions:
        own = sums.setdefault(r["name"], [0, 0, 0, 0])
        for i, key in enumerate(("count", "inclusive_s", "exclusive_s", "idle_s")):
            own[i] += r[key] or 0
    return sums


def findings(brief, whole):
    mine, theirs = ({f["id"]: f for f in report["findings"] if f["id"] in COMMON} for report in (brief, whole))
    for name in sorted(set(mine) | set(theirs)):
        f, g = mine.get(name), theirs.get(name)
        if f and not g:
            yield "finding of the summary only", f
        elif g and not f:
            if len(brief["findings"]) < 3:
                yield "finding of the report only", g
        elif not near(f["seconds"], g["seconds"], 0.1):
            yield "finding", f, g


def differences(brief, whole):
    if not near(brief["duration_s"], whole["duration_s"]):
        yield "duration", brief["duration_s"], whole["duration_s"]
    for key in ("processes", "threads"):
        if brief[key] != whole[key] + (whole["service_threads"] or 0 if key == "threads" else 0):
            yield key, brief[key], whole[key]
    if brief["streams"] != (whole["streams"] or 0):
        yield "streams", brief["streams"], whole["streams"]
    e, f = brief["efficiencies"], whole["efficiencies"] or {}
    if e.get("left_out") != f.get("left_out"):
        yield "left_out", e.get("left_out"), f.get("left_out")
    for key in sorted((set(e) | set(f)) - {"lanes", "seen", "left_out"}):
        if e.get(key) is None and (f[key] is None or (key.startswith("device_") and not f["device_parallel_efficiency"])):
            continue
        if None in (e.get(key), f.get(key)) or not near(e[key], f[key], 0, 0.01):
            yield key, e.get(key), f.get(key)
    regions = by_name(whole["regions"])
    for name, own in by_name(brief["regions"]).items():
        other = regions.get(name)
        if not other or own[0] != other[0] or not all(near(a, b) for a, b in zip(own[1:], other[1:])):
            yield name, own, other
    sent = whole["messages"] or {}
    for key in ("count", "bytes"):
        if brief["messages"][key] != (sent.get(key) or 0):
            yield "messages", key, brief["messages"][key], sent.get(key)
    for key in ("events", "events_left_out", "flushes", "flush_s"):
        if not near(brief["losses"][key], whole["losses"][key]):
            yield "losses", key, brief["losses"][key], whole["losses"][key]
    if brief["losses"]["shortfalls"] != whole["losses"]["shortfalls"]:
        yield "shortfalls", brief["losses"]["shortfalls"], whole["losses"]["shortfalls"]
    copied = {}
    for copy in whole["copies"] or []:
        own = copied.setdefault(copy["direction"], [0, 0])
        own[0] += copy["count"]
        own[1] += copy["bytes"]
    copied.pop("set", None)
    if {c["direction"]: [c["count"], c["bytes"]] for c in brief["copies"]} != copied:
        yield "copies", brief["copies"], copied
    yield from findings(brief, whole)


with open(sys.argv[1], encoding="utf-8") as first, open(sys.argv[2], encoding="utf-8") as second:
    for difference in differences(json.load(first), json.load(second)):
        print(*difference)
