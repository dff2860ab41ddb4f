# SPDX-License-Identifier: BSD-3-Clause
"""Cases of test/gpu/run for PC samples (VT_CUPTI_PCSAMPLING) and counts of instructions (VT_CUPTI_SASS): one after the
other, for only one process can sample a GPU.

Limits: left out, with a line, where the driver does not let this user sample.
"""
import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

from gpu_cases import account, equal
from gpu_sampled import lock  # a GPU is profiled in one way at a time


def jobs(suite, cuda, nvcc, flags):
    return [[nvcc, *flags, "-lineinfo", suite.programs / "pc.cu", "-o", suite.work / "pc", "-I" + str(cuda / "include"),
             "-ldl"]]


def record(suite, name, *words, mode="continuous", period=16):
    trace, counts, _ = suite.record(name, [suite.work / "pc", *words],
                                    env={"VT_CUPTI_PCSAMPLING": mode, "VT_CUPTI_PCSAMPLING_PERIOD": str(period)})
    log = (suite.out / f"{name}.log").read_text()
    if trace and "INSUFFICIENT_PRIVILEGES" in log:
        suite.say(f"# {name}: this user may not sample")
        return None, counts
    return trace, counts


def source(suite, name, trace, *words):
    done = subprocess.run([suite.gputrace, "source", "--json", trace.directory, *words], capture_output=True,
                          text=True, check=False)
    if not suite.verdict(f"{name} source", not done.returncode, done.stderr.strip()[-300:]):
        return None
    return json.loads(done.stdout)


def near(suite, name, found, expected, part):
    suite.verdict(name, expected and abs(found / expected - 1) <= part, f"{found:.4f}, {expected:.4f} expected")


def two_lines(suite, name):
    """Samples split as the instructions of the two lines do, and add up to 100 %."""
    with lock:
        trace, counts = record(suite, name, "two", "400")
    found = trace and source(suite, name, trace, "two_lines")
    if not found:
        return
    lines = {line["line"]: line for line in found["lines"] if line.get("line")}
    instructions = {}
    for one in found["instructions"]:
        if "FFMA" in (one.get("instruction") or "FFMA") and one.get("lines"):
            line = int(re.search(r":(\d+)(,|$)", one["lines"])[1])
            instructions[line] = instructions.get(line, 0) + 1
    chains = sorted(instructions, key=instructions.get)[-2:]
    both = sum(lines[n]["samples"] for n in chains)
    for n in chains:
        near(suite, f"{name} line {n}", lines[n]["samples"] / both,
             instructions[n] / sum(instructions[m] for m in chains), 0.03)
    equal(suite, name, "all lines, in %", round(100 * sum(line["share"] for line in found["lines"]), 6), 100.0)
    inlined = [line for line in found["lines"] if line["share_with_inlined"] > line["share"] + 0.1]
    suite.verdict(f"{name} inlined", len(inlined) == 1, f"{[line['line'] for line in inlined]}")
    samples = found["pc_sampling"]
    equal(suite, name, "samples", samples["samples"], samples["of_kernels"] + samples["dropped"] + samples["of_others"])
    equal(suite, name, "the property", trace.property("CUDA_PC_SAMPLES"), samples["samples"])
    equal(suite, name, "the metric", sum(v for metric, _, _, v in trace.metrics if metric == "gpu_pc_samples"),
          samples["of_kernels"])
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    account(suite, name, trace)
    suite.check(name, trace)


def call_paths(suite, name):
    """Serialized: each launch's samples, by the call path that launched it."""
    with lock:
        trace, _ = record(suite, name, "paths", "20", mode="serialized")
    found = trace and source(suite, name, trace, "two_lines")
    if not found:
        return
    paths = {p["path"].split(" > ")[0]: p for p in found.get("paths", [])}
    equal(suite, name, "paths", sorted(paths), ["left", "right"])
    equal(suite, name, "launches", [paths[p]["launches"] for p in sorted(paths)], [20, 40])
    near(suite, f"{name} samples", paths["right"]["samples"] / paths["left"]["samples"], 2, 0.05)
    suite.check(name, trace)


def price(suite, name):
    """4,800 matrix products cost at most 1.3 times as much, continuously sampled."""
    times = {"plain": [], "sampled": []}
    with lock:
        for _ in range(3):
            status, out, err = suite.plain([suite.work / "pc", "product", "4800"])
            if not suite.verdict(f"{name} plain", not status, err[-200:] if status else ""):
                return
            times["plain"].append(int(out.split("COUNT ns=")[1].split()[0]))
            trace, counts = record(suite, name, "product", "4800")
            if not trace:
                return
            times["sampled"].append(counts["ns"])
    ratio = min(times["sampled"]) / min(times["plain"])
    suite.verdict(f"{name} ratio", ratio <= 1.3,
                  f"{ratio:.3f}: {min(times['plain']) / 4.8e6:.1f} and {min(times['sampled']) / 4.8e6:.1f} us a launch")
    equal(suite, name, "interrupted", trace.property("CUDA_PC_SAMPLING_INTERRUPTED"), 0)


def long_kernel(suite, name):
    """A kernel of ten seconds is sampled all the time."""
    with lock:
        trace, counts = record(suite, name, "long", "10000", period=20)
    if not trace:
        return
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    equal(suite, name, "interrupted", trace.property("CUDA_PC_SAMPLING_INTERRUPTED"), 0)
    points = [time for metric, _, time, v in trace.metrics if metric == "gpu_pc_samples" and v]
    suite.verdict(f"{name} on the timeline", len(points) >= 10, f"{len(points)} values")
    suite.check(name, trace)


def full(suite, name):
    """A period that is too short: what is lost is counted, the rest goes on."""
    with lock:
        trace, counts = record(suite, name, "product", "3000", period=6)
    if not trace:
        return
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    suite.verdict(f"{name} interrupted", trace.property("CUDA_PC_SAMPLING_INTERRUPTED") > 0, "")
    suite.check(name, trace)


def reset(suite, name):
    """cudaDeviceReset() destroys the context that is sampled: the next one is sampled, too."""
    with lock:
        trace, counts = record(suite, name, "reset", "400")
    found = trace and source(suite, name, trace, "two_lines")
    if not found:
        return
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    equal(suite, name, "interrupted", trace.property("CUDA_PC_SAMPLING_INTERRUPTED"), 0)
    times = [time for metric, _, time, v in trace.metrics if metric == "gpu_pc_samples" and v]
    kernels = sorted(k.start for k in trace.kernels())
    suite.verdict(f"{name} goes on", times and max(times) > kernels[-1], f"{len(times)} values")
    lines = sorted((line["samples"] for line in found["lines"]), reverse=True)
    near(suite, f"{name} lines", lines[0] / sum(lines[:2]), 0.75, 0.03)
    suite.check(name, trace)


def ncu_instructions(suite, name, command, kernel):
    """Of Nsight Compute, the instructions of a kernel's first launch: offset -> row. None: it is not there."""
    ncu = shutil.which("ncu") or shutil.which("/usr/local/cuda/bin/ncu")
    if not ncu:
        suite.say(f"# {name}: without ncu")
        return None
    done = suite.plain([ncu, "--section", "SourceCounters", "--page", "source", "--csv", "-k", f"regex:{kernel}", "-c", "1",
                        *command])
    text = done[1][done[1].find('"Address"'):]
    rows = list(csv.DictReader(text.splitlines()))
    if not suite.verdict(f"{name} ncu", not done[0] and rows, f"status {done[0]}, {len(rows)} instructions"):
        return None
    first = int(rows[0]["Address"], 16)
    return {int(r["Address"], 16) - first: r for r in rows}


def as_ncu(suite, name):
    """Each line's part of the samples is that which Nsight Compute sees."""
    with lock:
        trace, _ = record(suite, name, "two", "400")
        found = trace and source(suite, name, trace, "two_lines")
        theirs = found and ncu_instructions(suite, name, [suite.work / "pc", "two", "1"], "two_lines")
    if not theirs:
        return
    ours = {int(i["offset"], 16): i for i in found["instructions"]}
    parts = {}
    for offset, row in theirs.items():
        text = (ours.get(offset, {}).get("lines") or "?").split(" at ")[-1]
        line = int(re.search(r":(\d+)", text)[1]) if ":" in text else 0
        mine, other = parts.get(line, (0, 0))
        parts[line] = mine + ours.get(offset, {}).get("samples", 0), other + int(row["# Samples"])
    sums = [sum(p[i] for p in parts.values()) for i in (0, 1)]
    for line, (mine, other) in sorted(parts.items()):
        if mine > 0.05 * sums[0]:
            suite.verdict(f"{name} line {line}", abs(mine / sums[0] - other / sums[1]) < 0.02,
                          f"{100 * mine / sums[0]:.1f} % of {sums[0]} samples, ncu {100 * other / sums[1]:.1f} % of {sums[1]}")


def sass(suite, name):
    """Counts of instructions: exact, and as Nsight Compute has them."""
    threads, loops, fused = 264 * 256, 2000, 96
    with lock:
        trace, counts, _ = suite.record(name, [suite.work / "pc", "two", "20"], env={"VT_CUPTI_SASS": "default"})
        found = trace and source(suite, name, trace)
        theirs = found and ncu_instructions(suite, name, [suite.work / "pc", "two", "1"], "two_lines")
    if not found:
        return
    values = {(k["kernel"].split("(")[0], k["metric"]): k["value"] for k in found["sass"]["kernels"]}
    equal(suite, name, "floating-point operations", values.get(("two_lines", "flops")),
          2 * fused * loops * threads * counts["kernels"])
    flops = sorted(line["value"] for line in found["sass"]["lines"] if line["metric"] == "flops")
    equal(suite, name, "of each line", [round(f / sum(flops), 6) for f in flops], [0.25, 0.75])
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    for metric, column in (("smsp__sass_inst_executed", "Instructions Executed"),
                           ("smsp__sass_thread_inst_executed_pred_on", "Predicated-On Thread Instructions Executed")):
        ours = {int(i["offset"], 16): i["value"] for i in found["sass"]["instructions"] if i["metric"] == metric}
        other = {at: counts["kernels"] * int(r[column]) for at, r in (theirs or {}).items() if int(r[column])}
        if other:
            suite.verdict(f"{name} as ncu: {column}", ours == other,
                          f"{sum(ours.values())} and {sum(other.values())} in {len(other)} instructions")
    suite.check(name, trace)


def sass_more(suite, name):
    """A second context after cudaDeviceReset() is counted, too; what it costs."""
    with lock:
        trace, counts, _ = suite.record(name, [suite.work / "pc", "reset", "20"], env={"VT_CUPTI_SASS": "default"})
        found = trace and source(suite, name, trace)
        plain = suite.plain([suite.work / "pc", "product", "20"])[1]
        product = suite.record(f"{name}-product", [suite.work / "pc", "product", "20"], env={"VT_CUPTI_SASS": "default"})
    if not found:
        return
    values = {(k["kernel"].split("(")[0], k["metric"]): k["value"] for k in found["sass"]["kernels"]}
    equal(suite, name, "floating-point operations", values.get(("two_lines", "flops")),
          2 * 96 * 2000 * 264 * 256 * counts["kernels"])
    suite.check(name, trace)
    times = [int(re.search(r"ns=(\d+)", text)[1]) for text in (plain, product[2])]
    suite.verdict(f"{name} price", times[1] < 200 * times[0], f"a matrix product takes {times[1] / times[0]:.1f} times as long")
    found = product[0] and source(suite, f"{name}-product", product[0])
    values = {(k["kernel"].split("(")[0], k["metric"]): k["value"] for k in found["sass"]["kernels"]} if found else {}
    equal(suite, name, "operations of the products", values.get(("product", "flops")), 21 * 2 * 12288 * 128 * 2048)


def sass_graph(suite, name):
    """Two kernels of a cubin are told apart, and what a graph launches is counted: 5 launches of each kernel, and with
    the graph 5 more of the second one."""
    values = {}
    for how in ("none", "graph"):
        with lock:
            trace, _, _ = suite.record(f"{name}-{how}", [suite.work / "exact", "1048576", "5", how],
                                       env={"VT_CUPTI_SASS": "smsp__sass_inst_executed"})
        found = trace and source(suite, f"{name}-{how}", trace)
        for kernel in found["sass"]["kernels"] if found else []:
            values[how, "add" if kernel["kernel"].startswith("add") else "grow"] = kernel["value"]
        if trace:
            suite.check(f"{name}-{how}", trace)
    each = {what: value / 5 / 32768 for what, value in values.items()}
    suite.verdict(f"{name} kernels", len(values) == 4, f"instructions of a warp: {each}")
    if len(values) == 4:
        equal(suite, name, "add", values["graph", "add"], values["none", "add"])
        equal(suite, name, "grow, twice with the graph", values["graph", "grow"], 2 * values["none", "grow"])


def blocks(suite, name):
    """When each block ran, and where: blocks of 5 ms, one of which takes four times as long; and which launches of the
    trace they are, of two at the same time and of a graph that is launched three times."""
    trace, counts, _ = suite.record(name, [suite.work / "apps", "blocks", "528", "5"])
    done = trace and suite.plain([suite.gputrace, "source", "--blocks", "--json", trace.directory])
    if not trace or not suite.verdict(f"{name} source", not done[0], done[2][-300:]):
        return
    found = json.loads(done[1])
    launch = found["launches"][0]
    equal(suite, name, "blocks", [launch["blocks"], launch["missing"]], [528, 0])
    equal(suite, name, "blocks of all multiprocessors", sum(sm["blocks"] for sm in found["sms"] if sm["launch"] == 1), 528)
    # Cases beside this one take turns on the device.
    near(suite, f"{name} longest block", launch["longest_s"], 0.020, 0.05)
    suite.say(f"# {name}: {launch}")
    kernels = {int(k.correlation): k for k in trace.kernels()}
    places = found["places"]
    equal(suite, name, "launches and their places", [p["launch"] for p in places], list(range(1, 7)))
    equal(suite, name, "launches that are the same kernel", len({p["correlation"] for p in places}), len(places))
    for place in places:
        launch, kernel = found["launches"][place["launch"] - 1], kernels[place["correlation"]]
        took = (kernel.end - kernel.start) / trace.resolution
        what = f"{name} {place['launch']}, {launch['kernel']}"
        suite.verdict(f"{what}: in its kernel", 0 <= took - launch["time_s"] < 20e-6,
                      f"{launch['time_s'] * 1e3:.4f} of {took * 1e3:.4f} ms")
        suite.verdict(f"{what}: how exact", place["error_s"] < 10e-6, f"{place['error_s'] * 1e6:.2f} us")
    times = [round(found["launches"][p["launch"] - 1]["time_s"] * 1e3) for p in places]
    equal(suite, name, "times of the launches, ms", times[1:], [20, 40, 60, 60, 60])
    equal(suite, name, "streams of left and right", len({p["stream"] for p in places[1:3]}), 2)
    equal(suite, name, "kernels", len(kernels), counts["kernels"])
    # The GPU's timer has them as far apart as the trace, beyond what the clocks differ.
    with open(next(Path(trace.directory, "gpu").glob("blocks.*")), encoding="ascii") as file:
        first = [int(line.split()[2]) for line in file if line.startswith("grid ")]
    off = max(abs(p["begin_s"] - places[0]["begin_s"] - (first[p["launch"] - 1] - first[0]) / 1e9) for p in places)
    suite.verdict(f"{name} as far apart as by the GPU's timer", off < 20e-6, f"at most {off * 1e6:.2f} us off")
    suite.check(name, trace)


def cases(_):
    return [("pc", two_lines), ("pc-paths", call_paths), ("pc-price", price), ("pc-long", long_kernel), ("pc-full", full),
            ("pc-reset", reset), ("pc-ncu", as_ncu), ("sass", sass), ("sass-more", sass_more),
            ("sass-graph", sass_graph), ("blocks", blocks)]
