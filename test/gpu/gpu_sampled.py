# SPDX-License-Identifier: BSD-3-Clause
"""Cases of test/gpu/run that use the GPU's counters (VT_CUPTI_METRICS): one after the other, for a GPU has one set of
them.

Limits: CUPTI 12.6 or newer, and a driver that lets this user count; left out, with a line, where it does not.
"""
import csv
import re
import shutil
import subprocess
import threading
from pathlib import Path
from statistics import median

from gpu_cases import account

METRICS = ["smsp__warps_launched.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"]
ELEMENTS = 500000000
lock = threading.Lock()


def jobs(suite, cuda, nvcc, flags):
    cupti = Path(suite.link_cupti_path())
    if not cupti.is_absolute():
        return []
    return [[nvcc, *flags, suite.programs / "apps.cu", "-o", suite.work / "apps",
             "-I" + str(Path(suite.gputrace).parent.parent / "include")],
            [nvcc, *flags, suite.programs / "sampled.cu", "-o", suite.work / "sampled",
             "-I" + str(cuda / "extras" / "CUPTI" / "include"), "-L" + str(cuda / "lib64" / "stubs"), "-lcuda",
             "-Xlinker", cupti, "-Xlinker", "-rpath", "-Xlinker", cupti.parent]]


def sums(trace):
    found = {}
    for name, _, _, value in trace.metrics:
        found[name] = found.get(name, 0) + value
    return found


def near(suite, name, what, found, expected, part):
    suite.verdict(f"{name} {what}", expected and abs(found / expected - 1) <= part,
                  f"{found:.0f} of {expected:.0f}: {found / expected if expected else 0:.5f} (at most {part} apart)")


def record(suite, name, *words, interval=200, metrics=":".join(METRICS)):
    with lock:
        return suite.record(name, [suite.work / "sampled", *words],
                            env={"VT_CUPTI_METRICS": metrics, "VT_CUPTI_EVENTS_SAMPLING": str(interval)})


def missed(trace):
    texts = [v for p in trace.properties.values() for k, v in p.items() if k.startswith("CUDA_SAMPLING_")]
    return texts, [int(n) for t in texts for n in re.findall(r"(\d+) missing", t)]


def missing(suite, name, trace):
    texts, found = missed(trace)
    suite.verdict(f"{name} samples", found and not sum(found), "; ".join(texts))


def exact(suite, name):
    """Warps are exact, bytes within 0.1 %, and a program that samples itself sees the same."""
    trace, counts, _ = record(suite, name, str(ELEMENTS), "20")
    if not trace:
        return
    seen = sums(trace)
    suite.verdict(f"{name} warps", seen.get(METRICS[0]) == counts["warps"],
                  f"{seen.get(METRICS[0], 0):.0f} of {counts['warps']}: {counts['warps'] // counts['kernels']} a kernel")
    near(suite, name, "bytes read", seen.get(METRICS[1], 0), counts["read"], 0.001)
    missing(suite, name, trace)
    groups = {trace.groups[g][1] for n, kind, g in trace.locations.values() if kind == "METRIC"}
    suite.verdict(f"{name} place", groups == {"ACCELERATOR"}, f"{groups}")
    account(suite, name, trace)
    suite.check(name, trace)
    with lock:
        rc, out, err = suite.plain([suite.work / "sampled", str(ELEMENTS), "20"],
                                   {"SELF_METRICS": " ".join(METRICS)})
    alone = {n: float(v) for n, v in re.findall(r"^SELF (\S+) (\d+)$", out, re.M)}
    if not suite.verdict(f"{name} independent", not rc and alone, f"status {rc} {err[-200:]}"):
        return
    suite.verdict(f"{name} as independently: warps", seen.get(METRICS[0]) == alone[METRICS[0]],
                  f"{seen.get(METRICS[0], 0):.0f} and {alone[METRICS[0]]:.0f}")
    for metric in METRICS[1:]:
        near(suite, name, f"as independently: {metric}", seen.get(metric, 0), alone[metric], 0.005)


def reset(suite, name):
    """cudaDeviceReset() destroys the context: sampling goes on; samples that are missing meanwhile are counted."""
    trace, counts, _ = record(suite, name, str(ELEMENTS // 5), "20", "reset")
    if not trace:
        return
    seen, gaps = sums(trace).get(METRICS[0], 0), sum(missed(trace)[1])
    suite.verdict(f"{name} warps", 0 < seen == counts["warps"] or 0 < seen < counts["warps"] and gaps,
                  f"{seen:.0f} of {counts['warps']}, {gaps} samples missing")
    times = sorted(time for metric, _, time, _ in trace.metrics if metric == METRICS[0])
    kernels = sorted(k.start for k in trace.kernels())
    suite.verdict(f"{name} goes on", times and kernels and times[-1] > kernels[-1], f"{len(times)} samples")
    suite.check(name, trace)


def usual(suite, name):
    """The default set, with links that may be down."""
    trace, _, _ = record(suite, name, str(ELEMENTS // 5), "1500", interval=1000, metrics="default")
    if not trace:
        return
    seen = {n for n, _, _, _ in trace.metrics}
    suite.verdict(f"{name} metrics", "dram__bytes_read.sum" in seen and len(seen) >= 8, ", ".join(sorted(seen)))
    suite.check(name, trace)


def shared(suite, name):
    """Two programs of one run use one GPU: one of them samples at a time."""
    program = f"{suite.work}/sampled {ELEMENTS // 5}"
    with lock:
        trace, _, _ = suite.record(name, ["sh", "-c", f"{program} 300 & {program} 3000 & wait"],
                                   env={"VT_CUPTI_METRICS": METRICS[0]})
    if not trace:
        return
    # Threads have metrics of their own: what the scheduler did with them.
    times = sorted((t, location) for name_of, location, t, _ in trace.metrics if name_of == METRICS[0])
    rows = {location for _, location in times}
    turns = sum(a[1] != b[1] for a, b in zip(times, times[1:]))
    suite.verdict(f"{name} samplers", 1 <= len(rows) <= 2 and turns == len(rows) - 1,
                  f"{len(rows)} locations, {turns} turns, {len(times)} samples")
    suite.check(name, trace)


def cost(suite, name):
    """4,800 matrix products (12288 x 128 x 2048) cost at most 1.02 times as much under sampling."""
    found = {"plain": [], "traced": [], "sampled": []}
    words = [suite.work / "pc", "product", "4800"]
    for _ in range(3):
        with lock:
            _, out, _ = suite.plain(words)
            found["plain"].append(int(re.search(r"ns=(\d+)", out)[1]))
            for how, metrics in (("traced", ""), ("sampled", "default")):
                _, counts, _ = suite.record(f"{name}-{how}", words,
                                            env={"VT_CUPTI_METRICS": metrics})
                subprocess.run(["rm", "-rf", str(suite.work / f"trace-{name}-{how}")], check=False)
                found[how].append(counts["ns"])
    least = {how: min(times) for how, times in found.items()}
    text = ", ".join(f"{how} {median(t) / 1e6:.2f} ms" for how, t in found.items())
    suite.verdict(f"{name} of sampling", least["sampled"] <= 1.02 * least["plain"],
                  f"4,800 products: {text}; {least['sampled'] / least['plain']:.4f} of the plain run, "
                  f"{least['sampled'] / least['traced']:.4f} of the one without metrics")


def apps_cost(suite, name):
    """A breadth-first search and a hydrodynamics code cost at most 1.02 times as much under sampling."""
    for words in (("bfs", "23", "40"), ("hydro", "192", "500")):
        found = {"plain": [], "sampled": []}
        for _ in range(3):
            with lock:
                found["plain"].append(int(re.search(r"ns=(\d+)", suite.plain([suite.work / "apps", *words])[1])[1]))
                trace, counts, _ = suite.record(f"{name}-{words[0]}", [suite.work / "apps", *words],
                                                env={"VT_CUPTI_METRICS": "default"})
            found["sampled"].append(counts["ns"])
        least = {how: min(times) for how, times in found.items()}
        suite.verdict(f"{name} {words[0]}", least["sampled"] <= 1.02 * least["plain"],
                      f"{least['sampled'] / least['plain']:.4f} of {least['plain'] / 1e6:.1f} ms")
        missing(suite, f"{name} {words[0]}", trace)
        suite.check(f"{name}-{words[0]}", trace)


def launches_cost(suite, name):
    """A program bound by its launches (64^3 elements): what records cost is CUPTI's, and sampling adds little."""
    words, found = [suite.work / "apps", "hydro", "64", "2000"], {}
    ways = {"plain": None, "cupti": {"CUDA_INJECTION64_PATH": str(suite.work / "libreference.so")},
            "cupti, callbacks": {"CUDA_INJECTION64_PATH": str(suite.work / "libreference_callbacks.so")},
            "recorded": {"VT_CUPTI_METRICS": ""}, "recorded, sampled": {"VT_CUPTI_METRICS": "default"},
            "copies": {"VT_GPUTRACE": "memcpy"},
            "copies, sampled": {"VT_CUPTI_METRICS": "default", "VT_GPUTRACE": "memcpy"}}
    for _ in range(5):
        for way, env in ways.items():
            with lock:
                if "recorded" in way or "copies" in way:
                    counts = suite.record(f"{name}-traced", words, env=env)[1]
                    subprocess.run(["rm", "-rf", str(suite.work / f"trace-{name}-traced")], check=False)
                else:
                    env = {**(env or {}), "REFERENCE_OUT": str(suite.work / "launches")}
                    counts = {"ns": int(re.search(r"ns=(\d+)", suite.plain(words, env)[1])[1])}
            found.setdefault(way, []).append(counts["ns"])
    least, middle = ({way: f(times) for way, times in found.items()} for f in (min, median))
    text = ", ".join(f"{way} {least[way] / 1e6:.1f} ({t / 1e6:.1f}) ms" for way, t in middle.items())
    suite.say(f"# {name}: fastest (median) of 5: {text}")
    # Processes are some percent faster or slower each, with and without a tool.
    for what, ours, theirs in (("sampling beside copies", "copies, sampled", "copies"),
                               ("sampling", "recorded, sampled", "recorded"),
                               ("records beside CUPTI's", "recorded", "cupti, callbacks")):
        suite.verdict(f"{name} {what}", least[ours] <= 1.1 * least[theirs],
                      f"{least[ours] / least[theirs]:.4f}, medians {middle[ours] / middle[theirs]:.4f} (at most 1.1)")


def as_ncu(suite, name):
    """The sums of samples of whole programs are those that Nsight Compute counts, kernel by kernel."""
    ncu = shutil.which("ncu") or shutil.which("/usr/local/cuda/bin/ncu")
    if not ncu:
        suite.say(f"# {name}: without ncu")
        return
    metrics = [METRICS[0], "smsp__inst_executed.sum", METRICS[1]]
    # What each kernel finds in the cache is not the same when kernels run one at a time.
    for words, parts in ((("bfs", "22", "1"), (0, 0.005, 0.2)), (("hydro", "160", "10"), (0, 0.001, 0.02))):
        ours, theirs = {}, {}
        with lock:
            for metric in metrics:  # they do not fit into one pass
                trace, counts, _ = suite.record(f"{name}-{words[0]}", [suite.work / "apps", *words],
                                                env={"VT_CUPTI_METRICS": metric, "VT_CUPTI_EVENTS_SAMPLING": "200"})
                subprocess.run(["rm", "-rf", str(suite.work / f"trace-{name}-{words[0]}")], check=False)
                ours.update(sums(trace) if trace else {})
            _, out, _ = suite.plain([ncu, "--cache-control", "none", "--clock-control", "none", "--csv", "--metrics",
                                     ",".join(metrics), "--print-units", "base", suite.work / "apps", *words])
        for row in csv.DictReader(out[out.find('"ID"'):].splitlines()):
            theirs[row["Metric Name"]] = theirs.get(row["Metric Name"], 0) + float(row["Metric Value"].replace(",", ""))
        if not suite.verdict(f"{name} {words[0]}: ncu", theirs, ""):
            return
        # CUPTI's records of concurrent kernels come from 8 instructions that it adds to each warp.
        ours[metrics[1]] = ours.get(metrics[1], 0) - 8 * counts["warps"]
        for metric, part in zip(metrics, parts):
            near(suite, name, f"{words[0]}: {metric}", ours.get(metric, 0), theirs.get(metric, 0), part)
        suite.verdict(f"{name} {words[0]}: warps of the program", ours.get(metrics[0], 0) == counts["warps"],
                      f"{ours.get(metrics[0], 0):.0f} of {counts['warps']}")


def cases(suite):
    info = subprocess.run([suite.gputrace, "info", "--gpu-metrics", *METRICS], capture_output=True, text=True,
                          check=False)
    if info.returncode:
        suite.say("# without sampling of metrics: " + (info.stdout + info.stderr).strip()[-300:])
        return []
    return [("pm", exact), ("pm-reset", reset), ("pm-default", usual), ("pm-shared", shared), ("pm-cost", cost),
            ("pm-apps", apps_cost), ("pm-launches", launches_cost), ("pm-ncu", as_ncu)]
