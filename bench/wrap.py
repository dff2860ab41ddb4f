# SPDX-License-Identifier: BSD-3-Clause
"""The library wrappers: what a wrapped call, a write to a file and the loading of wrappers cost.

Limits: needs castxml; without it the suite says that it was not measured.
"""
import glob
import os
import shutil
import statistics

from tools import Case, output

WRITES = 1_000_000


def prepare(b):
    """Builds the wrapper of bench_work() and the I/O-heavy program. False: there is no castxml."""
    folder = b.path("workwrap")
    tool = os.path.join(b.stage, "bin", "gputrace")
    here = os.path.dirname(os.path.abspath(__file__))
    shutil.rmtree(folder, ignore_errors=True)
    b.cc("io", ["io.c"])
    said = output(tool, "libwrapgen", "-q", "-g", "work", "--header", os.path.join(here, "work.h"), "-l",
                  b.path("libbenchwork.so"), "-o", folder)
    said += output(tool, "libwrapgen", "--build", folder)
    if glob.glob(os.path.join(folder, "*.so")):
        return True
    print("bench: wrappers are not measured:", said[-200:])
    return False


def suite(run, _peers):
    """One round."""
    b, n = run.b, run.a.pairs
    if not hasattr(b, "wraps"):
        b.wraps = prepare(b)
    if not b.wraps:
        return
    quiet = {"VT_VERBOSE": "0", "VT_UNIFY": "no"}
    tool = os.path.join(b.stage, "bin", "gputrace")
    with_ = lambda options, *cmd: [tool, "run", "-o", b.trace, *options, "--", *cmd]
    keep = lambda name, case: run.add("wrap", name, run.once(case))
    keep("instrumented", Case("i", [b.path("event_gputrace"), str(n)], b.gputrace_env(VT_UNIFY="no")))
    keep("wrapped", Case("w", with_(["--wrap=" + b.path("workwrap") + "/"], b.path("event_lib"), str(n)), quiet))
    keep("library", Case("l", [b.path("event_lib"), str(n)]))
    io = [b.path("io"), str(WRITES)]
    keep("io plain", Case("p", io))
    keep("io gputrace", Case("g", with_([], *io), dict(quiet, VT_IOTRACE="yes")))
    if shutil.which("eztrace"):
        keep("io EZTrace", Case("e", ["eztrace", "-f", "-t", "posixio", "-o", b.trace, *io]))
    names = [os.path.basename(f)[len("libgputrace-wrap-"):-3]
             for f in glob.glob(os.path.join(b.stage, "lib*", "gputrace", "libgputrace-wrap-*.so"))]
    for _ in range(5):
        keep("start", Case("s", with_([], "true"), quiet))
        keep("start with all", Case("a", with_([f"--wrap={n}" for n in sorted(names)], "true"), quiet))


def goals(g, results, spread):
    """The rows of the table."""
    w = results.get("wrap")
    if not w:
        return
    of = lambda name, key: [r[key] for r in w.get(name, []) if key in r]
    middle = lambda values: statistics.median(values) if values else None
    x = [a / b for a, b in zip(of("wrapped", "ns_per_pair"), of("instrumented", "ns_per_pair"))]
    g.row("a wrapped library call (doc/libwrapgen.md)", "at most 1.3 x an instrumented function",
          f"{spread(x, 2, ' x')}, {spread(of('wrapped', 'ns_per_pair'))} ns", middle(x), 1.3)
    plain = of("io plain", "ns_per_write")
    for who, limit in (("gputrace", 60.0), ("EZTrace", None)):
        added = [a - b for a, b in zip(of("io " + who, "ns_per_write"), plain)]
        if added:
            g.row(f"a write() of one byte to /dev/null: {who} adds", "at most 60 ns" if limit else "none",
                  f"{spread(added)} ns to {spread(plain)}", middle(added), limit)
    ms = [(a - b) * 1e3 for a, b in zip(of("start with all", "wall_s"), of("start", "wall_s"))]
    g.row("loading all wrappers that ship", "at most 20 ms", f"{spread(ms)} ms", middle(ms), 20.0)
