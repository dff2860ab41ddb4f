# SPDX-License-Identifier: BSD-3-Clause
"""Counters and the live view: readings at each enter and leave, sampling at 1 kHz, `VT_LIVE=1`.

Sampling is compared with a program that is recorded as well but has no counters: by the time that the program
takes, with a core beside its own, as users wait for it; and, without a goal, by processor time on one core,
beside what a thread takes that only sleeps as often, which is the machine's part.

Limits: no peer reads PAPI's counters here. Debian's EZTrace 2 has no module for them (eztrace_avail lists
those it has; no library of it refers to PAPI), Score-P is no package of Debian's. uftrace alone has something
like it: page faults by getrusage() at each enter and leave.
"""
import os
import statistics

from tools import Case, LAST

PAIRS = 300_000
SPIN = 200_000_000   # half a second
LIVE_SPIN = 4 * SPIN
STRICT_TURNS, SPIN_TURNS, FREE_TURNS, LIVE_TURNS = 10, 5, 8, 3 # in each round
TWO = "perf::page-faults:perf::context-switches"


def suite(run, _peers):
    """One round."""
    b = run.b
    if not hasattr(b, "counts"):
        b.cc("counted", ["counted.c"])
        b.cc("counted_gputrace", ["counted.c"], compiler=os.path.join(b.stage, "bin", "gputrace-cc"))
        b.counts = True
    ours = lambda **more: b.gputrace_env(VT_UNIFY="no", **more)
    event, pairs, spin = b.path("event_gputrace"), str(PAIRS), ["spin", str(SPIN)]
    one_core = lambda program, *args: ["taskset", "-c", LAST, b.path(program), *args]
    strict = [Case("reads", [b.path("counted"), "reads", pairs]),
              Case("plain", [event, pairs], ours()),
              Case("counted", [event, pairs], ours(VT_METRICS=TWO)),
              Case("rusage", [event, pairs], ours(VT_METRICS="rusage::ru_minflt"))]
    if b.uftrace and not run.a.no_peers:
        strict.append(Case("uftrace", ["uftrace", "record", "--no-event", "-d", b.trace, "-T",
                                       "bench_work@read=page-fault", b.path("event_cyg"), pairs]))
    sampled = [Case("alone", one_core("counted", *spin)),
               Case("woken", one_core("counted", *spin, "1000000")),
               Case("recorded", one_core("counted_gputrace", *spin), ours()),
               Case("sampled", one_core("counted_gputrace", *spin), ours(VT_METRICS="proc::VmRSS@1"))]
    alone = [b.path("counted_gputrace"), "spin", str(LIVE_SPIN)]
    sample = Case("sampled, free", alone, ours(VT_METRICS="proc::VmRSS@1"))
    free = [Case("recorded, free", alone, ours()), sample]
    watched = [b.path("counted_gputrace"), "spin", str(LIVE_SPIN)]
    live = [Case("not live", ["taskset", "-c", LAST, *b.gputrace_run(*watched)], ours()),
            Case("live", ["taskset", "-c", LAST, *b.gputrace_run(*watched)], ours(VT_LIVE="1"))]
    for cases, turns in ((strict, STRICT_TURNS), (sampled, SPIN_TURNS), (free, FREE_TURNS), (live, LIVE_TURNS)):
        for turn in range(turns):
            for case in cases[::-1 if turn % 2 else 1]: # neither of two is always the first
                run.add("counters", case.name, run.once(case, warm=0))


def goals(g, results, spread):
    """The rows of the table."""
    c = results.get("counters")
    if not c:
        return
    of = lambda name, key: [r[key] for r in c.get(name, []) if key in r]
    middle = lambda values: statistics.median(values) if values else None
    ns = {name: of(name, "ns_per_pair") for name in ("reads", "plain", "counted", "rusage", "uftrace")}
    x = [n / (r + p) for n, r, p in zip(ns["counted"], ns["reads"], ns["plain"])]
    g.row("a pair with two perf counters read at enter and leave", "at most 1.2 x two read() and a plain pair",
          f"{spread(x, 2, ' x')}, {spread(ns['counted'])} ns to {spread(ns['reads'])} and {spread(ns['plain'])}, "
          f"{len(x)} turns", middle(x), 1.2)
    for who, name in (("gputrace (rusage::ru_minflt)", "rusage"), ("uftrace (read=page-fault)", "uftrace")):
        g.row(f"(a pair with page faults by getrusage(): {who})", "none", f"{spread(ns[name])} ns",
              middle(ns[name]), None)
    share = lambda a, b, key: [(p / q - 1) * 100 for p, q in zip(of(a, key), of(b, key))]
    woken, sampled = share("woken", "alone", "cpu_s"), share("sampled", "recorded", "cpu_s")
    free = share("sampled, free", "recorded, free", "wall_s")
    g.row("sampling a counter (proc::VmRSS) at 1 kHz: the time that a compute-bound program takes, whole process",
          "at most 0.5 %", f"{spread(free, 2, ' %')}, {len(free)} turns", middle(free), 0.5)
    g.row("(its processor time, on one core)", "none", f"{spread(sampled, 2, ' %')}, {len(sampled)} turns",
          middle(sampled), None)
    g.row("(a thread that only sleeps as often: the machine's part of it)", "none",
          f"{spread(woken, 2, ' %')}, {len(woken)} turns", middle(woken), None)
    for what, key in (("whole process", "wall_s"), ("processor time of all processes", "cpu_s")):
        x = share("live", "not live", key)
        g.row(f"the live view (VT_LIVE=1) of a compute-bound program, {what}", "none",
              f"{spread(x, 2, ' %')}, {len(x)} turns", middle(x), None)
