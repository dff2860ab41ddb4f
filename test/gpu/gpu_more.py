# SPDX-License-Identifier: BSD-3-Clause
"""More cases of test/gpu/run: memory in use, counters, NVTX, parameters, options, other tools on CUPTI, devices by
their identity, and MPI.

Limits: MPI needs mpicc and mpirun, and a gputrace with the adapter for that MPI.
"""
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from gpu_cases import account, compare, equal, simple


def jobs(suite, cuda, nvcc, flags):
    """What must be compiled for these cases: commands."""
    include = ["-I" + str(cuda / "include"), "-I" + str(cuda / "extras" / "CUPTI" / "include")]
    stubs = ["-L" + str(cuda / "lib64" / "stubs"), "-lcuda"]
    found = [[nvcc, *flags, suite.programs / "nvtx.cu", "-o", suite.work / "nvtx"],
             [nvcc, *flags, suite.programs / "host.cu", "-o", suite.work / "host"],
             [nvcc, *flags, "-g", suite.programs / "callers.cu", "-o", suite.work / "callers"],
             [nvcc, *flags, "-g", "-cudart", "shared", suite.programs / "callers.cu", "-o",
              suite.work / "callers_shared"],
             ["cc", "-O2", suite.programs / "subscriber.c", "-o", suite.work / "subscriber", *include,
              *suite.link_cupti(cuda), *stubs]]
    mpi = mpi_flags()
    if mpi:
        found.append([nvcc, *flags, suite.programs / "ranks.cu", "-o", suite.work / "ranks", *mpi])
    return found


def mpi_flags():
    words = []
    for option, prefix in (("incdirs", "-I"), ("libdirs", "-L"), ("libs", "-l")):
        try:
            done = subprocess.run(["mpicc", f"--showme:{option}"], capture_output=True, text=True,
                                  check=False)
        except OSError:
            return None
        if done.returncode:
            return None
        words += [prefix + word for word in done.stdout.split()]
    return words


def log_of(suite, name):
    return (suite.out / f"{name}.log").read_text()


# ---- what is recorded ----------------------------------------------------------------------------------


def parameters(suite, name):
    """Each launch has the grid, the block and the memory that the program gave it."""
    trace, _, _ = suite.record(name, [suite.work / "work", "streams", "300"])
    if not trace:
        return
    for kernel, grid, block, shared in (("k_empty", "(1,1,1)", "(32,1,1)", 0),
                                        ("k_spin", "(2,1,1)", "(64,1,1)", 128)):
        spans = [s for s in trace.kernels() if s.name.startswith(kernel)]
        right = sum(s.parameters.get("grid") == grid and s.parameters.get("block") == block and
                    s.parameters.get("dynamic shared memory") == shared and
                    s.parameters.get("static shared memory") == 0 and
                    s.parameters.get("registers per thread", 0) > 0 for s in spans)
        equal(suite, name, kernel, right, 300)
    suite.check(name, trace)


def memory(suite, name):
    """Bytes held: every change, the most and the last, as the program added them up."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "memory", "200"],
                                    env={"VT_GPUTRACE": "yes,memusage"})
    if not trace:
        return
    values = [int(v) for metric, _, _, v in sorted(trace.metrics, key=lambda m: m[2])
              if metric == "gpu_mem_usage"]
    equal(suite, name, "changes", len(values), counts["changes"])
    equal(suite, name, "most", max(values, default=0), counts["held_most"])
    equal(suite, name, "last", values[-1] if values else -1, counts["held_last"])
    account(suite, name, trace)
    suite.check(name, trace)


def series(trace, metric):
    """(time in s, value) of one metric, in order."""
    return [(t / trace.resolution, v) for m, _, t, v in sorted(trace.metrics, key=lambda m: m[2]) if m == metric]


def mean(values):
    return sum(values) / len(values) if values else 0


def counters(suite, name):
    """What NVML says to gputrace, against what it says to nvidia-smi at the same time."""
    with subprocess.Popen(["nvidia-smi", "-i", "0", "-lms", "100", "--format=csv,noheader,nounits",
                           "--query-gpu=power.draw.instant,memory.used,memory.reserved,clocks.mem"],
                          stdout=subprocess.PIPE, text=True) as smi:
        trace, _, _ = suite.record(name, [suite.work / "loop", "launch", "400000"],
                                   env={"VT_METRICS": "nvml::power.0@20:nvml::energy.0@20:nvml::memory-used.0@20:"
                                                      "nvml::clock-mem.0@20"})
        smi.terminate()
        theirs = [[float(word) for word in line.split(",")] for line in smi.stdout if line.count(",") == 3]
    if not trace:
        return
    power, energy = series(trace, "nvml::power.0"), series(trace, "nvml::energy.0")
    used, clock = series(trace, "nvml::memory-used.0"), series(trace, "nvml::clock-mem.0")
    if not suite.verdict(f"{name} values", min(map(len, (power, energy, used, clock, theirs))) > 10,
                         f"{len(power)} {len(energy)} {len(used)} {len(clock)}, nvidia-smi {len(theirs)}"):
        return
    joules, seconds = (energy[-1][1] - energy[0][1]) / 1e3, energy[-1][0] - energy[0][0]
    watts = mean([v for _, v in power]) / 1e3
    suite.verdict(f"{name} energy", 0.8 < joules / seconds / watts < 1.25,
                  f"{joules:.0f} J in {seconds:.2f} s, power {watts:.0f} W")
    # nvidia-smi goes on while the archive is written, when the GPU does nothing.
    smi_watts = mean(sorted(line[0] for line in theirs)[-max(int(seconds * 10), 1):])
    suite.verdict(f"{name} power", 0.7 < watts / smi_watts < 1.4, f"{watts:.0f} W, nvidia-smi {smi_watts:.0f} W")
    # Other cases allocate meanwhile, and while the archive is written: the nearest of what nvidia-smi has seen.
    most = max(v for _, v in used) / 2**20
    nearest = min((line[1] + line[2] for line in theirs), key=lambda seen: abs(seen - most))
    suite.verdict(f"{name} memory", 0.9 < most / nearest < 1.1, f"{most:.0f} MiB, nvidia-smi {nearest:.0f} MiB")
    equal(suite, name, "clock", {v for _, v in clock}, {line[3] for line in theirs})
    suite.check(name, trace)


def energy_of_host(suite, name):
    """RAPL: its counters grow, by as much as a host can take."""
    trace, _, _ = suite.record(name, [suite.work / "loop", "launch", "200000"], env={"VT_METRICS": "rapl::all@50"})
    if not trace:
        return
    found = sorted({m for m, _, _, _ in trace.metrics if m.startswith("rapl::")})
    suite.verdict(f"{name} counters", bool(found), " ".join(found))
    for metric in found:
        values = series(trace, metric)
        grows = all(a[1] <= b[1] for a, b in zip(values, values[1:]))
        suite.verdict(f"{name} {metric}", grows and len(values) > 3 and values[-1][1] > values[0][1],
                      f"{len(values)} values, {values[0][1]:.0f} to {values[-1][1]:.0f}")
    suite.check(name, trace)


def fails(suite, name):
    """VT_GPUTRACE=error: the first call that fails ends the program, and all until then is in the trace."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "fails"], status=1,
                                    env={"VT_GPUTRACE": "yes,error", "VT_GPUTRACE_MEMUSAGE": "2"})
    if not trace:
        return
    equal(suite, name, "kernels", len(trace.kernels()), counts["kernels"])
    suite.verdict(f"{name} ended", "went_on" not in counts, str(counts))
    log = log_of(suite, name)
    suite.verdict(f"{name} told", "cudaMalloc failed with error 2" in log and
                  "1048576 bytes at" in log and "never freed" in log, log[-300:])
    account(suite, name, trace)
    suite.check(name, trace)
    trace, counts, _ = suite.record(f"{name}-not", [suite.work / "work", "fails"])
    if trace:
        suite.verdict(f"{name} goes on without it", counts.get("went_on") == 1, str(counts))


def pinned(suite, name):
    """Copies of pageable and of pinned memory are told apart."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "copies", "200"])
    if not trace:
        return
    equal(suite, name, "pageable", len(trace.copies("D2H pageable")), counts["pageable"])
    equal(suite, name, "pinned", len(trace.copies("D2H pinned")), counts["d2h"] - counts["pageable"])
    account(suite, name, trace)


def polls(suite, name):
    """Calls that only ask are merged, and none is missing."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "polls", "20"])
    if not trace:
        return
    spans = trace.calls("cudaEventQuery")
    asked = sum(s.parameters.get("calls", 1) for s in spans)
    equal(suite, name, "calls", asked, counts["polls"])
    suite.verdict(f"{name} merged", 20 <= len(spans) <= counts["polls"] // 2,
                  f"{len(spans)} regions for {asked} calls")
    suite.check(name, trace)


def waits(suite, name):
    """CUPTI's own account of waits: one inside of each waiting call."""
    trace, _, _ = suite.record(name, [suite.work / "work", "copies", "100"],
                               env={"VT_GPUTRACE": "yes,sync"})
    if not trace:
        return
    for call, wait in (("cudaStreamSynchronize", "STREAM SYNCHRONIZE"),
                       ("cudaDeviceSynchronize", "DEVICE SYNCHRONIZE")):
        calls = trace.calls(call)
        inside = [s for s in trace.spans if s.name == wait and
                  any(c.start <= s.start and s.end <= c.end for c in calls)]
        equal(suite, name, wait, len(inside), len(calls))
    account(suite, name, trace)
    suite.check(name, trace)


def everything(suite, name):
    """All words at once that may be tried on a GPU that others use."""
    words = "yes,runtime,driver,concurrent,idle,pure_idle,sync,memusage,stream_reuse,overhead,error"
    trace, counts, _ = suite.record(name, [suite.work / "work", "copies", "100"],
                                    env={"VT_GPUTRACE": words})
    if trace:
        compare(suite, name, trace, counts)
        suite.check(name, trace)


def reuse(suite, name):
    """Streams that come one after the other share rows; each activity tells its stream."""
    found = {}
    for word in ("yes", "yes,stream_reuse"):
        trace, counts, _ = suite.record(f"{name}-{len(found)}", [suite.work / "work", "short", "40"],
                                        env={"VT_GPUTRACE": word})
        if not trace:
            return
        compare(suite, name, trace, counts)
        found[word] = (len({s.location for s in trace.kernels()}),
                       len({s.attributes.get("CUDA_STREAM") for s in trace.kernels()}))
        suite.check(name, trace)
    suite.verdict(f"{name} rows", found["yes"][0] == 40 and found["yes,stream_reuse"][0] <= 4 and
                  found["yes,stream_reuse"][1] == 40,
                  f"{found['yes'][0]} rows without, {found['yes,stream_reuse'][0]} with it, of "
                  f"{found['yes,stream_reuse'][1]} streams")


def nvtx(suite, name):
    """Ranges, overlapping ranges, domain, category, payload and names; launches lie in their ranges."""
    trace, counts, _ = suite.record(name, [suite.work / "nvtx", "50"])
    if not trace:
        return
    compare(suite, name, trace, {"kernels": counts["kernels"]})
    steps = counts["steps"]
    step = [s for s in trace.spans if s.name == "step"]
    iterate = [s for s in trace.spans if s.name == "iterate"]
    flight = [s for s in trace.spans if s.name == "in flight"]
    equal(suite, name, "ranges", (len(step), len(iterate), len(flight)), (steps,) * 3)
    equal(suite, name, "payloads", sorted(s.attributes.get("NVTX_PAYLOAD", -1) for s in iterate),
          list(range(steps)))
    equal(suite, name, "categories", sum(s.parameters.get("category") == "inner loop" for s in iterate),
          steps)
    suite.verdict(f"{name} domain", all(trace.in_group(s, "NVTX Domain 'solver'") for s in iterate))
    launches = trace.calls("cuLaunchKernel")
    inside = sum(any(r.start <= c.start and c.end <= r.end for r in iterate) for c in launches)
    equal(suite, name, "launches in their range", inside, 2 * steps)
    rows = {trace.locations[s.location][0] for s in flight}
    suite.verdict(f"{name} overlapping", all(r.startswith("NVTX ranges") for r in rows) and len(rows) > 1,
                  ", ".join(sorted(rows)))
    names = {trace.locations[s.location][0] for s in trace.kernels()}
    suite.verdict(f"{name} stream", len(names) == 1 and
                  next(iter(names)).endswith("] the solver's stream"), ", ".join(names))
    suite.verdict(f"{name} mark", b"all asked for" in
                  (Path(trace.directory) / "traces.marker").read_bytes())
    threads = [l[0] for l in trace.locations.values() if l[1] == "CPU_THREAD"]
    suite.verdict(f"{name} threads", not any("CUPTI" in t or "gputrace" in t for t in threads),
                  ", ".join(threads))
    suite.check(name, trace)


def nvtx_many(suite, name):
    """More names than are kept: the rest share a region and are counted; all marks have their text."""
    trace, counts, _ = suite.record(name, [suite.work / "nvtx", "many", "40000"])
    if not trace:
        return
    compare(suite, name, trace, {"kernels": counts["kernels"]})
    own = sum(s.name.startswith("step number") for s in trace.spans)
    rest = sum(s.name == "NVTX: too many different messages" for s in trace.spans)
    equal(suite, name, "ranges", own + rest, counts["steps"])
    equal(suite, name, "merged", trace.property("CUDA_NVTX_MERGED"), rest)
    marks = (Path(trace.directory) / "traces.marker").read_bytes()
    equal(suite, name, "marks", len(set(re.findall(rb"step number \d+", marks))), counts["steps"])
    suite.check(name, trace)


# ---- the unusual ---------------------------------------------------------------------------------------


def failing_captures(suite, name):
    """A capture whose end fails is over: what is launched after it is none of it."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "failing_captures"])
    if not trace:
        return
    compare(suite, name, trace, {"kernels": counts["kernels"]})
    equal(suite, name, "launches while capturing", trace.property("CUDA_LAUNCHES_WHILE_CAPTURING"),
          counts["captured"])
    suite.check(name, trace)


def failing_execs(suite, name):
    """Becoming another program fails while others launch: nothing is lost, and nothing said."""
    trace, counts, _ = suite.record(name, [suite.work / "work", "failing_execs"])
    if not trace:
        return
    compare(suite, name, trace, {k: counts[k] for k in ("kernels", "h2d", "h2d_bytes")})
    lost = [k for p in trace.properties.values() for k in p if k.startswith("LOST_")]
    suite.verdict(f"{name} lost", not lost and "have no record" not in log_of(suite, name), ", ".join(lost))
    suite.check(name, trace)


def exit_busy(suite, name):
    """_exit while other threads launch: what is not there is counted."""
    trace, _, _ = suite.record(name, [suite.work / "work", "_exit_busy"], status=7)
    if not trace:
        return
    suite.verdict(f"{name} kernels", len(trace.kernels()) > 100, f"{len(trace.kernels())}")
    suite.check(name, trace)


def main_gone(suite, name):
    """main() ends by pthread_exit() while NVML is read: the process ends as it always does, nothing lost."""
    for how, status in (("main_gone", 5), ("main_gone_told", 6)):
        plain = suite.plain([suite.work / "work", how])[0]
        trace, counts, _ = suite.record(f"{name}-{how}", [suite.work / "work", how], status=plain,
                                        env={"VT_METRICS": "nvml::power.0@20:nvml::memory-used.0@20"})
        suite.verdict(f"{name} {how} plain", plain == status, f"status {plain}")
        if not trace:
            continue
        equal(suite, name, f"{how} kernels", len(trace.kernels()), counts["kernels"])
        values = [len(series(trace, metric)) for metric in ("nvml::power.0", "nvml::memory-used.0")]
        suite.verdict(f"{name} {how} values", min(values) >= 10, f"{values} in at least 0.4 s")
        suite.check(name, trace)


# ---- other tools, other devices ------------------------------------------------------------------------


def other_subscriber(suite, name):
    """The program has subscribed to CUPTI before gputrace could: it works, and the user is told."""
    trace, counts, _ = suite.record(name, [suite.work / "subscriber"])
    if not trace:
        return
    suite.verdict(f"{name} told", "another tool already uses CUPTI" in log_of(suite, name))
    suite.verdict(f"{name} program", counts.get("callbacks", 0) > 0, f"{counts}")
    equal(suite, name, "streams", len(trace.streams()), 0)
    suite.check(name, trace)


def other_tool(suite, name):
    """Another tool's library stands in CUDA_INJECTION64_PATH: it gets its records, gputrace says so."""
    seen = suite.work / f"{name}.seen"
    trace, counts, _ = suite.record(name, [suite.work / "work", "streams", "50"],
                                    env={"CUDA_INJECTION64_PATH": str(suite.work / "libreference.so"),
                                         "REFERENCE_OUT": str(seen)})
    if not trace:
        return
    suite.verdict(f"{name} told", "CUDA_INJECTION64_PATH is" in log_of(suite, name))
    text = seen.read_text() if seen.exists() else ""
    suite.verdict(f"{name} its records", f"kernels {counts['kernels']}\n" in text, text[:60])
    suite.check(name, trace)


def profiler(suite, name):
    """torch.profiler in a program under gputrace: the program works, gputrace's records are complete."""
    trace, _, _ = suite.record(name, [sys.executable, suite.programs / "torch_step.py", "10", "profiler"],
                               timeout=200)
    if not trace:
        return
    account(suite, name, trace)
    suite.verdict(f"{name} kernels", len(trace.kernels()) > 100, f"{len(trace.kernels())}")
    suite.check(name, trace)


def uuids():
    text = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
    return re.findall(r"UUID: (GPU-[0-9a-f-]+)", text)


def visible(suite, name):
    """Each device by its identity, however the program numbers it."""
    for number, uuid in enumerate(uuids()[:2]):
        trace, counts, _ = suite.record(f"{name}{number}", [suite.work / "work", "streams", "20"],
                                        env={"CUDA_VISIBLE_DEVICES": str(number)})
        if not trace:
            return
        compare(suite, name, trace, counts)
        devices = trace.devices()
        found = [trace.node_properties[node].get("UUID") for node, contexts in devices.items() if contexts]
        equal(suite, f"{name}{number}", "device", found, [uuid])
        suite.check(f"{name}{number}", trace)


def two_devices(suite, name):
    trace, _, _ = suite.record(name, [suite.work / "peer"])
    if not trace:
        return
    found = sorted(trace.node_properties[n].get("UUID") for n, contexts in trace.devices().items()
                   if contexts == 1)
    equal(suite, name, "devices", found, sorted(uuids()[:2]))
    suite.check(name, trace)


def many_contexts(suite, name):
    trace, counts, _ = suite.record(name, [suite.work / "driver", "30", "12"])
    if not trace:
        return
    compare(suite, name, trace, counts)
    contexts = [g for g in trace.groups.values() if g[1] == "ACCELERATOR"]
    equal(suite, name, "contexts", len(contexts), counts["contexts"])
    equal(suite, name, "devices", list(trace.devices().values()), [counts["contexts"]])
    suite.check(name, trace)


def crashed(suite, name):
    """The program ends while a thread of it goes on launching, which CUDA may or may not survive (so it is without
    gputrace): what was recorded is there."""
    plain, _, _ = suite.plain([suite.work / "work", "others_go_on"])
    trace, _, _ = suite.record(name, [suite.work / "work", "others_go_on"], status=(7, -signal.SIGSEGV), recover=True)
    if not trace:
        return
    suite.verdict(f"{name} kernels", len(trace.kernels()) >= 1000,
                  f"{len(trace.kernels())}; status without gputrace: {plain}")
    suite.check(name, trace)


# ---- MPI -------------------------------------------------------------------------------------------------


def ranks(size):
    """Ranks that share the devices: one archive, each with its streams; all counts are the program's."""
    def case(suite, name):
        trace, counts, _ = suite.record(name, ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np",
                                               str(size), suite.work / "ranks", "25"], timeout=200)
        if not trace or "ranks" not in counts:
            suite.verdict(f"{name} program", False, f"{counts}")
            return
        suite.say(f"     {name}: this MPI can{'' if counts['direct'] else 'not'} send from a device")
        sums = {k: counts[k] for k in ("kernels", "memsets")}
        if not counts["direct"]: # else MPI copies, too
            sums |= {k: counts[k] for k in ("h2d", "d2h", "h2d_bytes", "d2h_bytes")}
        trace.all_messages = trace.messages
        trace.messages = [m for m in trace.messages if m[6] == "GPU_COMM_GLOBAL"]
        compare(suite, name, trace, sums)
        between = [m for m in trace.all_messages if m[6] == "MPI_COMM_WORLD"]
        for word in ("SEND", "RECV"):
            own = [m for m in between if m[0] == word]
            equal(suite, name, f"messages {word}", (len(own), sum(m[5] for m in own)),
                  (counts["messages"], counts["message_bytes"]))
        processes = {g: n[0] for g, n in trace.groups.items() if n[0].startswith("MPI Rank ")}
        equal(suite, name, "ranks", sorted(processes.values()), [f"MPI Rank {i}" for i in range(size)])
        owners = {trace.process_of(s.location) for s in trace.kernels()}
        equal(suite, name, "ranks with streams", owners, set(processes))
        shared = list(trace.devices().values())
        expected = [size // suite.gpus + (i < size % suite.gpus) for i in range(min(size, suite.gpus))]
        equal(suite, name, "contexts of each device", sorted(shared), sorted(expected))
        after_copies(suite, name, trace)
        suite.check(name, trace)
    return case


def after_copies(suite, name, trace):
    """A rank's copy back is over before it sends; a copy to the device begins after it has received."""
    wrong = known = 0
    ranks_of = {trace.process_of(s.location) for s in trace.kernels()}
    for rank in ranks_of:
        back = [s.end for s in trace.copies("D2H") if trace.process_of(s.location) == rank]
        to = [s.start for s in trace.copies("H2D") if trace.process_of(s.location) == rank]
        mine = [m for m in trace.all_messages if m[6] == "MPI_COMM_WORLD" and
                trace.process_of(m[1]) == rank and m[4] < 25]
        sends = sorted(m[2] for m in mine if m[0] == "SEND")
        received = sorted(m[2] for m in mine if m[0] == "RECV")
        if len(back) != len(sends) or len(to) != len(received):
            continue             # MPI copies, too
        known += len(sends)
        wrong += sum(b > s for b, s in zip(sorted(back), sends))
        wrong += sum(t < r for t, r in zip(sorted(to), received))
    suite.verdict(f"{name} order of copies and messages", not wrong, f"{wrong} wrong of {2 * known}")


def from_device(suite, name):
    """An MPI that takes buffers of a device: its calls say so, and the copies that it makes are within them."""
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", suite.work / "ranks", "4", "device"]
    if suite.plain(command)[0]:
        suite.say(f"# without {name}: this MPI takes no memory of a device")
        return
    trace, counts, _ = suite.record(name, command, timeout=200)
    if not trace:
        return
    calls, sent = counts["calls"], counts["bytes"]
    equal(suite, name, "wrong bytes", counts["wrong"], 0)
    said = Counter((s.name, s.attributes["MPI_DEVICE_BUFFERS"]) for s in trace.spans
                   if "MPI_DEVICE_BUFFERS" in s.attributes)
    equal(suite, name, "calls with such buffers", said,
          {("MPI_Send", 1): calls, ("MPI_Irecv", 2): calls, ("MPI_Allreduce", 3): calls, ("MPI_Sendrecv", 1): calls})
    own = [m[5] for m in trace.messages if m[0] == "SEND" and m[6] == "MPI_COMM_WORLD"]
    equal(suite, name, "messages", (len(own), sum(own)), (2 * calls, 2 * sent))
    # A copy is MPI's if the call of CUDA that made it is within a call of MPI.
    around = {}
    for span in trace.spans:
        if span.name.startswith("MPI_"):
            around.setdefault(span.location, []).append(span)
    asked = {(trace.process_of(c.location), c.correlation): c for c in trace.calls() if c.correlation is not None}
    made, others = Counter(), Counter()
    for copy in trace.copies():
        call = asked.get((trace.process_of(copy.location), copy.correlation))
        mpi = [s.name for s in around.get(call.location if call else None, [])
               if s.start <= call.start and call.end <= s.end]
        if mpi:
            made[mpi[0], copy.name] += 1
        else:
            others[call and call.name, copy.name] += 1
    suite.say(f"     {name}: copies of MPI {dict(made)}, others {dict(others)}")
    callers = {call for call, _ in made}
    suite.verdict(f"{name} copies of MPI", {"MPI_Send", "MPI_Allreduce", "MPI_Sendrecv"} <= callers and
                  callers <= {called for called, _ in said} | {"MPI_Wait"},
                  f"{sum(made.values())}")
    equal(suite, name, "copies of the program's own", others, {("cudaMemcpy", "cudaMemcpy D2H pageable"): 2 * calls})
    suite.check(name, trace)


def samples(suite, name):
    """Processor time of the host between launches, as the program's own clock has it; and nothing else changes."""
    trace, counts, _ = suite.record(name, [suite.work / "host", "300"], env={"VT_SAMPLING": "1000"})
    if not trace:
        return
    compare(suite, name, trace, counts)
    suite.check(name, trace)
    rc, out, err = suite.plain([suite.gputrace, "report", "--json", suite.work / f"trace-{name}"])
    if rc:
        suite.verdict(f"{name} report", False, err[-300:])
        return
    rows = {row["function"]: row for row in json.loads(out)["samples"]}
    for function in ("pack", "plan"):
        true = counts[function + "_us"] / 1e6
        seen = rows.get(function, {"cpu_s": 0})["cpu_s"]
        # 600 and 1,200 samples of turns that the period does not divide.
        suite.verdict(f"{name} {function}", abs(seen - true) < 0.05 * true, f"{seen:.3f} of {true:.3f} s")


def callers(program):
    """Who launches what, and who waits, of a program that nothing was added to: its functions, their lines, and nothing of
    CUDA's libraries between them and the call."""
    known = ("main", "frequent", "rare", "take", "fetch", "settle")
    source = (Path(__file__).resolve().parent / "callers.cu").read_text().splitlines()

    def place(word):
        return f"callers.cu:{next(n for n, line in enumerate(source, 1) if f'/* {word} */' in line)}"

    def case(suite, name):
        trace, counts, _ = suite.record(name, [suite.work / program], env={"VT_SAMPLING": "1000"})
        if not trace:
            return
        compare(suite, name, trace, counts)
        rc, out, err = suite.plain([suite.gputrace, "report", "--json", trace.directory])
        if not suite.verdict(f"{name} report", not rc, err[-300:]):
            return
        found = json.loads(out)
        launches, others, lines = Counter(), set(), {}
        for row in found["launches"]:
            *path, call = row["path"].split(" > ")
            launches[(row["name"].split("(")[0].split(" ")[0], *(f for f in path if f in known))] += row["count"]
            others |= {f for f in path if f not in known}
            if "take" in path or "fetch" in path:
                lines.setdefault("take" if "take" in path else "fetch", set()).add((row["called_at"] or "").split("/")[-1])
        for what, count in {("k_mark", "main", "frequent", "take"): 8, ("k_mark", "main", "rare", "take"): 2,
                            ("k_spin", "main", "settle"): 1, ("cudaMemcpy", "main", "fetch"): 3}.items():
            equal(suite, name, " < ".join(reversed(what)), launches[what], count)
        suite.verdict(f"{name} nothing else on the paths", not others, ", ".join(sorted(others)))
        for function, word in ("take", "TAKE"), ("fetch", "FETCH"):
            equal(suite, name, f"line of {function}", sorted(lines.get(function, [])), [place(word)])
        paths = {row["path"]: (row["called_at"] or "").split("/")[-1] for row in found["waits"]
                 if row["class"] == "host waits for device"}
        suite.verdict(f"{name} who waits", any(path.startswith("main > settle > ") and at == place("SETTLE")
                                               for path, at in paths.items()), f"{paths}")
        suite.check(name, trace)
    return case


def cases(suite):
    """All of them, and those that this machine can do."""
    found = [
        ("parameters", parameters), ("samples", samples), ("callers", callers("callers")),
        ("callers-shared", callers("callers_shared")), ("memory", memory), ("pinned", pinned), ("fails", fails),
        ("polls", polls),
        ("waits", waits), ("everything", everything), ("stream-reuse", reuse), ("nvtx", nvtx),
        ("other-subscriber", other_subscriber), ("other-tool", other_tool), ("visible", visible),
        ("many-contexts", many_contexts), ("crashed", crashed), ("nvtx-many", nvtx_many),
        ("failing-captures", failing_captures), ("failing-execs", failing_execs),
        ("exit-busy", exit_busy),
        ("small-window", simple(["work", "copies", "400"], env={"VT_THREAD_BUFFER_SIZE": "8K"})),
    ]
    if suite.plain([sys.executable, "-c", "import torch"])[0] == 0:
        found.append(("profiler", profiler))
    if suite.gpus > 1:
        found.append(("two-devices", two_devices))
    offered = suite.plain([suite.gputrace, "info", "--metrics"])[1]
    if re.search(r"^    nvml::power\.0 ", offered, re.M):
        found += [("counters", counters), ("main-gone", main_gone)]
    else:
        suite.say("# without NVML")
    if re.search(r"^    rapl::", offered, re.M):
        found.append(("energy", energy_of_host))
    else:
        suite.say("# without RAPL")
    if (suite.work / "ranks").exists():
        found += [("mpi4", ranks(4)), ("mpi2", ranks(2)), ("mpi-device", from_device)]
    else:
        suite.say("# without MPI")
    return found
