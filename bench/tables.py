# SPDX-License-Identifier: BSD-3-Clause
"""Turns what run.py kept of one run into the Markdown of doc/PERFORMANCE.md: goals and verdicts, then every
tool beside every other.

Limits: computes medians and ratios; measures nothing.
"""
import random
import re
import statistics

import counters
import document
import flow
import kokkos
import omp
import page
import models
import reading
import mpi
import samples
import wrap

MIB = 1024.0 # in KiB


def spread(values, digits=1, unit=""):
    """median [min..max]"""
    if not values:
        return "not measured"
    if len(values) == 1:
        return f"{values[0]:.{digits}f}{unit}"
    return (f"{statistics.median(values):.{digits}f}{unit} "
            f"[{min(values):.{digits}f}..{max(values):.{digits}f}]")


class Goals:
    """The rows of the first table."""

    def __init__(self):
        self.rows = []

    def row(self, what, goal, measured, value, limit):
        """value None: nothing was measured; limit None: a figure without a goal."""
        if value is None:
            verdict = "not measured"
        elif limit is None:
            verdict = ""
        else:
            verdict = "met" if value <= limit else "**missed**"
        self.rows.append((what, goal, measured, verdict))

    def text(self):
        lines = ["| what | goal | measured | verdict |", "| --- | --- | --- | --- |"]
        return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in self.rows])


def column(results, suite, case, key):
    return [r[key] for r in results.get(suite, {}).get(case, []) if key in r]


def median(values):
    return statistics.median(values) if values else None


def ratios(results, suite, case, key, base, base_key=None):
    """Per round: the case's figure over that of `base` in the same round."""
    a = column(results, suite, case, key)
    b = column(results, suite, base, base_key or key)
    return [x / y for x, y in zip(a, b) if y]


def ratio(results, suite, case, key, of=statistics.median):
    """Of the medians of all turns: None, or (ratio, [95 % interval, by resampling], turns)."""
    a, b = column(results, suite, case, key), column(results, suite, "plain", key)
    if not a or not b:
        return None
    dice = random.Random(1)
    again = sorted(of(dice.choices(a, k=len(a))) / of(dice.choices(b, k=len(b)))
                   for _ in range(2000))
    return of(a) / of(b), (again[49], again[1950]), len(a)


def turns(found, digits=2):
    """As text: ratio (95 %: from to), turns."""
    if not found:
        return "not measured"
    x, (low, high), n = found
    return f"{x:.{digits}f} x (95 %: {low:.{digits}f} to {high:.{digits}f}), {n} turns"


def event_goals(g, results):
    ev = results.get("event", {})
    pair = ev.get("gputrace", [])
    x = [r["ns_per_pair"] / r["floor_ns"] for r in pair]
    ns = [r["ns_per_pair"] for r in pair]
    g.row("one enter/leave pair, recorded so that SIGKILL loses nothing", "at most 1.25 x the floor",
          f"{spread(x, 2, ' x')}, {spread(ns)} ns", median(x), 1.25)

    x = ratios(results, "scaling", "gputrace 2", "ns_per_pair", "gputrace 1")
    g.row("the same on 2 threads at once", "at most 1.05 x one thread",
          f"{spread(x, 2, ' x')}, {spread(column(results, 'scaling', 'gputrace 2', 'ns_per_pair'))}"
          f" ns, {len(x)} turns", median(x), 1.05)
    x = ratios(results, "scaling", "floor 2", "ns_per_pair", "floor 1")
    g.row("(what the floor itself does on 2 threads: the machine's part of the row above)", "none",
          spread(x, 2, " x"), median(x), None)

    filtered = column(results, "event", "gputrace filtered", "ns_per_pair")
    above = [f - p for f, p in zip(filtered, column(results, "event", "plain", "ns_per_pair"))]
    g.row("a filtered function, its hooks switched off", "at most 0.4 ns above a plain one",
          f"{spread(above, 2)} ns above", median(above), 0.4)

    anon = [r["anon_kib"] / MIB for r in pair]
    g.row("memory of the traced process that is not file-backed", "16 MiB",
          spread(anon, 1, " MiB"), median(anon), 16.0)
    extra = [(r["peak_kib"] - p["peak_kib"]) / MIB for r, p in zip(pair, ev.get("plain", []))]
    g.row("resident memory above the plain program", "VT_BUFFER_SIZE (16 MiB)",
          spread(extra, 1, " MiB"), median(extra), 16.0)

    spool = [r["spool_bytes"] / r["pairs"] / 2 for r in pair]
    g.row("bytes per event in the spool", "at most 16", spread(spool), median(spool), 16.0)
    done = ev.get("assembly, 1 core", [])
    evt = [r["bytes"] / r["pairs"] / 2 for r in done]
    g.row("bytes per event of the OTF2 archive, all files", "at most 12.5", spread(evt, 2),
          median(evt), 12.5)

    for name, limit in (("assembly, 1 core", 1.4), ("assembly, 2 cores", None)):
        ns = [r["wall_s"] / r["pairs"] * 1e9 for r in ev.get(name, [])]
        x = [t / r["floor_ns"] for t, r in zip(ns, ev.get(name, []))]
        g.row(f"{name}, a pair of {done[0]['pairs'] / 1e6:.0f} million on 2 threads" if done else name,
              f"at most {limit} x the floor" if limit else "none",
              f"{spread(x, 2, ' x')}, {spread(ns)} ns", median(x), limit)
    peak = [r["peak_kib"] / MIB for n in ("assembly, 1 core", "assembly, 2 cores")
            for r in ev.get(n, [])]
    g.row("peak memory of the assembly", "below 256 MiB", spread(peak, 0, " MiB"),
          max(peak) if peak else None, 256.0)


def other_goals(g, results):
    for what, case, limit in (
            ("fib + queens + stencil (bench/real.c), whole process with assembly", "gputrace", 3.0),
            ("the same without assembly (VT_UNIFY=no)", "gputrace, no assembly", 2.0),
            ("(what the floor takes of it: the machine's part of both)", "floor", None)):
        x = ratio(results, "real turns", case, "wall_s")
        if "real turns" in results:
            g.row(what, f"at most {limit} x plain" if limit else "none", turns(x), x and x[0], limit)
    if "locks turns" in results:
        x = ratio(results, "locks turns", "gputrace", "work_s", statistics.mean)
        g.row("the lock-heavy program (bench/locks.c), default settings", "at most 1.05 x plain",
              turns(x, 3), x and x[0], 1.05)
        x = ratio(results, "locks, one core", "gputrace", "work_s")
        g.row("(the same on one core, where it always takes the same course)", "none", turns(x, 3), x and x[0],
              None)
        for where, suite, center in (("", "locks turns", statistics.mean),
                                     (", on one core", "locks, one core", statistics.median)):
            x = ratio(results, suite, "passed on", "work_s", center)
            if x:
                g.row(f"(a library that only passes its locks on{where}: the least that interception costs)", "none",
                      turns(x, 3), x[0], None)
    for kind, what, limit in (("exec", "/bin/true, executed by a shell 1,000 times, on a tmpfs", 3.0),
                              ("fork", "1,000 forks of a shell that do nothing, on a tmpfs", 4.0)):
        x = ratios(results, "short " + kind, "gputrace", "cpu_s", "plain")
        if "short " + kind in results:
            g.row(f"{what}: processor time of all processes, with the archive", f"at most {limit} x plain",
                  f"{spread(x, 2, ' x')}, {len(x)} turns", median(x), limit)
    ms = [v * 1e3 for v in column(results, "start", "gputrace run true", "wall_s")]
    if "start" in results:
        g.row("start-up plus shut-down: `gputrace run true`", "at most 30 ms", f"{spread(ms)} ms",
              median(ms), 30.0)


def event_peers(results):
    lines = ["| tool | ns per pair | x floor | bytes per pair on disk | peak MiB | recorded |",
             "| --- | --- | --- | --- | --- | --- |"]
    for name, runs in results.get("event", {}).items():
        if name.startswith("assembly"):
            continue
        if not runs:
            lines.append(f"| {name} | **recorded nothing, or not all** | | | | |")
            continue
        ns = [r["ns_per_pair"] for r in runs]
        x = [r["ns_per_pair"] / r["floor_ns"] for r in runs]
        size = runs[-1].get("spool_bytes", runs[-1]["bytes"]) / runs[-1].get("recorded", 1)
        done = f"{runs[-1]['recorded']:,.0f}" if "recorded" in runs[-1] else "-"
        lines.append(f"| {name} | {spread(ns)} | {spread(x, 2)} | "
                     f"{size if 'recorded' in runs[-1] else 0:.1f} | "
                     f"{median([r['peak_kib'] / MIB for r in runs]):.0f} | {done} |")
    return "\n".join(lines)


def program_peers(results, suite):
    """A program under every tool: inside main, and the whole process until all is on disk."""
    inner = {"calls": "calls_s", "locks": "work_s"}.get(suite)
    lines = ["| tool | " + ("slowdown of the work | " if inner else "") +
             "whole process, s | x plain | with the tool's own end, x plain | MB | recorded |",
             "| --- | " + ("--- | " if inner else "") + "--- | --- | --- | --- | --- |"]
    plain = results.get(suite, {}).get("plain", [])
    for name, runs in results.get(suite, {}).items():
        if not runs:
            lines.append(f"| {name} | **recorded nothing, or failed** | | | | |")
            continue
        pairs = list(zip(runs, plain))
        wall = [r["wall_s"] for r in runs]
        whole = [r["wall_s"] / p["wall_s"] for r, p in pairs]
        ended = [(r["wall_s"] + r.get("after_run_s", 0)) / p["wall_s"] for r, p in pairs]
        cells = [name]
        if inner:
            cells.append(spread([r[inner] / p[inner] for r, p in pairs], 2))
        cells += [spread(wall, 3), spread(whole, 2), spread(ended, 2),
                  f"{runs[-1]['bytes'] / 1e6:.1f}",
                  f"{runs[-1]['recorded']:,.0f}" if "recorded" in runs[-1] else "-"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def introduction(run):
    """How it was measured, in lines as documents have them."""
    words = re.sub(r"--(stage|build|markdown|json|doc|from)[ =]\S+ ?", "", " ".join(run["words"])).strip()
    found = re.search(r"rdtsc_ns=([\d.]+) clock_gettime_ns=([\d.]+)", run["clocks"])
    floors = [r["floor_ns"] for runs in run["results"].values() for case in runs.values() for r in case
              if "floor_ns" in r]
    text = [f"`make bench BENCH_ARGS='{words}'` on {run['date']}, commit {run['commit']}, {run['cores']} cores, load "
            f"{run['load']:.1f} at the beginning, "
            f"{run['rounds']} round{'s' if run['rounds'] > 1 else ''}. Figures are medians [smallest..largest]. Ratios "
            "to the floor and to the plain program are of the same moment; where a number of turns is given without "
            "a spread, the ratio is that of the medians (for locks on all cores, of the means) of all turns."]
    if run["warm"]:
        text.append(f"Before each run {run['warm']} MiB of memory were touched, before each assembly "
                    f"{4 * run['warm']} MiB, so that the page cache finds memory that the host has given.")
    if floors:
        text.append("The *floor* is the least that recording can cost: two clock reads and two 16-byte stores into "
                    f"memory that was touched before, {spread(floors)} ns a pair here.")
    if found:
        text.append(f"One `rdtsc` takes {float(found[1]):.1f} ns, one `clock_gettime` {float(found[2]):.1f} ns.")
    return document.paragraph(" ".join(text))


def report(run):
    """The Markdown of a run: what run.py kept of it (measured() there)."""
    results, empty = run["results"], run["not_recorded"]
    goals = Goals()
    if "event" in results:
        event_goals(goals, results)
    other_goals(goals, results)
    for suite in (wrap, mpi, counters, flow, reading, page, models, kokkos, omp, samples):
        suite.goals(goals, results, spread)
    parts = [introduction(run)]
    if empty:
        parts.append("**Some runs recorded nothing, or less than was there, and are not timed:**\n\n"
                     + "\n".join(f"- {e}" for e in sorted(set(empty))))
    parts.append(goals.text())
    if results.get("event"):
        parts += ["### An enter/leave pair, tool by tool", event_peers(results)]
    titles = {"real": "fib + queens + stencil (bench/real.c)",
              "calls": "A call-heavy program (bench/calls.c)",
              "locks": "A lock-heavy program (bench/locks.c), not rebuilt",
              "pigz": "pigz with 2 threads, not rebuilt"}
    for suite, title in titles.items():
        if results.get(suite):
            parts += [f"### {title}", program_peers(results, suite)]
    return "\n\n".join(parts)
