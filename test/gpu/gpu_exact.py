# SPDX-License-Identifier: BSD-3-Clause
"""Cases of test/gpu/run for metrics of single kernels (VT_CUPTI_KERNEL): against what must be counted, a program that
measures itself, and NVIDIA's own ncu.

Limits: CUPTI 12.6 or newer, and a driver that lets this user count; the comparison with ncu where it is installed.
"""
import csv
import io
import re
import shutil
from pathlib import Path

from gpu_cases import account, equal
from gpu_sampled import lock, near  # a GPU is profiled in one way at a time

WARPS, THREADS, READ = "smsp__warps_launched.sum", "smsp__thread_inst_executed.sum", "dram__bytes_read.sum"
METRICS = [WARPS, THREADS, "smsp__inst_executed.sum", READ]
PASSES = [WARPS, "sm__throughput.avg.pct_of_peak_sustained_elapsed"]
ELEMENTS = 500000000
SMALL = 1 << 24


def jobs(suite, cuda, nvcc, flags):
    cupti = Path(suite.link_cupti_path())
    if not cupti.is_absolute():
        return []
    stage = Path(suite.gputrace).parent.parent
    how = ["-I" + str(stage / "include"), "-I" + str(cuda / "extras" / "CUPTI" / "include"),
           "-L" + str(cuda / "lib64" / "stubs"), "-lcuda", "-ldl",
           "-Xlinker", cupti, "-Xlinker", "-rpath", "-Xlinker", cupti.parent]
    return [[nvcc, *flags, suite.programs / "exact.cu", "-o", suite.work / "exact", *how],
            [nvcc, *flags, "-DVTRACE", suite.programs / "exact.cu", "-o", suite.work / "exact_user", *how,
             "-L" + str(stage / "lib"), "-lgputrace", "-Xlinker", "-rpath", "-Xlinker", stage / "lib"]]


def record(suite, name, *words, way="replay", metrics=METRICS, kernels="", program=None):
    with lock:
        trace, counts, _ = suite.record(name, program or [suite.work / "exact", *map(str, words)],
                                        env={"VT_CUPTI_METRICS": ":".join(metrics), "VT_CUPTI_KERNEL": way,
                                             "VT_CUPTI_KERNELS": kernels}, timeout=240)
    return trace, counts


def enclosing(trace, location, time):
    """The region that a value at its end is of."""
    inside = [s for s in trace.spans if s.location == location and s.start <= time <= s.end]
    return max(inside, key=lambda s: (s.end == time, s.depth)) if inside else None


def values(trace, metric, region=""):
    """(span, value) of each, of the regions whose name has this in it."""
    found = [(enclosing(trace, location, time), value)
             for name, location, time, value in trace.metrics if name == metric]
    return [(s, v) for s, v in found if s and region in s.name]


def same(suite, name, what, trace, metric, region, expected, count):
    """All of them are equal, and what is expected (None: anything)."""
    found = [v for _, v in values(trace, metric, region)]
    ok = len(found) == count and len(set(found)) == 1 and (expected is None or found[0] == expected)
    suite.verdict(f"{name} {what}", ok, f"{count} times {expected or 'the same'}: {found[:6]}")
    return found[0] if found else 0


def result(suite, name, counts, rounds):
    equal(suite, name, "result", (counts["first"], counts["last"]), (2 ** rounds - 1,) * 2)


def exact(suite, name):
    """Warps and thread instructions are exact and the same each time, bytes within 0.1 %; by itself and by ncu, too."""
    trace, counts = record(suite, name, ELEMENTS, 4, kernels="add:1-2,grow:2")
    if not trace:
        return
    warps = same(suite, name, "warps", trace, WARPS, "add(", counts["warps"], 2)
    equal(suite, name, "warps of 500,000,000 elements", warps, 15625000)
    threads = same(suite, name, "thread instructions", trace, THREADS, "add(", None, 2)
    instructions = same(suite, name, "instructions", trace, METRICS[2], "add(", None, 2)
    equal(suite, name, "thread instructions of all elements", threads, 32 * instructions)
    equal(suite, name, "instructions of all warps, the rest", instructions % counts["warps"], 0)
    for _, read in values(trace, READ, "add("):
        near(suite, name, "bytes read", read, counts["read"], 0.001)
    same(suite, name, "warps of grow", trace, WARPS, "grow", counts["warps"], 1)
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    result(suite, name, counts, 4)
    adds = [k for k in trace.kernels() if k.name.startswith("add(")]
    times = [k.time / 1e6 for k in adds]
    suite.verdict(f"{name} times", max(times) < 1.2 * min(times), f"add: {', '.join(f'{t:.3f}' for t in times)} ms, "
                  "the first two of them measured")
    account(suite, name, trace)
    equal(suite, name, "without times", trace.property("CUDA_ZERO_TIME"), 0)
    suite.check(name, trace)
    ours = {WARPS: warps, THREADS: threads, METRICS[2]: instructions,
            READ: values(trace, READ, "add(")[0][1] if values(trace, READ, "add(") else 0}
    alone(suite, name, ours)
    ncu(suite, name, ours)


def compare(suite, name, who, ours, theirs):
    for metric in METRICS[:3]:
        equal(suite, name, f"{who}: {metric}", ours[metric], theirs.get(metric))
    near(suite, name, f"{who}: {READ}", ours[READ], theirs.get(READ, 0), 0.001)


def alone(suite, name, ours):
    with lock:
        rc, out, err = suite.plain([suite.work / "exact", str(ELEMENTS), "1"], {"SELF_METRICS": " ".join(METRICS)})
    found = {n: int(v) for n, v in re.findall(r"^SELF (\S+) (\d+)$", out, re.M)}
    if suite.verdict(f"{name} independent", not rc and found, f"status {rc} {err[-200:]}"):
        compare(suite, name, "as independently", ours, found)


def ncu(suite, name, ours):
    command = shutil.which("ncu")
    if not command:
        suite.say(f"# {name}: no ncu")
        return
    with lock:
        rc, out, err = suite.plain([command, "--csv", "--page", "raw", "--print-units", "base", "--metrics",
                                    ",".join(METRICS), "-k", "add", "-c", "1", suite.work / "exact", str(ELEMENTS), "1"],
                                   timeout=180)
    lines = [line for line in out.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    found = {m: int(float(rows[-1][m].replace(",", ""))) for m in METRICS if rows and rows[-1].get(m)}
    if suite.verdict(f"{name} ncu", not rc and len(found) == len(METRICS), f"status {rc} {(out + err)[-300:] if rc else found}"):
        compare(suite, name, "as ncu", ours, found)


def passes(suite, name):
    """Several passes: the result is that of one run of each kernel."""
    trace, counts = record(suite, name, SMALL, 6, metrics=PASSES)
    if not trace:
        return
    same(suite, name, "warps", trace, WARPS, "add(", counts["warps"], 6)
    result(suite, name, counts, 6)
    text = "; ".join(v for p in trace.properties.values() for k, v in p.items() if k == "CUDA_EXACT_0")
    suite.verdict(f"{name} price", re.search(r"in [2-9]\d* passes", text), text)
    equal(suite, name, "measured", trace.property("CUDA_EXACT_MEASURED"), counts["kernels"])
    account(suite, name, trace)
    suite.check(name, trace)


def ranges(suite, name):
    """Ranges of the program: both kernels of a round together, in one pass; nothing is run twice."""
    trace, counts = record(suite, name, SMALL, 10, "ranges", way="user")
    if not trace:
        return
    same(suite, name, "warps", trace, WARPS, "round", 2 * counts["warps"], 10)
    user = same(suite, name, "thread instructions", trace, THREADS, "round", None, 10)
    result(suite, name, counts, 10)
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    equal(suite, name, "CUPTI's own kernels", trace.property("CUDA_EXACT_CUPTIS"), 10)
    account(suite, name, trace)
    suite.check(name, trace)
    trace, _ = record(suite, f"{name}-replay", SMALL, 1)
    if trace:
        equal(suite, name, "thread instructions as by replay", user,
              sum(v for _, v in values(trace, THREADS, "add(") + values(trace, THREADS, "grow")))
    trace, counts = record(suite, f"{name}-passes", SMALL, 20, "ranges", way="user", metrics=PASSES)
    if trace:
        found = [v for _, v in values(trace, WARPS, "round")]
        suite.verdict(f"{name} passes", 0 < len(found) < 10 and set(found) == {2 * counts["warps"]}, f"{found}")
        result(suite, f"{name} passes", counts, 20)


def user(suite, name):
    """Ranges of the user API are measured as those of NVTX are."""
    trace, counts = record(suite, name, way="user", kernels="round",
                           program=[suite.work / "exact_user", str(SMALL), "10", "ranges"])
    if not trace:
        return
    same(suite, name, "warps", trace, WARPS, "round", 2 * counts["warps"], 10)
    same(suite, name, "thread instructions", trace, THREADS, "round", None, 10)
    result(suite, name, counts, 10)
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    account(suite, name, trace)
    suite.check(name, trace)


def ten_seconds(suite, name):
    """A kernel of 10 s, replayed in several passes: it is measured, and recorded with the time of one run."""
    trace, counts = record(suite, name, SMALL, 1, "long", "10", kernels="k_spin", metrics=PASSES)
    if not trace:
        return
    spin = [k for k in trace.kernels() if "k_spin" in k.name]
    suite.verdict(f"{name} kernel", len(spin) == 1 and 9.9e9 < spin[0].time < 11e9, f"{spin[0].time / 1e9 if spin else 0:.3f} s")
    equal(suite, name, "measured, missed", (trace.property("CUDA_EXACT_MEASURED"), trace.property("CUDA_EXACT_MISSED")),
          (1, 0))
    equal(suite, name, "warps", [v for _, v in values(trace, WARPS, "k_spin")], [1])
    result(suite, name, counts, 1)
    text = "; ".join(v for p in trace.properties.values() for k, v in p.items() if k == "CUDA_EXACT_0")
    suite.say(f"# {name}: {text}")
    account(suite, name, trace)
    suite.check(name, trace)


def others(suite, name):
    """Threads, graphs, a reset and a long kernel: told, counted, and the result is what it was."""
    trace, counts = record(suite, f"{name}-threads", SMALL, 10, "threads", kernels="add")
    if trace:
        same(suite, f"{name} threads", "warps", trace, WARPS, "add(", counts["warps"], 50)
        result(suite, f"{name} threads", counts, 10)
        suite.check(f"{name}-threads", trace)
    trace, counts = record(suite, f"{name}-graph", SMALL, 5, "graph")
    if trace:
        equal(suite, f"{name} graph", "measured, graphs", (trace.property("CUDA_EXACT_MEASURED"),
                                                           trace.property("CUDA_EXACT_GRAPHS")), (10, 5))
        result(suite, f"{name} graph", counts, 10)
        equal(suite, f"{name} graph", "kernels", len(trace.kernels()), counts["kernels"])
        suite.check(f"{name}-graph", trace)
    trace, counts = record(suite, f"{name}-reset", SMALL, 3, "reset")
    if trace:
        equal(suite, f"{name} reset", "measured, missed", (trace.property("CUDA_EXACT_MEASURED"),
                                                           trace.property("CUDA_EXACT_MISSED")), (12, 0))
        result(suite, f"{name} reset", counts, 3)
        suite.check(f"{name}-reset", trace)
    trace, counts = record(suite, f"{name}-long", SMALL, 2, "long", metrics=PASSES)
    if trace:
        spin = [k for k in trace.kernels() if "k_spin" in k.name]
        suite.verdict(f"{name} long", len(spin) == 1 and values(trace, WARPS, "k_spin") and
                      0.9e9 < spin[0].time, f"{spin[0].time / 1e9 if spin else 0:.2f} s")
        suite.check(f"{name}-long", trace)


def shared(suite, name):
    """Two programs of one run use one GPU: one of them measures."""
    program = f"{suite.work}/exact {SMALL} 5"
    trace, _ = record(suite, name, program=["sh", "-c", f"{program} & sleep 0.1; {program} & wait"])
    if not trace:
        return
    found = [p.get("CUDA_EXACT_MEASURED") for p in trace.properties.values() if "CUDA_EXACT_MEASURED" in p]
    suite.verdict(f"{name} measured", sorted(map(int, found))[-1] == 10, f"{found}")
    log = (suite.out / f"{name}.log").read_text()
    suite.verdict(f"{name} told", "another process of this run has its counters" in log or found.count("10") == 2)
    suite.check(name, trace)


def cases(suite):
    if not (suite.work / "exact").exists():
        return []
    return [("rp", exact), ("rp-passes", passes), ("rp-user", ranges), ("rp-vt-user", user), ("rp-ten-seconds", ten_seconds), ("rp-others", others), ("rp-shared", shared)]
