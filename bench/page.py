# SPDX-License-Identifier: BSD-3-Clause
"""`gputrace html` and the index of `gputrace view`, of an archive of 50 million events (bench/archive.c), on two cores;
and how soon the server has answered what the first picture needs, once there is an index.

Limits: what a browser needs to draw is not in it.
"""
import os
import re
import shutil
import statistics
import subprocess
import time
import urllib.request

from tools import Case, LAST, output

EVENTS = 50_000_000


def first_answers(command, path):
    """Seconds from the start of the command to the last of the first answers."""
    begun = time.monotonic()
    with subprocess.Popen([command, "view", "--idle", "30", path], stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()
        for what in ("", "report", "tiles?level=0&from=0&to=0", "tiles?level=1&from=0&to=1"):
            with urllib.request.urlopen(url + what, timeout=60) as answer:
                answer.read()
        passed = time.monotonic() - begun
        with urllib.request.urlopen(urllib.request.Request(url + "quit", method="POST"), timeout=60):
            pass
        server.stdout.read()
    return passed


def suite(run, _peers):
    """One round."""
    b = run.b
    if not os.path.exists(b.path("archive")):
        otf2 = (output("otf2-config", "--cflags") + output("otf2-config", "--ldflags") +
                output("otf2-config", "--libs")).split()
        b.cc("archive", ["archive.c"], *otf2)
    two = f"{max(int(LAST) - 1, 0)},{LAST}"
    command = os.path.join(b.stage, "bin", "gputrace")
    path, page = b.path("archive-page"), b.path("page.html")
    shutil.rmtree(path, ignore_errors=True)
    count = int(re.search(r"events=(\d+)", output(b.path("archive"), path, "4", str(EVENTS), "20"))[1])
    r = run.once(Case("page", ["taskset", "-c", two, command, "html", "-o", page, path]), warm=0)
    run.add("page", "page", dict(r, count=count, size=os.path.getsize(page)))
    r = run.once(Case("index", ["taskset", "-c", two, command, "view", "--index-only", path]), warm=0)
    index = os.path.getsize(os.path.join(path, "traces.index"))
    run.add("page", "index", dict(r, count=count, size=index, first_s=first_answers(command, path)))
    os.remove(page)
    shutil.rmtree(path, ignore_errors=True)


def goals(g, results, spread):
    """The rows of the table."""
    c = results.get("page")
    if not c or not c.get("page") or not c.get("index"):
        return
    of = lambda name, key: [r[key] for r in c[name]]
    million = f"{EVENTS / 1e6:.0f} million events"
    wall = of("page", "wall_s")
    g.row(f"`gputrace html`, {million}, 2 cores", "60 s", f"{spread(wall, 1, ' s')}, "
          f"{spread([s / EVENTS * 1e9 for s in wall], 0)} ms per million events", statistics.median(wall), 60)
    size = [n / 1e6 for n in of("page", "size")]
    g.row("the page", "20 MB", spread(size, 1, " MB"), max(size), 20)
    each = [r["wall_s"] / r["count"] * 1e9 for r in c["index"]]
    g.row(f"index of `gputrace view`, {million}, 2 cores", "60 s", f"{spread(of('index', 'wall_s'), 1, ' s')}, "
          f"{spread(each, 0)} ms per million events, "
          f"{spread([r['size'] / r['count'] for r in c['index']], 1)} bytes an event",
          statistics.median(of("index", "wall_s")), 60)
    peak = [kib / 1024 for kib in of("index", "maxrss_kib")]
    g.row("its peak memory", "300 MB", spread(peak, 0, " MiB"), max(peak), 300e6 / (1 << 20))
    first = of("index", "first_s")
    g.row("`gputrace view` with an index: first answers", "1 s", spread(first, 2, " s"), statistics.median(first), 1)
