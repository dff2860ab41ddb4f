#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is what a page holds what is in the archive?

  equal.py PAGE TABLES REPORT FLOW ARCHIVE     the page, the folder of `gputrace export --csv`, the JSON of the
                                               report and of `gputrace flow`

Every call is in the page once, exactly; the sums of each level are those of the calls; buckets have as many as are
below them; messages, launches, values, waits and the critical path are there.
"""
import collections
import csv
import json
import os
import sys

import tiles

failures = []


def claim(name, got, want):
    if got != want:
        failures.append("%s: %s, not %s" % (name, str(got)[:300], str(want)[:300]))


def table(folder, name):
    with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def spans_of(page, kind, row):
    return collections.Counter(span for _, level, tile, data in page.each(kind, row)
                               for span in tiles.spans(page.meta, level, tile, data)[0])


def inclusive_times(calls):
    """By region of calls (begin, end, region, depth) of one row: a region that calls itself is counted once."""
    sums, ends = collections.Counter(), {}
    for begin, end, region, depth in sorted(calls, key=lambda call: (call[0], call[3])):
        begin = max(begin, ends.get(region, 0))
        if end > begin:
            sums[region] += end - begin
            ends[region] = end
    return sums


def check_calls(page, calls, rows, regions):
    want, by_row = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for call in calls:
        row, region = rows[call["thread"]], regions[call["region"]]
        want[row][int(call["begin_ns"]), int(call["end_ns"]), region, int(call["depth"])] += 1
        by_row[row][region] += int(call["self_ns"])
        by_row[row][region, "calls"] += 1
    for row, of in enumerate(page.meta["rows"]):
        got = spans_of(page, tiles.CALLS, row)
        claim("calls of row %d" % row, got if of["exact"] else got & want[row], want[row] if of["exact"] else got)
        claim("row %d is exact" % row, of["exact"] or of["events"] >= 1 << 17, True)
        for level in range(min(of["sums"], page.meta["page_levels"])):
            sums = page.sums(level, {row})
            claim("self times of row %d, level %d" % (row, level), {r: v[1] for r, v in sums.items() if v[1]},
                  {r: n for r, n in by_row[row].items() if not isinstance(r, tuple) and n})
            claim("calls of row %d, level %d" % (row, level), {r: v[0] for r, v in sums.items() if v[0]},
                  {r[0]: n for r, n in by_row[row].items() if isinstance(r, tuple)})
            claim("inclusive times of row %d, level %d" % (row, level),
                  {r: v[3] for r, v in sums.items() if v[3]}, inclusive_times(want[row].elements()))
        check_buckets(page, row, of)
        check_tree(page, row, by_row[row])


def check_buckets(page, row, of):
    """At each level: spans of this and coarser levels, and those counted in its buckets, are all there are."""
    by_level, short = collections.Counter(), collections.Counter()
    for _, level, tile, data in page.each(tiles.CALLS, row):
        spans, buckets, _ = tiles.spans(page.meta, level, tile, data)
        width = page.meta["span_log2"] - level - page.meta["buckets_log2"]
        by_level[level] += len(spans)
        for depth, bucket, _, cover, count in buckets:
            short[level] += count
            if not (0 < cover < 256 and bucket < 512 and depth > 0):
                failures.append("row %d: bucket %s" % (row, (depth, bucket, cover)))
        for begin, end, _, _ in spans:
            if level and not 1 << width <= max(end - begin, 1) < 2 << width or end >> width + 9 != tile:
                failures.append("row %d: %d to %d in level %d" % (row, begin, end, level))
    for level in range(of["levels"]):
        claim("row %d, level %d: spans and buckets" % (row, level),
              sum(by_level[k] for k in range(level + 1)) + short[level],
              sum(by_level.values()) + short[of["levels"] - 1])


def check_tree(page, row, sums):
    calls = collections.Counter()
    own = collections.Counter()
    for _, _, _, data in page.each(tiles.TREE, row):
        nodes = tiles.tree(data)
        for place, (parent, region, count, inclusive, exclusive) in enumerate(nodes):
            calls[region] += count
            own[region] += exclusive
            if parent > place or inclusive < exclusive:
                failures.append("row %d: node %d" % (row, place))
    claim("call tree of row %d: calls" % row, +calls, collections.Counter(
        {r[0]: n for r, n in sums.items() if isinstance(r, tuple)}))
    claim("... and times", +own, +collections.Counter({r: n for r, n in sums.items() if not isinstance(r, tuple)}))


def check_links(page, folder, rows, calls):
    got, bundles = collections.defaultdict(collections.Counter), collections.Counter()
    for _, level, tile, data in page.each(tiles.LINKS):
        exact, sums = tiles.links(page.meta, level, tile, data)
        for kind, begin, end, source, target, size, _, tag in exact:
            got[page.meta["links"][kind]][begin, end, source, target, size, tag] += 1
        bundles[level] += sum(bundle[3] for bundle in sums)
    comms = {of["communicator"]: of["name"] for of in table(folder, "communicators")}
    want = collections.Counter((int(m["send_ns"]), max(int(m["send_ns"]), int(m["receive_ns"])), rows[m["sender"]],
                                rows[m["receiver"]], int(m["bytes"]), int(m["tag"]))
                               for m in table(folder, "messages") if not comms[m["communicator"]].startswith("GPU"))
    claim("messages", got["message"], want)
    by_id = {call["call"]: call for call in calls}
    want = collections.Counter()
    for launch in table(folder, "launches"):
        call, activity = by_id[launch["call"]], by_id[launch["activity"]]
        want[int(call["begin_ns"]), max(int(call["begin_ns"]), int(activity["begin_ns"])), rows[call["thread"]],
             rows[activity["thread"]], 0, 0] += 1
    claim("launches", got["launch"], want)


def check_overlays(page, report):
    seconds = collections.Counter()
    for row in report["waits"]:
        seconds[row["class"]] += round(row["seconds"] * 1e9)
    got = collections.Counter()
    for _, level, tile, data in page.each(tiles.WAITS):
        for begin, end, what, _ in tiles.spans(page.meta, level, tile, data)[0]:
            got[page.meta["waits"][what]] += end - begin
    claim("waits", +got, +seconds)
    path = sum(span[1] - span[0] for _, level, tile, data in page.each(tiles.PATH)
               for span in tiles.spans(page.meta, level, tile, data)[0])
    claim("critical path", path, sum(round(row["seconds"] * 1e9) for row in report["critical_path"]
                                     if row["region"] != "(nothing recorded)"))


def check_values(page, archive):
    import otf2

    with otf2.reader.open(archive) as trace:
        metrics = [getattr(event.metric, "metric_class", event.metric) for _, event in trace.events
                   if isinstance(event, otf2.events.Metric)]
        want = sum(len(metric.members) for metric in metrics)
    for track in page.meta["tracks"]:
        for level in range(track["levels"]):
            count = sum(bucket[1] for _, _, _, data in page.each(tiles.TRACK, track["id"], level)
                        for bucket in tiles.curve(data))
            if count > track["count"] or (level == 0 and count < track["count"]):
                failures.append("level %d of track %d has %d values of %d" % (level, track["id"], count, track["count"]))
    claim("values", sum(track["count"] for track in page.meta["tracks"]), want)


def check_flow(page, flow):
    """Every state is in the boxes that do not open, with its members and their time."""
    claim("kinds of streams", [of["kind"] for of in page.flow["graphs"]], [of["name"] for of in flow["graphs"]])
    regions = [of["name"] for of in page.meta["regions"]]
    for mine, theirs in zip(page.flow["graphs"], flow["graphs"]):
        claim("streams", [(round(of[1], 4), of[3]) for of in mine["streams"]],
              [(of["similarity"], of["states"]) for of in theirs["streams"]])
        want, got, opened = collections.Counter(), collections.Counter(), {0}
        for state in theirs["states"]:
            want[state["region"]] += len(state["members"])
            want[state["region"], "us"] += round(state["self_s"]["mean"] * 1e6 * len(state["members"]))
        for number, draw in enumerate(mine["draws"]):
            for box in draw["boxes"]:
                members = sum(b - a + 1 for a, b in zip(box[13][::2], box[13][1::2]))
                claim("members of a box", members, box[4])
                if box[9] > number:
                    opened.add(box[9])
                elif box[9] == -1:
                    name = regions[box[2]] if box[2] >= 0 else "(code)"
                    got[name] += members
                    got[name, "us"] += round(box[7] / 1e3 * members)
                else:
                    failures.append("a box opens to %d in %d" % (box[9], number))
            streams = collections.Counter(to for _, to, count in draw["edges"] for _ in range(count) if to >= 0)
            claim("edges", [streams[i] for i in range(len(draw["boxes"]))], [box[4] for box in draw["boxes"]])
        claim("draws that open", opened, set(range(len(mine["draws"]))))
        names = {name for name in set(want) | set(got) if isinstance(name, str)}
        claim("states", {n: got[n] for n in names}, {n: want[n] for n in names})
        claim("their times", [n for n in names if abs(got[n, "us"] - want[n, "us"]) > 2 * want[n] + 2], [])


def main(path, folder, report, flow, archive):
    with open(path, encoding="utf-8") as file:
        page = tiles.Page(file.read())
    with open(report, encoding="utf-8") as file:
        report = json.load(file)
    claim("the report", page.report, {key: of[:4096] if isinstance(of, list) else of for key, of in report.items()})
    with open(flow, encoding="utf-8") as file:
        check_flow(page, json.load(file))
    claim("all is in the page", page.meta["complete"], True)
    calls = table(folder, "calls")
    rows = {of["thread"]: i for i, of in enumerate(table(folder, "threads"))}
    regions = {of["region"]: i for i, of in enumerate(table(folder, "regions"))}
    check_calls(page, calls, rows, regions)
    check_links(page, folder, rows, calls)
    check_overlays(page, report)
    check_values(page, archive)
    print("\n".join(failures[:20]) if failures else "%d calls, %d tiles" % (len(calls), len(page.tiles)))
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
