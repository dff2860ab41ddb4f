# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops of OpenMP on one thread (omp.c): plain, under an OMPT tool in which nothing happens, recorded, and
the same records by themselves; with LLVM's runtime, and the loops with GCC's.

Limits: needs clang with omp-tools.h for the first.
"""
import os
import shutil
import statistics
import subprocess

from tools import HERE, Case

LOOPS = "300000"
TURNS = 5 # in each round


def prepare(b):
    """Builds the programs; which compilers have OpenMP."""
    found = []
    flags = ["-O2", "-fopenmp", "-I" + os.path.join(b.stage, "include"), os.path.join(HERE, "omp.c")]
    for compiler in ("clang", "gcc"):
        if shutil.which(compiler) and not subprocess.run([compiler, *flags, "-o", b.path("omp_" + compiler)],
                                                         stderr=subprocess.DEVNULL).returncode:
            found.append(compiler)
    if "clang" in found and subprocess.run(["clang", *flags, "-w", "-fPIC", "-shared", "-DEMPTY", "-o",
                                            b.path("ompempty.so")], stderr=subprocess.DEVNULL).returncode:
        found.remove("clang")
    return found


def suite(run, _peers):
    """One round."""
    b = run.b
    if not hasattr(b, "omp"):
        b.omp = prepare(b)
    quiet = {"VT_VERBOSE": "0", "VT_UNIFY": "no"}
    cases = []
    for compiler in b.omp:
        loops = [b.path("omp_" + compiler), "loops", LOOPS]
        cases += [Case(compiler + " plain", loops), Case(compiler + " recorded", b.gputrace_run(*loops), quiet)]
    if "clang" in b.omp:
        cases += [Case("clang empty", [b.path("omp_clang"), "loops", LOOPS],
                       {"OMP_TOOL_LIBRARIES": b.path("ompempty.so")}),
                  Case("core", b.gputrace_run(b.path("omp_clang"), "core", LOOPS), quiet)]
    for _ in range(TURNS):
        for case in cases:
            run.add("omp", case.name, run.once(case, warm=0))


def goals(g, results, spread):
    """The rows of the table."""
    ns = {name: [r["ns"] for r in runs if "ns" in r] for name, runs in results.get("omp", {}).items()}
    middle = lambda name: statistics.median(ns[name]) if ns.get(name) else None
    of = lambda name: spread(ns[name])
    if middle("core") and middle("clang empty") and middle("clang recorded"):
        x = (middle("clang recorded") - middle("clang empty")) / middle("core")
        g.row("a parallel loop of LLVM's OpenMP on one thread: gputrace, above an empty OMPT tool",
              "at most 1.3 x its records alone", f"{x:.2f} x, {of('clang recorded')} ns to {of('clang empty')}; the "
              f"records {of('core')}, {len(ns['core'])} turns", x, 1.3)
        empty = middle("clang empty") - middle("clang plain")
        g.row("(an OMPT tool in which nothing happens adds)", "none", f"{empty:.1f} ns to {of('clang plain')}", empty, None)
    if middle("gcc recorded") and middle("gcc plain"):
        added = middle("gcc recorded") - middle("gcc plain")
        g.row("a parallel loop of GCC's OpenMP on one thread: gputrace adds", "none",
              f"{added:.1f} ns to {of('gcc plain')}, {len(ns['gcc plain'])} turns", added, None)
