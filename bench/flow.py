# SPDX-License-Identifier: BSD-3-Clause
"""`gputrace flow` of streams of a million events each, in which no two iterations are alike (flow.c).

Limits: no peer makes such graphs.
"""
import os
import shutil
import statistics

from tools import Case

STREAMS, CALLS = 16, 500_000


def suite(run, _peers):
    """One round: a trace, and the flow of it."""
    b = run.b
    if not hasattr(b, "flow"):
        b.cc("flow_gputrace", ["flow.c"], compiler=os.path.join(b.stage, "bin", "gputrace-cc"))
        b.flow = True
    made = run.once(Case("trace", [b.path("flow_gputrace"), str(STREAMS), str(CALLS)], b.gputrace_env(),
                         recorded=b.count_otf2), keep=True)
    trace = b.path("flow_trace") # once() removes b.trace
    shutil.rmtree(trace, ignore_errors=True)
    os.rename(b.trace, trace)
    flow = run.once(Case("flow", [os.path.join(b.stage, "bin", "gputrace"), "flow", "--json", "-o", "/dev/null", trace]),
                    warm=0)
    shutil.rmtree(trace)
    flow["events"] = 2 * made["recorded"]
    run.add("flow", "flow", flow)


def goals(g, results, spread):
    """The rows of the table."""
    runs = results.get("flow", {}).get("flow", [])
    if not runs:
        return
    million = [r["wall_s"] / r["events"] * 1e6 for r in runs]
    g.row(f"gputrace flow of {STREAMS} streams of a million events, per million events and stream", "none",
          f"{spread(million, 3, ' s')}, {spread([r['cpu_s'] / r['events'] * 1e9 for r in runs], 0, ' ns')} of a "
          f"processor an event, {spread([r['maxrss_kib'] / 1024 for r in runs], 0, ' MiB')}, {len(runs)} turns",
          statistics.median(million), None)
