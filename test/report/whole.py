#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What holds for the report of every archive: whole.py JSON.

The critical path is as long as the run, and no location has more of it than there is; shares are at most 1.
Classes of time add up to the time of each location; nobody waited longer than it was there, and no cause cost more
than was waited. Without a region the run is not shorter by more than what the path has of it.
"""
import json
import sys


def ns(seconds):
    return round(1e9 * (seconds or 0))


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        report = json.load(f)
    path = sum(ns(row["seconds"]) for row in report["critical_path"])
    if path != ns(report["duration_s"]):
        sys.exit("the critical path has %d ns of %d" % (path, ns(report["duration_s"])))
    for row in report["critical_path"]:
        if ns(row["gain_s"]) > ns(row["seconds"]):
            sys.exit("%s: a gain of %d ns from %d" % (row["region"], ns(row["gain_s"]), ns(row["seconds"])))
    for table in "critical_path", "critical_path_locations", "regions", "samples":
        for row in report[table]:
            if not 0 <= (row["share"] or 0) <= 1 + 1e-9:
                sys.exit("%s: a share of %g" % (table, row["share"]))
    for row in report["critical_path_locations"]:
        times = [key for key in row if key.endswith("_s") or key == "seconds"]
        for key in times:
            if not 0 <= ns(row[key]) <= ns(report["duration_s"]):
                sys.exit("%s: %s of %d ns on the path" % (row["location"], key, ns(row[key])))
    path = sum(ns(row["seconds"]) for row in report["critical_path_locations"])
    if path > ns(report["duration_s"]):
        sys.exit("locations have %d ns of the critical path's %d" % (path, ns(report["duration_s"])))
    life, waited = {}, {}
    for row in report["locations"]:
        classes = sum(ns(row[key]) for key in row if key.endswith("_s") and key not in ("begin_s", "duration_s"))
        life[row["name"]] = max(life.get(row["name"], 0), ns(row["duration_s"]))
        if classes != ns(row["duration_s"]):
            sys.exit("%s: classes of time have %d ns of %d" % (row["name"], classes, ns(row["duration_s"])))
    for row in report["waits"]:
        waited[row["location"]] = waited.get(row["location"], 0) + ns(row["seconds"])
    for name, time in waited.items():
        if list(life).count(name) == 1 and time > life[name]:
            sys.exit("%s waited %d ns of %d" % (name, time, life[name]))
    costs = sum(ns(row["seconds"]) for row in report["delays"])
    if costs > sum(waited.values()) + 10 * len(report["delays"]):
        sys.exit("%d ns of waits have causes of %d" % (sum(waited.values()), costs))


main()
