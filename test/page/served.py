#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is what `gputrace view` serves what is in the page, and in the archive?

  served.py URL PAGE TABLES     the server, the page of the same archive, the folder of `gputrace export --csv`

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
        kinds = sorted(dice.sample(range(6), 3))
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


def check_bytes(url, page, dice):
    """Bytes of copies: two parts of the run have those of the whole."""
    middle, end, sums = dice.randrange(page.meta["end"]), page.meta["end"] + 1, collections.Counter()
    for begin, until in ((0, middle), (middle, end)):
        for of in json.loads(get("%sprofile?from=%d&to=%d" % (url, begin, until)))["rows"]:
            for region, *_, size in of["regions"]:
                sums[region] += size
    claim("bytes", +sums, collections.Counter({r: values[2] for r, values in page.sums().items() if values[2]}))


def window(dice, end):
    begin = dice.randrange(end)
    return begin, min(end + 1, begin + 1 + int(dice.expovariate(20 / end)))


def check_events(url, page, calls, dice):
    for _ in range(60):
        row = dice.randrange(len(page.meta["rows"]))
        begin, end = window(dice, page.meta["end"])
        answer = json.loads(get("%sevents?row=%d&from=%d&to=%d" % (url, row, begin, end)))
        got = collections.Counter()
        for first, last, region, depth in answer["spans"]:
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


def main(url, path, folder):
    with open(path, encoding="utf-8") as file:
        page = tiles.Page(file.read())
    dice = random.Random(1)
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
    check_bytes(url, page, dice)
    check_events(url, page, calls, dice)
    check_profiles(url, page, calls, dice)
    print("\n".join(failures[:20]) if failures else "tiles, events, profiles")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
