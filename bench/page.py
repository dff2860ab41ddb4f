# SPDX-License-Identifier: BSD-3-Clause
"""`gputrace html` of 50 million events (bench/archive.c) and the index of `gputrace view` of 100 million, on two cores; how
soon the server has answered what the first picture needs, once there is an index; and in headless Chromium the first
picture of both, and frames of a page of 10 million events.

Limits: Chromium draws without a GPU here. Without it, its driver and python3-selenium its rows say so.
"""
import os
import re
import shutil
import statistics
import subprocess
import time
import urllib.request

from tools import Case, TWO, output

EVENTS, VIEWED, DRAWN = 50_000_000, 100_000_000, 10_000_000
BROWSER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "page", "browser.py")
PYTHON = os.environ.get("OTF2_PYTHON", "/usr/bin/python3") # that has Debian's modules


def no_browser():
    """Why there is none, or nothing."""
    if not shutil.which(os.environ.get("CHROMIUM", "chromium")):
        return "no chromium"
    if not shutil.which(os.environ.get("CHROMEDRIVER", "chromedriver")):
        return "no chromedriver (chromium-driver)"
    if subprocess.run([PYTHON, "-c", "import selenium"], stderr=subprocess.DEVNULL, check=False).returncode:
        return "no python3-selenium"
    return ""


def browse(run, name, address):
    """Opens a page: first_ms, frame_ms, most_ms, frames_per_s."""
    if not no_browser():
        run.add("page", name, run.once(Case(name, [PYTHON, BROWSER, "page", "frames", address], {"SE_OFFLINE": "true"}), warm=0))


def serve(run, command, path):
    """Seconds from the start of the command to the last of the first answers; and the same in a browser."""
    begun = time.monotonic()
    with subprocess.Popen([command, "view", "--idle", "60", path], stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()
        for what in ("", "report", "tiles?level=0&from=0&to=0", "tiles?level=1&from=0&to=1"):
            with urllib.request.urlopen(url + what, timeout=60) as answer:
                answer.read()
        passed = time.monotonic() - begun
        browse(run, "served", url)
        with urllib.request.urlopen(urllib.request.Request(url + "quit", method="POST"), timeout=60):
            pass
        server.stdout.read()
    return passed


def write(b, path, events):
    """An archive. Returns how many events it has."""
    shutil.rmtree(path, ignore_errors=True)
    return int(re.search(r"events=(\d+)", output(b.path("archive"), path, "4", str(events), "20"))[1])


def suite(run, _peers):
    """One round."""
    b = run.b
    if not os.path.exists(b.path("archive")):
        otf2 = (output("otf2-config", "--cflags") + output("otf2-config", "--ldflags") +
                output("otf2-config", "--libs")).split()
        b.cc("archive", ["archive.c"], *otf2)
    command = os.path.join(b.stage, "bin", "gputrace")
    path, page = b.path("archive-page"), b.path("page.html")
    for name, events in (("page", EVENTS), ("drawn", DRAWN)):
        count = write(b, path, events)
        r = run.once(Case(name, ["taskset", "-c", TWO, command, "html", "-o", page, path]), warm=0)
        run.add("page", name, dict(r, count=count, size=os.path.getsize(page)))
        browse(run, name + ", opened", page)
    count = write(b, path, VIEWED)
    r = run.once(Case("index", ["taskset", "-c", TWO, command, "view", "--index-only", path]), warm=0)
    index = os.path.getsize(os.path.join(path, "traces.index"))
    run.add("page", "index", dict(r, count=count, size=index, first_s=serve(run, command, path)))
    os.remove(page)
    shutil.rmtree(path, ignore_errors=True)


def drawn(g, c, spread):
    """The rows of the browser."""
    reason = no_browser() or "it failed"
    for what, name, key, goal, limit, unit, scale in (
            (f"first picture of `gputrace view`, {VIEWED / 1e6:.0f} million events, with an index", "served", "first_ms",
             "1 s", 1, " s", 1e3),
            (f"first picture of the page of {EVENTS / 1e6:.0f} million events", "page, opened", "first_ms", "none", None, " s",
             1e3),
            (f"a frame of the page of {DRAWN / 1e6:.0f} million events, in script", "drawn, opened", "frame_ms", "16 ms", 16,
             " ms", 1),
            ("frames a second while it is zoomed", "drawn, opened", "frames_per_s", "none", None, "", 1)):
        values = [r[key] / scale for r in c.get(name, []) if key in r]
        g.row(what, goal, spread(values, 2 if scale > 1 else 1, unit) if values else reason,
              statistics.median(values) if values else None, limit)


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
    million = f"{VIEWED / 1e6:.0f} million events"
    g.row(f"index of `gputrace view`, {million}, 2 cores", "120 s", f"{spread(of('index', 'wall_s'), 1, ' s')}, "
          f"{spread(each, 0)} ms per million events, "
          f"{spread([r['size'] / r['count'] for r in c['index']], 1)} bytes an event",
          statistics.median(of("index", "wall_s")), 120)
    peak = [kib / 1024 for kib in of("index", "maxrss_kib")]
    g.row("its peak memory", "300 MB", spread(peak, 0, " MiB"), max(peak), 300e6 / (1 << 20))
    first = of("index", "first_s")
    g.row("`gputrace view` with an index: first answers", "1 s", spread(first, 2, " s"), statistics.median(first), 1)
    drawn(g, c, spread)
