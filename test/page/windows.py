# SPDX-License-Identifier: BSD-3-Clause
"""Figures of windows, against what is known of the archives of cluster.py.

Limits: as page.py.
"""
import json
import random

from page import near, ok


def rates(page):
    """Of windows at random: all copies of cluster.py's large archive are as fast."""
    rng, end, wrong, there = random.Random(4), page.get("gt.Data.meta.end"), [], 0
    page.sheet("gpu")
    for length in (0.002, 0.01, 0.05, 0.3, 0.9):
        begin = rng.random() * (1 - length) * end
        page.js("document.querySelector('[data-table=copies]')?.remove();"
                "gt.View.set(arguments[0], arguments[0] + arguments[1])", begin, length * end)
        page.settle()
        page.wait("document.querySelector('[data-table=copies]') || !gt.Gpu.copies(...gt.window()).length")
        rows = page.table("copies")
        there += len([row for row in rows if row[0] != "none"])
        wrong += [(begin, row) for row in rows if row[0] != "none" and row[4] != "25.0 GB/s"]
    ok(there > 3 and not wrong, "a window's copies are as fast as they are", (there, wrong[:2]))
    page.keys("0")


def nearly_all(page):
    """A window of all but the last ns has the run's figures: the same shares, kinds and groups."""
    page.sheet("profile")
    whole = [row[:5] + row[8:10] for row in page.table("regions")]
    page.js("document.querySelector('[data-table=regions]').remove(); gt.View.mark(0, gt.Data.meta.end - 1)")
    page.settle()
    page.wait("document.querySelector('[data-table=regions] tbody tr')") # a server is asked for it
    window = page.table("regions")
    wrong = [pair for pair in zip(sorted(whole), sorted(window)) if pair[0] != pair[1]]
    ok(len(whole) == len(window) and not wrong, "a window of all but a ns has the figures of the run",
       wrong[:2])
    page.js("gt.View.mark(null)")


def copies(page, known):
    """Copies of windows at random: where all are in the page, each has its bytes."""
    rng = random.Random(5)
    with open(known, encoding="utf-8") as f:
        known = json.load(f)
    end, wrong, slow = page.get("gt.Data.meta.end"), [], []
    windows = [sorted((rng.randrange(end), rng.randrange(end))) for _ in range(50)]
    for _ in range(2): # the first time the tiles are asked for
        there = page.js("""return arguments[0].map(([begin, end]) => arguments[1].map((row) => {
                const sums = new Map();
                gt.addSums(Number(row), begin, end, sums);
                return [...sums.values()].map((s) => [s.name, s.ns, s.bytes]);
            }))""", windows, sorted(known))
        page.settle()
    for (begin, until), rows in zip(windows, there):
        for (row, regions), sums in zip(sorted(known.items()), rows):
            sums = {name: (ns, size) for name, ns, size in sums}
            for name, all_of in regions.items():
                ns = size = 0
                for first, last, bytes_of in all_of:
                    inside = max(0, min(last, until) - max(first, begin))
                    ns += inside
                    size += bytes_of * inside / (last - first) if last > first else \
                        bytes_of * (begin <= first < until)
                got = sums.get(name, (0, 0))
                if sum(map(len, regions.values())) > 10000:
                    slow += [got] if got[0] and not near(got[1] / got[0], 25, 1e-3) else []
                elif got[0] != ns or not near(got[1], size, 1e-9):
                    wrong.append((row, name, begin, until, got, (ns, size)))
    ok(not wrong, "copies have the bytes of their part in a window", wrong[:1])
    ok(not slow, "and of many the rate is the same", slow[:1])
