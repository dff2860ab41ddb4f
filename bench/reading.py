# SPDX-License-Identifier: BSD-3-Clause
"""`gputrace report` of a large archive beside `otf2-print --silent`, which only decodes it, turn and turn about.

Compared is processor time, user's and kernel's, each on one core; the report on two cores by its wall time.
Two independent reports at the same time, one per core, show what the second core is worth. The archive
(bench/archive.c) is written anew in each round.

Limits: what a report of another archive costs depends on how often its ranks communicate: two are measured.
"""
import os
import re
import shutil
import statistics

from tools import Case, LAST, TWO, output

EVENTS = 100_000_000
ARCHIVES = {"calls": [], "messages": ["20"]} # the second: a message and a barrier each 2,000 events
TURNS = 2 # in each round


def suite(run, _peers):
    """One round."""
    b = run.b
    if not hasattr(b, "archives"):
        otf2 = (output("otf2-config", "--cflags") + output("otf2-config", "--ldflags") +
                output("otf2-config", "--libs")).split()
        b.cc("archive", ["archive.c"], *otf2)
        b.archives = {}
    command = os.path.join(b.stage, "bin", "gputrace")
    for kind, more in ARCHIVES.items():
        path = b.path("archive-" + kind)
        shutil.rmtree(path, ignore_errors=True)
        said = output(b.path("archive"), path, "4", str(EVENTS), *more)
        count = int(re.search(r"events=(\d+)", said)[1])
        other = path + "-copy" # the same files would be in the cache for the second one
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(path, other)
        both = "".join(f"taskset -c {cpu} {command} report {of} >{os.devnull} & "
                       for cpu, of in zip(TWO.split(","), (path, other))) + "wait"
        for _ in range(TURNS):
            for name, cpus, cmd in (("otf2-print", LAST, ["otf2-print", "--silent", path + "/traces.otf2"]),
                                    ("report", LAST, [command, "report", path]),
                                    ("report, all", LAST, [command, "report", "--all", path]),
                                    ("report, 2 cores", TWO, [command, "report", path]),
                                    ("two reports", TWO, ["sh", "-c", both])):
                r = run.once(Case(name, ["taskset", "-c", cpus, *cmd]), warm=0)
                run.add("reading " + kind, name, dict(r, count=count))
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(other, ignore_errors=True)


def goals(g, results, spread):
    """The rows of the table."""
    for kind, what in (("calls", "that only call"), ("messages", "that also communicate")):
        c = results.get("reading " + kind)
        if not c:
            continue
        of = lambda name, key: [r[key] for r in c.get(name, [])]
        ns = {name: [r["cpu_s"] / r["count"] * 1e9 for r in c.get(name, [])] for name in c}
        if not ns.get("report") or not ns.get("otf2-print"):
            continue
        share = [b / a for a, b in zip(ns["otf2-print"], ns["report"])]
        g.row(f"`gputrace report`, 1 core, {EVENTS / 1e6:.0f} million events of ranks {what}: of the time "
              "of otf2-print --silent", "at most 0.2", f"{spread(share, 2)}, "
              f"{spread(ns['report'])} to {spread(ns['otf2-print'])} ns an event",
              statistics.median(share), 0.2)
        all_of_it = [b / a for a, b in zip(ns["otf2-print"], ns["report, all"])]
        g.row(f"(with all sections, `--all`, {what})", "none", f"{spread(all_of_it, 2)}, "
              f"{spread(ns['report, all'])} ns an event", 0, None)
        x = [b / a for a, b in zip(of("report", "wall_s"), of("report, 2 cores", "wall_s"))]
        g.row(f"the same on 2 cores ({what}), wall time", "at most 0.56 (1.8 x as fast)", spread(x, 2),
              statistics.median(x), 1 / 1.8)
        pair = [b / a / 2 for a, b in zip(of("report", "wall_s"), of("two reports", "wall_s"))]
        g.row(f"(two independent reports at the same time, one per core, {what}: half of their time; the lower "
              "bound on this machine)", "none", spread(pair, 2), 0, None)
        peak = [kib / 1024 for kib in of("report", "maxrss_kib")]
        g.row(f"its peak memory ({what})", "300 MB", spread(peak, 0, " MiB"), max(peak), 300e6 / (1 << 20))
