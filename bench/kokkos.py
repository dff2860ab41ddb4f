# SPDX-License-Identifier: BSD-3-Clause
"""The begin and end of a parallel_for, as a program that plays Kokkos makes them (test/kokkos/fake.c): without a
tool, with one that does nothing, recorded, and with kokkos-tools' simple kernel timer.

Limits: that timer is measured if KOKKOS_TIMER names its library. It sums up, and keeps no calls.
"""
import os
import statistics
import subprocess

from tools import Case

PAIRS = 2_000_000
TURNS = 3 # in each round
EMPTY = ("#include <stdint.h>\nvoid kokkosp_begin_parallel_for(const char *n, uint32_t d, uint64_t *k) { *k = 0; }\n"
         "void kokkosp_end_parallel_for(uint64_t k) { (void)k; }\n")


def prepare(b):
    """Builds the program and a tool that does nothing; what is run with which tool."""
    test = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "kokkos")
    with open(b.path("empty.c"), "w", encoding="ascii") as f:
        f.write(EMPTY)
    core, program = b.path("libkokkoscore.so"), b.path("kokkos")
    for words in (["-shared", "-fPIC", "-o", b.path("empty.so"), b.path("empty.c")],
                  ["-shared", "-fPIC", "-o", core, os.path.join(test, "kokkoscore.c")],
                  ["-pthread", "-o", program, os.path.join(test, "fake.c"), core]):
        subprocess.run(["gcc", "-O2", "-w", *words], check=True)
    pairs = [program, "pairs", str(PAIRS)]
    found = [Case("none", pairs, {"KOKKOS_TOOLS_LIBS": ""}),
             Case("empty", pairs, {"KOKKOS_TOOLS_LIBS": b.path("empty.so")}),
             Case("recorded", b.gputrace_run(*pairs), b.gputrace_env(VT_UNIFY="no"))]
    timer = os.environ.get("KOKKOS_TIMER", "")
    if os.path.exists(timer):
        found.append(Case("timer", pairs, {"KOKKOS_TOOLS_LIBS": timer}))
    else:
        print("bench: kokkos-tools' timer is not measured: KOKKOS_TIMER does not name it")
    return found


def suite(run, _peers):
    """One round."""
    b = run.b
    if not hasattr(b, "kokkos"):
        b.kokkos = prepare(b)
    for _ in range(TURNS):
        for case in b.kokkos:
            run.add("kokkos", case.name, run.once(case, warm=0))


def goals(g, results, spread):
    """The rows of the table."""
    c = results.get("kokkos", {})
    for name, what in (("empty", "a tool that does nothing"), ("recorded", "recorded"),
                       ("timer", "kokkos-tools' simple kernel timer")):
        added = [r["pair_ns"] - n["pair_ns"] for r, n in zip(c.get(name, []), c.get("none", []))
                 if "pair_ns" in r and "pair_ns" in n]
        if added:
            g.row(f"begin and end of a Kokkos::parallel_for: {what}", "none", f"{spread(added)} ns, {len(added)} turns",
                  statistics.median(added), None)
