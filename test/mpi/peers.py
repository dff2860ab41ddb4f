#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do others count the same? Compares a report's totals with those of another profiler of OTF2.

  peers.py profiler DUMP.json REPORT.json   the call tree that otf-profiler --json --datadump writes
  peers.py pipit ARCHIVE REPORT.json        what Pipit finds

Compared for each region: calls, and exclusive time within a nanosecond for each call and 100 (Pipit has floating
point numbers, otf-profiler the archive's ticks); and messages with their bytes.

Limits: they know no service threads, so archives have to be without.
"""
import collections
import json
import sys
import warnings


def of_report(path):
    with open(path, encoding="utf-8") as f:
        report = json.load(f)
    regions = collections.defaultdict(lambda: [0, 0])
    for row in report["regions"]:
        regions[row["name"]][0] += row["count"]
        regions[row["name"]][1] += round(row["exclusive_s"] * 1e9)
    messages = report["messages"]
    return regions, [messages.get("count") or 0, messages.get("bytes") or 0]


def of_profiler(path):
    with open(path, encoding="utf-8") as f:
        dump = json.load(f)
    names = {region["region_id"]: region["name"] for region in dump["Definitions"]["regions"]}
    factor = 1e9 / dump["meta_data"]["timerResolution"]
    regions, messages = collections.defaultdict(lambda: [0, 0]), [0, 0]
    pending = list(dump["call_tree"]["root_nodes"])
    while pending:
        node = pending.pop()
        pending += node["children"] or []
        for data in node["node_data"]:
            own = regions[names[node["region_id"]]]
            own[0] += data["f_data"]["count"]
            own[1] += data["f_data"]["excl_time"] * factor
            messages[0] += data["m_data"]["count_send"]
            messages[1] += data["m_data"]["bytes_send"]
    return regions, messages


def of_pipit(path):
    warnings.simplefilter("ignore")
    import pipit

    trace = pipit.Trace.from_otf2(path, num_processes=1)
    trace.calc_exc_metrics()
    events = trace.events
    regions = {}
    for name, group in events[events["Event Type"] == "Enter"].groupby("Name", observed=True):
        regions[name] = [len(group), group["time.exc"].sum()]
    sends = events[events["Name"].isin(["MpiSend", "MpiIsend"])]
    return regions, [len(sends), sum(a["msg_length"] for a in sends["Attributes"])]


def main():
    how, source, report = sys.argv[1:]
    ours, our_messages = of_report(report)
    theirs, messages = of_profiler(source) if how == "profiler" else of_pipit(source)
    wrong = [(name, ours.get(name), theirs.get(name)) for name in sorted(set(ours) | set(theirs))
             if name not in ours or name not in theirs or ours[name][0] != theirs[name][0]
             or abs(ours[name][1] - theirs[name][1]) > 100 + ours[name][0]]
    if messages != our_messages:
        wrong.append(("messages", our_messages, messages))
    print(f"differ: {wrong[:4]}" if wrong else f"equal: {len(ours)} regions, {messages[0]} messages")


main()
