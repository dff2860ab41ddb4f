#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is what `gputrace view` serves what is in the page, and in the archive?

  served.py URL PAGE TABLES     the server, the page of the same archive, the folder of `gputrace export --csv`
  served.py URL PAGE copies COPIES.json     the server's bytes of copies (cluster.py)

Limits: windows at random, always the same ones.
"""
import collections
import csv
import json
import os
import random
import sys
import urllib.request

import tiles

failures = []


def claim(name, got, want):
    if got != want:
        failures.append("%s: %s, not %s" % (name, str(got)[:300], str(want)[:300]))


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def check_tiles(url, page, dice):
    meta = page.meta
    everything = {}
    for level in range(meta["page_levels"]):
        pack = tiles.unpack(get("%stiles?level=%d&from=0&to=%d" % (url, level, (1 << level) - 1)))
        everything.update(pack)
    claim("all tiles", everything == page.tiles, True)
    for _ in range(40):
        level = dice.randrange(meta["page_levels"])
        first = dice.randrange(1 << level)
        last = min(first + dice.randrange(4), (1 << level) - 1)
        rows = sorted(dice.sample(range(len(meta["rows"])), min(2, len(meta["rows"]))))
        kinds = sorted(dice.sample(range(7), 3))
        pack = tiles.unpack(get("%stiles?level=%d&from=%d&to=%d&rows=%s&kinds=%s" % (
            url, level, first, last, ",".join(map(str, rows)), ",".join(map(str, kinds)))))
        want = {key: data for key, data in page.tiles.items() if key[0] in kinds and key[2] == level and
                first <= key[3] <= last and (key[1] in rows or key[0] in (tiles.TRACK, tiles.LINKS))}
        claim("tiles %d to %d of level %d, rows %s, kinds %s" % (first, last, level, rows, kinds), pack == want, True)


def check_levels(url, page):
    """Several levels in one answer: as one after the other."""
    levels = range(page.meta["page_levels"])
    lists = [",".join(map(str, of)) for of in (levels, [(1 << k) // 3 for k in levels], [(1 << k) // 2 for k in levels])]
    pack = tiles.unpack(get("%stiles?level=%s&from=%s&to=%s&kinds=0" % (url, *lists)))
    want = {key: data for key, data in page.tiles.items()
            if key[0] == 0 and (1 << key[2]) // 3 <= key[3] <= (1 << key[2]) // 2}
    claim("several levels at once", pack == want and len(pack) > len(levels), True)


def part_of(copy, begin, end):
    """Ns and bytes of a copy in a window: those of all windows add up to the copy's."""
    first, last, size = copy
    if first == last:
        return 0, size if begin <= first < end else 0
    a, b = (min(max(time, first), last) - first for time in (begin, end))
    return max(b - a, 0), size * b // (last - first) - size * a // (last - first) if b > a else 0


def check_copies(url, page, copies, dice):
    """Bytes of copies in windows at random: of one at an edge those of the part that is inside."""
    names = [of["name"] for of in page.meta["regions"]]
    for _ in range(200):
        begin, end = window(dice, page.meta["end"])
        got = collections.Counter()
        for of in json.loads(get("%sprofile?from=%d&to=%d" % (url, begin, end)))["rows"]:
            for region, _, ns, _, size in of["regions"]:
                if names[region].startswith("cudaMemcpy"):
                    got[of["row"], names[region], "ns"] += ns
                    got[of["row"], names[region], "bytes"] += size
        want = collections.Counter()
        for row, regions in copies.items():
            for name, all_of in regions.items():
                parts = [part_of(copy, begin, end) for copy in all_of]
                want[int(row), name, "ns"] = sum(part[0] for part in parts)
                want[int(row), name, "bytes"] = sum(part[1] for part in parts)
        claim("copies, %d to %d" % (begin, end), +got, +want)


def window(dice, end):
    begin = dice.randrange(end)
    return begin, min(end + 1, begin + 1 + int(dice.expovariate(20 / end)))


def check_events(url, page, calls, dice):
    for _ in range(60):
        row = dice.randrange(len(page.meta["rows"]))
        begin, end = window(dice, page.meta["end"])
        answer = json.loads(get("%sevents?row=%d&from=%d&to=%d" % (url, row, begin, end)))
        got = collections.Counter()
        for first, last, region, depth, *_ in answer["spans"]:
            got[first, end if last is None or last >= end else last, region, depth] += 1
        want = collections.Counter((call[0], min(call[1], end), call[2], call[3]) for call in calls[row]
                                   if call[0] < end and call[1] >= begin)
        claim("events of row %d, %d to %d" % (row, begin, end), got if not answer["truncated"] else None, want)
        claim("... whole", answer["whole"], True)
        if any(not begin <= event[0] < end for event in answer["events"]):
            failures.append("an event outside of %d to %d" % (begin, end))


def own_times(calls, begin, end, regions):
    """Enters, exclusive and inclusive times in the window; a region that calls itself is counted once."""
    sums, ends = collections.defaultdict(lambda: [0, 0, 0]), {}
    for first, last, region, depth in calls:
        inside = max(0, min(last, end) - max(first, begin))
        sums[region][0] += begin <= first < end
        sums[region][1] += inside
    stack = []
    for first, last, region, depth in sorted(calls, key=lambda call: (call[0], call[3])):
        del stack[depth - 1:]
        if stack:
            sums[stack[-1]][1] -= max(0, min(last, end) - max(first, begin))
        stack.append(region)
        first, last = max(first, begin, ends.get(region, 0)), min(last, end)
        if last > first:
            sums[region][2] += last - first
            ends[region] = last
    return {region: tuple(values) for region, values in sums.items() if any(values)}


def check_profiles(url, page, calls, dice):
    for _ in range(30):
        begin, end = window(dice, page.meta["end"])
        answer = json.loads(get("%sprofile?from=%d&to=%d" % (url, begin, end)))
        for of in answer["rows"]:
            claim("profile of row %d, %d to %d" % (of["row"], begin, end),
                  {region: tuple(values[:3]) for region, *values in of["regions"]},
                  own_times(calls[of["row"]], begin, end, page.meta["regions"]))


def end():
    print("\n".join(failures[:20]) if failures else "as it is known")
    return len(failures) > 0


def main(url, path, folder, copies=None):
    with open(path, encoding="utf-8") as file:
        page = tiles.Page(file.read())
    dice = random.Random(1)
    if copies:
        with open(copies, encoding="utf-8") as file:
            check_copies(url, page, json.load(file), dice)
        return end()
    claim("the report", json.loads(get(url + "report")), page.report)
    served = tiles.Page(get(url).decode())
    claim("the mode", served.meta["mode"], "view")
    for key in page.meta.keys() - {"mode", "page_levels", "complete"}:
        claim(key, served.meta[key], page.meta[key])
    with open(os.path.join(folder, "threads.csv"), encoding="utf-8", newline="") as file:
        rows = {of["thread"]: i for i, of in enumerate(csv.DictReader(file))}
    with open(os.path.join(folder, "regions.csv"), encoding="utf-8", newline="") as file:
        regions = {of["region"]: i for i, of in enumerate(csv.DictReader(file))}
    calls = collections.defaultdict(list)
    with open(os.path.join(folder, "calls.csv"), encoding="utf-8", newline="") as file:
        for call in csv.DictReader(file):
            calls[rows[call["thread"]]].append((int(call["begin_ns"]), int(call["end_ns"]), regions[call["region"]],
                                                int(call["depth"])))
    check_tiles(url, page, dice)
    check_levels(url, page)
    check_events(url, page, calls, dice)
    check_profiles(url, page, calls, dice)
    return end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
