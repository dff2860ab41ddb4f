# SPDX-License-Identifier: BSD-3-Clause
"""The cases of test/gpu/run: each records a program and compares.

Limits: a case says what it found through suite.verdict(); it never raises for a wrong trace.
"""
import re
import shlex
import sys
import time
from pathlib import Path
from statistics import median

import gpu_capture

# Small programs of which what CUPTI delivered is kept, for replaying it without a GPU.
CAPTURES = {
    "streams": ["@work", "streams", "12"],
    "copies": ["@work", "copies", "9"],
    "graph": ["@work", "graph", "4"],
    "branches": ["@work", "branches", "3"],
    "threads": ["@work", "threads", "10"],
    "square": ["@work", "square", "5"],
    "driver": ["@driver", "15"],
    "blas": ["@blas", "256", "8"],
    "torch": [sys.executable, "%torch_step.py", "1"],
}
# CUPTI's copy kinds by the words in the names of our regions.
KINDS = {"H2D": 1, "D2H": 2, "H2A": 3, "A2H": 4, "A2A": 5, "A2D": 6, "D2A": 7, "D2D": 8, "P2P": 10}


def counts_of(text):
    return {name: int(value) for name, value in re.findall(r"^COUNT (\w+)=(\d+)$", text, re.M)}


def total(spans, attribute="BYTES"):
    return sum(s.attributes.get(attribute, 0) for s in spans)


def equal(suite, name, what, found, expected):
    return suite.verdict(f"{name} {what}", found == expected, f"{found} of {expected}")


def compare(suite, name, trace, counts):
    """Counts and bytes, as the program counted them."""
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    if "memsets" in counts:
        equal(suite, name, "memsets", len(trace.sets()), counts["memsets"])
    for direction, words in (("h2d", ("H2D", "H2A")), ("d2h", ("D2H", "A2H")), ("d2d", ("D2D",))):
        if direction not in counts:
            continue
        spans = [s for s in trace.device("CUDA_MEMCPY") if any(w in s.name for w in words)]
        equal(suite, name, direction, len(spans), counts[direction])
        if direction + "_bytes" in counts:
            equal(suite, name, direction + " bytes", total(spans), counts[direction + "_bytes"])
    compare_messages(suite, name, trace, counts)
    account(suite, name, trace)


def compare_messages(suite, name, trace, counts):
    streams = trace.streams()
    for direction, kind in (("h2d", "SEND"), ("d2h", "RECV")):
        if direction + "_bytes" not in counts:
            continue
        found = [m for m in trace.messages if m[0] == kind and m[1] not in streams]
        equal(suite, name, f"{direction} messages", (len(found), sum(m[5] for m in found)),
              (counts[direction], counts[direction + "_bytes"]))


def account(suite, name, trace):
    """Every record became an event or is counted."""
    records = trace.property("CUDA_RECORDS")
    out = sum(trace.property("CUDA_" + k)
              for k in ("ZERO_TIME", "EXACT_CUPTIS", "SWITCHED_OFF", "UNKNOWN_KINDS", "NO_LOCATION", "OTHERS"))
    events = len(trace.kernels()) + len(trace.sets()) + len(trace.copies())
    suite.verdict(f"{name} account", records == events + out and
                  not trace.property("CUDA_LAUNCHES_WITHOUT_RECORD"),
                  f"{records} records, {events} events, {out} counted otherwise; "
                  f"{trace.property('CUDA_LAUNCHES_WITHOUT_RECORD')} launches without a record")


def simple(command, timeout=120, **how):
    """A program that counts what it does."""
    def case(suite, name):
        arguments = [suite.work / command[0], *command[1:]]
        trace, counts, _ = suite.record(name, arguments, timeout=timeout, **how)
        if trace:
            compare(suite, name, trace, counts)
            suite.check(name, trace)
    return case


def streams(suite, name):
    trace, counts, _ = suite.record(name, [suite.work / "work", "streams", "500"])
    if not trace:
        return
    compare(suite, name, trace, counts)
    used = {s.location for s in trace.kernels()}
    equal(suite, name, "streams", len(used), 4)
    threads = [n for n, kind, _ in trace.locations.values() if kind == "CPU_THREAD"]
    suite.verdict(f"{name} threads", len(threads) == 1, f"{threads}: the program's, none of the driver")
    paired = {s.correlation for s in trace.kernels()}
    called = {s.correlation for s in trace.calls()}
    suite.verdict(f"{name} correlation", len(paired) == counts["kernels"] and paired <= called,
                  f"{len(paired)} ids, {len(paired - called)} without a call")
    suite.check(name, trace)


def two_contexts(suite, name):
    trace, counts, _ = suite.record(name, [suite.work / "driver", "200"])
    if not trace:
        return
    compare(suite, name, trace, counts)
    contexts = [g for g in trace.groups.values() if g[1] == "ACCELERATOR"]
    equal(suite, name, "contexts", len(contexts), counts["contexts"])
    suite.check(name, trace)


def branches(suite, name):
    trace, counts, _ = suite.record(name, [suite.work / "work", "branches", "40"])
    if not trace:
        return
    compare(suite, name, trace, counts)
    places = {trace.locations[s.location][0] for s in trace.kernels()}
    suite.verdict(f"{name} places", len(places) >= 4, ", ".join(sorted(places)))
    suite.check(name, trace)


def graph_level(suite, name):
    trace, counts, _ = suite.record(name, [suite.work / "work", "graph", "50"],
                                    env={"VT_CUDA_GRAPHS": "graph"})
    if not trace:
        return
    graphs = [s for s in trace.kernels() if s.name == "CUDA graph"]
    equal(suite, name, "graphs", len(graphs), counts["graphs"])
    suite.check(name, trace)


def one_sided(suite, name):
    """The same as one-sided operations: counted in otf2-print's own words."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "copies", "400"],
                                    env={"VT_GPU_TRANSFERS": "rma"})
    if not trace:
        return
    puts = gets = bytes_put = bytes_got = 0
    for line in trace.run():
        size = re.search(r"Bytes: (\d+)|Length: (\d+)|Bytes sent: (\d+)", line)
        if line.startswith("RMA_PUT"):
            puts += 1
            bytes_put += int(next(filter(None, size.groups()))) if size else 0
        elif line.startswith("RMA_GET"):
            gets += 1
            bytes_got += int(next(filter(None, size.groups()))) if size else 0
    # A copy on the device is got by its stream from itself.
    equal(suite, name, "get", (gets, bytes_got),
          (counts["h2d"] + counts["d2d"], counts["h2d_bytes"] + counts["d2d_bytes"]))
    equal(suite, name, "put", (puts, bytes_put), (counts["d2h"], counts["d2h_bytes"]))
    equal(suite, name, "no messages", len(trace.messages), 0)
    suite.check(name, trace)


def square(suite, name):
    """The wait and the transfer are told apart and add up to the call."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "square", "300"])
    if not trace:
        return
    compare(suite, name, trace, counts)
    copies = trace.copies("D2H")
    calls = [c for c in trace.calls() if copies and c.correlation == copies[0].correlation and
             c.name.startswith("cudaMemcpy")]
    waits = [s for s in trace.spans if s.name == "HOST_IDLE"]
    if len(copies) != 1 or len(calls) != 1 or len(waits) != 1:
        suite.verdict(name, False, f"{len(copies)} copies, {len(calls)} calls, {len(waits)} waits")
        return
    parts, whole = waits[0].time + copies[0].time, calls[0].time
    suite.verdict(f"{name} wait + copy = call", abs(parts - whole) <= 0.01 * whole and
                  waits[0].time > 250e6,
                  f"{waits[0].time / 1e6:.3f} + {copies[0].time / 1e6:.3f} ms of "
                  f"{whole / 1e6:.3f} ms")
    suite.check(name, trace)


def idle(suite, name):
    """Idle and busy times make up the whole."""
    trace, _, _ = suite.record(name, [suite.work / "work", "copies", "50"],
                               env={"VT_GPUTRACE": "yes,idle,pure_idle"})
    if not trace:
        return
    busy = sorted((s.start, s.end) for s in trace.activities())
    quiet = sum(s.time for s in trace.spans if s.name == "GPU IDLE")
    used, until = 0, busy[0][0]
    for start, end in busy:
        used += max(0, end - max(start, until))
        until = max(until, end)
    whole = until - busy[0][0]
    suite.verdict(f"{name} times", quiet > 0 and abs(used + quiet - whole) <= len(busy),
                  f"{used} + {quiet} of {whole} ns")
    suite.check(name, trace)


def ends(mode, kernels, status=0, recover=False, env=None):
    def case(suite, name):
        trace, _, _ = suite.record(name, [suite.work / "work", mode], status=status,
                                   recover=recover, env=env)
        if trace:
            equal(suite, name, "kernels", len(trace.kernels()), kernels)
            suite.check(name, trace)
    return case


def same_counts(suite, name, trace, seen):
    """Against the independent tool's counts of another run of the same program."""
    equal(suite, name, "kernels", len(trace.kernels()), seen["kernels"])
    equal(suite, name, "memsets", len(trace.sets()), seen["memsets"])
    for word, kind in KINDS.items():
        spans = trace.copies(" " + word)
        expected = seen["copies"].get(kind, (0, 0))
        if spans or expected[0]:
            equal(suite, name, word, (len(spans), total(spans)), expected)
    account(suite, name, trace)


def library(command, timeout=200, env=None, exact=True):
    """A program whose kernels are a library's: counted by the independent tool."""
    def case(suite, name):
        arguments = suite.words(command)
        seen = suite.reference(name, arguments, env=env, timeout=timeout)
        trace, _, _ = suite.record(name, arguments, env=env, timeout=timeout)
        if not trace or not seen:
            return
        if exact:
            same_counts(suite, name, trace, seen)
        else:
            account(suite, name, trace)
            suite.verdict(f"{name} kernels", len(trace.kernels()) > 0,
                          f"{len(trace.kernels())}, the independent tool saw {seen['kernels']}")
        suite.check(name, trace)
    return case


def others(command, timeout=120):
    """A program of somebody else: ends as it does alone, and has what the independent tool counts. Its report
    is kept beside its log, to be read."""
    def case(suite, name):
        status, _, _ = suite.plain(command, timeout=timeout)
        seen = suite.reference(name, command, timeout=timeout, status=status)
        trace, _, _ = suite.record(name, command, timeout=timeout, status=status)
        if not trace:
            return
        _, out, err = suite.plain([suite.gputrace, "report", trace.directory])
        (suite.out / f"{name}.report").write_text(out + err)
        if seen:
            same_counts(suite, name, trace, seen)
        suite.check(name, trace)
    return case


def from_file(path):
    """Cases of a file with lines "NAME COMMAND"."""
    words = [shlex.split(line, comments=True) for line in Path(path).read_text().splitlines()]
    return [(line[0], others(line[1:])) for line in words if line]


def wrapped(suite, name):
    """cuBLAS with the wrapper that ships: every call that the program counted, with its sizes, and the
    kernels' launches inside of the calls."""
    folder = Path(suite.gputrace).resolve().parent.parent
    if not list(folder.glob("lib*/gputrace/libgputrace-wrap-cublas.so")):
        suite.say(f"     {name}: left out, gputrace was built without castxml or cuBLAS")
        return
    trace, counts, _ = suite.record(name, ["--wrap=cublas", *suite.words(["@blas", "512", "400"])])
    if not trace:
        return
    calls = [s for s in trace.spans if s.name == "cublasSgemm_v2"]
    suite.verdict(f"{name} calls", len(calls) == counts["products"], f"{len(calls)} of {counts['products']}")
    launches = {s.correlation: s for s in trace.calls() if s.correlation}
    kernels = [k for k in trace.kernels() if "gemm" in k.name]
    inside = sum(any(c.start <= launches[k.correlation].start <= c.end for c in calls)
                 for k in kernels if k.correlation in launches)
    suite.verdict(f"{name} launches", kernels and inside == len(kernels),
                  f"{inside} of {len(kernels)} matrix kernels were launched in a call that is seen")
    suite.check(name, trace)


def capture(suite):
    """Keeps one file for each of CAPTURES, in the folder "capture" of the results."""
    target = suite.out / "capture"
    target.mkdir(exist_ok=True)
    for name, command in CAPTURES.items():
        folder = suite.work / f"capture-{name}"
        folder.mkdir()
        rc, _, err = suite.plain([suite.gputrace, "run", "-o", suite.work / f"captured-{name}",
                                  *suite.words(command)],
                                 env={"VT_CUPTI_CAPTURE": str(folder)})
        files = list(folder.glob("*.cap"))
        if len(files) == 1:
            (target / f"{name}.cap").write_bytes(files[0].read_bytes())
        suite.verdict(f"capture {name}", not rc and len(files) == 1,
                      f"{files[0].stat().st_size} bytes" if files else err[-300:])


def torchrun(suite, name):
    trace, _, _ = suite.record(name, [sys.executable, "-m", "torch.distributed.run",
                                      "--nproc-per-node", "2", "--master-port", "29571",
                                      suite.programs / "torch_two.py"], timeout=240)
    if not trace:
        return
    owners = {trace.process_of(s.location) for s in trace.kernels()}
    equal(suite, name, "processes with a GPU", len(owners), 2)
    account(suite, name, trace)
    suite.check(name, trace)


def peer(suite, name):
    trace, counts, _ = suite.record(name, [suite.work / "peer"])
    if not trace:
        return
    equal(suite, name, "staged", (len(trace.copies("D2H")), len(trace.copies("H2D"))),
          (counts["staged"], counts["staged"]))
    if "peer" in counts:
        spans = trace.copies("P2P")
        equal(suite, name, "peer", (len(spans), total(spans)), (counts["peer"], counts["peer_bytes"]))
    suite.check(name, trace)


def same_times(suite, name, mode):
    """Each kernel's time as CUPTI gave it out and as it is in the trace of the same run."""
    folder = suite.work / f"{name}-capture"
    trace, _, _ = suite.record(f"{name}-captured", [suite.work / "kernels", str(mode)],
                               env={"VT_CUPTI_CAPTURE": str(folder)})
    if not trace:
        return
    given = gpu_capture.kernels(folder)
    apart = [(abs(s.time - given.get(s.correlation, 0)), s.time) for s in trace.kernels()]
    most = max((a / t for a, t in apart), default=1)
    suite.verdict(f"{name} in one run", len(apart) == len(given) and most <= 0.00005,
                  f"{len(apart)} kernels of {len(given)}, at most {max(apart)[0]} ns or {100 * most:.5f} % apart")


def kernel_times(suite, name, turns, seconds):
    """Ten programs, interleaved with the independent tool: the median time of each of their kernels,
    and of these the median over the turns: no further apart than 0.05 %, or than the tool's own runs are.
    What gputrace itself adds is seen in one run."""
    began = time.time()
    ours, theirs = [{} for _ in range(10)], [{} for _ in range(10)]
    for mode in range(10):
        same_times(suite, f"{name}{mode}", mode)
    for turn in range(turns):
        if turn > 1 and (time.time() - began) * (turn + 2) / (turn + 1) > seconds:
            break
        for mode in range(10):
            one_turn_of_times(suite, name, mode, turn, ours[mode], theirs[mode])
    for mode in range(10):
        judge_times(suite, f"{name} {mode}", ours[mode], theirs[mode])


def one_turn_of_times(suite, name, mode, turn, ours, theirs):
    command = [suite.work / "kernels", str(mode)]
    seen = suite.reference(f"{name}{mode}", command)
    trace, _, _ = suite.record(f"{name}{mode}-{turn}", command)
    if not trace or not seen:
        return
    for kernel, (_, _, middle) in seen["kernel"].items():
        theirs.setdefault(kernel[kernel.index("k_"):][:5], []).append(middle)
    spans = {}
    for s in trace.kernels():
        spans.setdefault(s.name[:5], []).append(s.time)
    for kernel, all_of_it in spans.items():
        ours.setdefault(kernel, []).append(sorted(all_of_it)[len(all_of_it) // 2])


def judge_times(suite, name, ours, theirs):
    theirs.pop("k_war", None)
    if not theirs:
        suite.verdict(name, False, "no run was complete")
        return
    worst = max(abs(median(ours.get(k, [0])) - median(t)) / median(t) for k, t in theirs.items())
    noise = max((max(t) - min(t)) / median(t) for t in theirs.values())
    suite.verdict(name, worst <= max(0.0005, noise),
                  f"{100 * worst:.4f} % apart; the independent tool's own {max(map(len, theirs.values()))} runs "
                  f"differ by {100 * noise:.4f} %")


def have(suite, module):
    rc, _, _ = suite.plain([sys.executable, "-c", f"import {module}"])
    if rc:
        suite.say(f"# without {module}")
    return not rc


def all_cases(suite):
    cases = [
        ("streams", streams),
        ("shared", simple(["work_shared", "streams", "100"])),
        ("copies", simple(["work", "copies", "400"])),
        ("one-sided", one_sided),
        ("graph", simple(["work", "graph", "50"])),
        ("branches", branches),
        ("graph-level", graph_level),
        ("threads", simple(["work", "threads", "1000"])),
        ("driver", two_contexts),
        ("square", square),
        ("idle", idle),
        ("pending", ends("pending", 1000)),
        ("_exit", ends("_exit", 1000, status=7)),
        ("killed", ends("killed", 1000, status=-9, recover=True)),
        ("reset", ends("reset", 600)),
        ("fork-before", ends("fork_before", 500)),
        ("fork-after", ends("fork_after", 350)),
        ("no-device", ends("no_device", 0, env={"CUDA_VISIBLE_DEVICES": ""})),
        ("blas", library(["@blas", "512", "40"])),
        ("cublas-wrapper", wrapped),
    ]
    if have(suite, "torch"):
        cases.append(("torch", library([sys.executable, "%torch_step.py", "20"])))
        cases.append(("torchrun", torchrun))
    if have(suite, "cupy"):
        cases.append(("cupy", library([sys.executable, "%cupy_some.py"])))
    if have(suite, "jax"):
        cases.append(("jax", library([sys.executable, "%jax_some.py"], exact=False,
                                     env={"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})))
    if suite.gpus > 1:
        cases.append(("peer", peer))
    return cases
