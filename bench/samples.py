# SPDX-License-Identifier: BSD-3-Clause
"""Samples of call stacks: the processor time of whole programs of the system, unmodified, with samples by default and
without; and of one of them with 1,000 a second, beside `perf record` at the same rate.

Limits: a program that is not there is left out. The shell's clock has milliseconds.
"""
import os
import random
import shutil
import statistics

from tools import Case

TURNS = 20 # in each round, of each program
PEER_TURNS = 7
CLOCK = 'TIMEFORMAT="user=%3U sys=%3S"; time "$@" >/dev/null'
SQL = ("with recursive c(x) as (select 1 union all select x + 1 from c where x < 2500000) "
       "select sum(x * x % 7), count(distinct x % 1000) from c")
PYTHON = ("import json\nrows = [{'a': i, 'b': str(i)} for i in range(30000)]\n"
          "for k in range(20): json.loads(json.dumps(rows))\nprint(sum(i * i % 7 for i in range(2000000)))")


def prepare(b):
    """What each program is to do, some half a second each."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghij", k=draw.randint(2, 9))) for _ in range(2000)]
    with open(b.path("words"), "w", encoding="ascii") as f:
        f.write(" ".join(draw.choices(words, k=250000)))
    with open(b.path("functions.c"), "w", encoding="ascii") as f:
        f.writelines(f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) {{"
                     f" if (a[i] > s) s += a[i] * {i}; else a[i] = s % ({i} + 3); }} return s; }}\n"
                     for i in range(150))
    found = {"xz": ["xz", "-3", "-k", "-c", b.path("words")], "sqlite3": ["sqlite3", ":memory:", SQL],
             "gcc": ["gcc", "-O2", "-c", b.path("functions.c"), "-o", b.path("functions.o")],
             "python3": ["/usr/bin/python3", "-c", PYTHON]}
    return {name: ["bash", "-c", CLOCK, "-", *cmd] for name, cmd in found.items() if shutil.which(cmd[0])}


def peers_of(b, cmd):
    """Cases of 1,000 samples a second, and without a tool."""
    cases = [Case("plain", cmd),
             Case("--sample=1000", sampled(b, ["--sample=1000"], cmd), b.gputrace_env(VT_UNIFY="no"))]
    if not shutil.which("perf"):
        return cases
    for how in "fp", "dwarf":
        cases.append(Case(f"perf, {how}", ["perf", "record", "-q", "-o", b.path("perf.data"), "-e", "task-clock:u",
                                           "-F", "1000", "--call-graph", how, "--", *cmd]))
    return cases


def sampled(b, options, cmd):
    """`gputrace run` with these options."""
    words = b.gputrace_run(*cmd)
    return [*words[:2], *options, *words[2:]]


def suite(run, _peers):
    """One round."""
    b = run.b
    if not hasattr(b, "samples"):
        b.samples = prepare(b)
    for turn in range(TURNS):
        for name, cmd in b.samples.items():
            cases = [Case(name + how, sampled(b, options, cmd), b.gputrace_env(VT_UNIFY="no"))
                     for how, options in ((", none", ["--no-sample"]), ("", []))]
            for case in cases[::-1 if turn % 2 else 1]: # neither is always the first
                run.add("samples", case.name, run.once(case, warm=0))
    for turn in range(PEER_TURNS):
        for case in peers_of(b, b.samples["xz"])[::-1 if turn % 2 else 1] if "xz" in b.samples else []:
            run.add("samples", case.name, run.once(case, warm=0))
    if os.path.exists(b.path("perf.data")):
        os.remove(b.path("perf.data"))


def goals(g, results, spread):
    """The rows of the table."""
    c = results.get("samples", {})
    used = lambda name: [r["user"] + r["sys"] for r in c.get(name, []) if r.get("user")]
    more = lambda name, base: [100 * (a / b - 1) for a, b in zip(used(name), used(base))]
    for name in "xz", "sqlite3", "gcc", "python3":
        x = more(name, name + ", none")
        g.row(f"samples by default of {name}: its processor time", "at most 1 % more",
              f"{spread(x, 2, ' %')}, {len(x)} turns of {spread(used(name), 2)} s",
              statistics.median(x) if x else None, 1)
    for name, what in (("--sample=1000", "`gputrace run --sample=1000`"),
                       ("perf, fp", "`perf record -F 1000 --call-graph fp`"),
                       ("perf, dwarf", "`perf record -F 1000 --call-graph dwarf`")):
        x = more(name, "plain")
        if x:
            g.row(f"(1,000 samples a second of xz: {what})", "none", f"{spread(x, 2, ' %')}, {len(x)} turns",
                  statistics.median(x), None)
