# SPDX-License-Identifier: BSD-3-Clause
"""NCCL, for test/gpu/run: what a program of several ranks has called, against the trace.

The library is the one that GPUTRACE_NCCL names, PyTorch's, or the system's. Ranks share a GPU where there are too
few, which NCCL allows from version 2.30 on, or if they say that they are on different hosts.

Limits: a case that NCCL refuses is left out, with a line.
"""
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from gpu_cases import equal
from gpu_more import uuids

OPS = {"AllReduce": "ALLREDUCE", "AllGather": "ALLGATHER", "ReduceScatter": "REDUCE_SCATTER_BLOCK",
       "Broadcast": "BCAST", "Reduce": "REDUCE"}
SOCKETS = {"NCCL_NET": "Socket", "NCCL_SOCKET_IFNAME": "lo"}
PLAIN = {"NCCL_NVLS_ENABLE": "0"}    # multicast between GPUs is a matter of the machine
FEW = {"NCCL_MULTI_RANK_GPU_ENABLE": "1", **PLAIN}


def jobs(suite, cuda, nvcc, flags):
    return [["cc", "-O2", "-pthread", suite.programs / "nccl.c", "-o", suite.work / "nccl", "-I" + str(cuda / "include"),
             "-L" + str(cuda / "lib64"), f"-Wl,-rpath,{cuda / 'lib64'}", "-lcudart", "-ldl"]]


def library():
    if os.environ.get("GPUTRACE_NCCL"):
        return os.environ["GPUTRACE_NCCL"]
    find = "import importlib.util as u; print(*(u.find_spec('nvidia.nccl').submodule_search_locations))"
    done = subprocess.run([sys.executable, "-c", find], capture_output=True, text=True, check=False)
    path = Path(done.stdout.strip() or "/") / "lib" / "libnccl.so.2"
    return str(path) if path.exists() else "libnccl.so.2"


def calls_in(out):
    """{(rank, function): (calls, bytes of each)}"""
    return {(int(r), f): (float(n), int(b)) for r, f, n, b in re.findall(r"^(\d+) (\w+) ([\d.]+) (\d+)$", out, re.M)}


def refused(suite, name, command, env):
    """Whether NCCL does not do it here, without gputrace."""
    rc, out, err = suite.plain(command, env, timeout=120)
    if rc:
        suite.say(f"# without {name}: status {rc}: {err.strip()[-200:]!r}")
    return None if rc else out


def ranks_in(trace):
    """{location: (rank, rest of the name)} of NCCL's rows."""
    found = {}
    for location, (text, _, _) in trace.locations.items():
        m = re.match(r"NCCL .* rank (\d+)(.*)$", text)
        if m:
            found[location] = int(m[1]), re.sub(r" \(?lane.*", "", m[2])
    return found


def completed(trace):
    """[(location, operation, bytes sent, received)]"""
    line = re.compile(r"NON_BLOCKING_COLLECTIVE_COMPLETE +(\d+) +\d+ +Operation: (\w+), .*Sent: (\d+), Received: (\d+)")
    return [(int(m[1]), m[2], int(m[3]), int(m[4])) for m in map(line.match, trace.run()) if m]


def moved(function, size, rank, n):
    if function == "Broadcast":
        return (n * size if rank == n - 1 else 0), size
    if function == "Reduce":
        return size, (n * size if rank == 0 else 0)
    return (size, size) if function == "AllReduce" else (n * size, n * size)


def compare(suite, name, trace, counts, n):
    rows, done = ranks_in(trace), completed(trace)
    for rank in range(n):
        mine = [d for d in done if rows.get(d[0], (None,))[0] == rank]
        for function, op in OPS.items():
            calls, size = counts[rank, function]
            had = [(d[2], d[3]) for d in mine if d[1] == op]
            equal(suite, name, f"{function} of rank {rank}", (len(had), set(had)),
                  (calls, {moved(function, size, rank, n)}))
        for kind, function in (("SEND", "Send"), ("RECV", "Recv")):
            calls, size = counts[rank, function]
            had = [m for m in trace.messages if m[0] == kind and rows.get(m[1], (None,))[0] == rank]
            equal(suite, name, f"{function} of rank {rank}", (len(had), {m[5] for m in had}), (calls, {size}))
    launches = {s.parameters.get("NCCL_LAUNCH") for s in trace.spans if s.name == "NCCL kernel launch"}
    asked = {s.parameters.get("NCCL_LAUNCH") for s in trace.spans
             if "NCCL_LAUNCH" in s.parameters and s.location in rows}
    suite.verdict(f"{name} operations know their launch", bool(launches) and asked <= launches,
                  f"{len(asked)} launches named, {len(launches)} seen")


def kernels_of(suite, name, trace):
    """The launch of each of NCCL's kernels is within NCCL's region for it, on the same thread."""
    launches = [s for s in trace.spans if s.name == "NCCL kernel launch"]
    calls = {}
    for span in trace.calls():
        calls.setdefault(span.correlation, []).append(span)
    mine = [s for s in trace.kernels() if "nccl" in s.name.lower()]
    inside = sum(any(c.location == l.location and l.start <= c.start and c.end <= l.end
                     for c in calls.get(k.correlation, []) for l in launches
                     if trace.process_of(k.location) == trace.process_of(l.location)) for k in mine)
    # NCCL 2.30 does not say that it launches the kernel of a Broadcast.
    unreported = sum(s.name == "NCCL Broadcast" and "NCCL_BYTES" in s.parameters and "NCCL_LAUNCH" not in s.parameters
                 for s in trace.spans)
    suite.verdict(f"{name} kernels", mine and inside == len(launches) and len(mine) - inside in (0, unreported),
                  f"{len(mine)} of NCCL, {inside} in {len(launches)} launches, {unreported} without a report")


def matched(suite, name, trace, ordered=True):
    """Ranks of a communicator do the same collectives, and where they end as they began, in the same order; a message
    has both of its endpoints."""
    rows, done, sides, wrong = ranks_in(trace), {}, {}, []
    line = re.compile(r'NON_BLOCKING_COLLECTIVE_COMPLETE +(\d+) +\d+ +Operation: (\w+), Communicator: ".*?" <(\d+)>, '
                      r'Root: (NONE|\d+)')
    for m in filter(None, map(line.match, trace.run())):
        if int(m[1]) in rows:
            done.setdefault(m[3], {}).setdefault(rows[int(m[1])][0], []).append((m[2], m[4]))
    for comm, ranks in done.items():
        if len({tuple(had if ordered else sorted(had)) for had in ranks.values()}) != 1:
            wrong.append(f"communicator {comm}: {({r: len(had) for r, had in ranks.items()})}")
    for kind, at, when, peer, _, size, comm in trace.messages:
        if at in rows and peer in rows:
            ends = (at, peer) if kind == "SEND" else (peer, at)
            sides.setdefault((comm, *(rows[end][0] for end in ends)), ([], []))[kind == "RECV"].append((when, size))
    for key, (sent, got) in sides.items():
        if [s for _, s in sent] != [s for _, s in got] or any(g[0] < s[0] for s, g in zip(sent, got)):
            wrong.append(f"messages {key}: {len(sent)} sent, {len(got)} received")
    suite.verdict(f"{name} ranks match", not wrong and done, f"{wrong or 'all'} of {len(done)} communicators, "
                  f"{sum(len(s) for s, _ in sides.values())} messages")


def setups(suite, name, trace):
    """NCCL's NVTX ranges end with the calls, also those that get a payload at their end."""
    begun = [s for s in trace.spans if s.name.startswith("ncclCommInit")]
    within = sum(s.location == c.location and c.start < s.start < c.end for c in begun for s in trace.spans
                 if s.name in ("ncclAllReduce", "ncclBroadcast", "ncclReduce", "ncclSend"))
    suite.verdict(f"{name} ranges", begun and not within, f"{len(begun)} of communicators, {within} operations within")


def devices_of(suite, name, trace, counts):
    """Each rank's kernels are on the device that the program has chosen for it."""
    used, chosen, known = {}, {r: int(counts[r, f][0]) for r, f in counts if f == "device"}, uuids()
    process = {rank: trace.process_of(location) for location, (rank, _) in ranks_in(trace).items()}
    for span in (s for s in trace.kernels() if "nccl" in s.name.lower()):
        node = trace.parents[trace.locations[span.location][2]]
        used.setdefault(trace.process_of(span.location), set()).add(trace.node_properties[node].get("UUID"))
    equal(suite, name, "devices with kernels of NCCL", set().union(*used.values()), {known[d] for d in chosen.values()})
    if len(used) == len(chosen):    # ranks are processes
        equal(suite, name, "device of each rank", {r: used.get(process.get(r)) for r in chosen},
              {r: {known[d]} for r, d in chosen.items()})


def launched(suite, name, trace, command, env):
    """NCCL's kernels, as the independent tool counts them in another run."""
    seen = suite.reference(name, command, env, timeout=120)
    if seen:
        equal(suite, name, "kernels by the independent tool",
              sum(s.name.startswith("ncclDevKernel") for s in trace.kernels()),
              sum(kernel[0] for text, kernel in seen["kernel"].items() if "ncclDevKernel" in text))


def program(n, how="", mode="yes", env=None, numbers=1 << 12):
    def case(suite, name):
        command = [suite.work / "nccl", library(), str(n), "10", how, str(numbers)]
        setting = {**(PLAIN if n <= suite.gpus else FEW), **(env or {})}
        if not refused(suite, name, command, setting):
            return
        trace, _, out = suite.record(name, command, {**setting, "VT_NCCL": mode}, timeout=120)
        if not trace:
            return
        counts = calls_in(out)
        equal(suite, name, "wrong results", sum(int(counts[r, "wrong"][0]) for r in range(n)), 0)
        if how == "graph":
            # NCCL says what is captured, and of launches of graphs only where it must call the host for them.
            captured = sum("NCCL_CAPTURED" in s.parameters for s in trace.spans)
            equal(suite, name, "captured and launched", (captured, len(completed(trace))),
                  (n, 0) if mode == "yes" else (0, 10 * n))
        else:
            compare(suite, name, trace, counts, n)
            kernels_of(suite, name, trace)
            matched(suite, name, trace, mode == "yes")
            setups(suite, name, trace)
            devices_of(suite, name, trace, counts)
            if how == "threads":
                launched(suite, name, trace, command, setting)
        if mode != "yes":
            channels = sum(" channel " in text for text, _, _ in trace.locations.values())
            suite.verdict(f"{name} channels", channels > 0, f"{channels} rows")
        if mode == "detail" and env:
            steps = [s for s in trace.spans if s.name in ("NCCL proxy send step", "NCCL proxy receive step")]
            suite.verdict(f"{name} proxies", len(steps) > 0, f"{len(steps)} steps, "
                          f"{sum(s.parameters.get('NCCL_BYTES', 0) for s in steps)} bytes")
        suite.check(name, trace)
    return case


def one_rank(suite, name):
    """A communicator of one rank: NCCL calls no profiler for what it does there."""
    command = [suite.work / "nccl", library(), "1", "10"]
    if not refused(suite, name, command, {}):
        return
    trace, _, _ = suite.record(name, command)
    if trace:
        suite.verdict(f"{name} operations", True, f"{len(completed(trace))}, "
                      f"{sum(s.name.startswith('nccl') for s in trace.spans)} calls")
        suite.check(name, trace)


def torch_ranks(suite, name):
    """torchrun: two processes with PyTorch's own NCCL, each as if on a host of its own where they share a GPU."""
    shared = name == "nccl-torch"
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port",
               "29573" if shared else "29574", suite.programs / "torch_two.py", "nccl"]
    setting = {**FEW, **SOCKETS, "HOSTS": "yes"} if shared else PLAIN
    if refused(suite, name, command, setting) is None:
        return
    trace, _, out = suite.record(name, command, setting, timeout=240)
    if not trace:
        return
    rows = ranks_in(trace)
    for rank in (0, 1):
        had = [d for d in completed(trace) if rows.get(d[0], (None,))[0] == rank and d[1] == "ALLREDUCE"]
        suite.verdict(f"{name} sums of rank {rank}", sum(d[2] == 4 << 16 for d in had) == 20,
                      f"{len(had)} sums, {sum(d[2] == 4 << 16 for d in had)} of the tensor, 20 were made")
    kernels_of(suite, name, trace)
    matched(suite, name, trace)
    setups(suite, name, trace)
    devices_of(suite, name, trace, calls_in(out))
    suite.check(name, trace)


def cost(suite, name):
    """What a call costs, in turns without gputrace and with it: until it is enqueued, and until it is done."""
    command = [suite.work / "nccl", library(), "2", "500", "cost"]
    rows = {}
    for _ in range(4):
        for what in ("without", "no", "yes", "kernels", "detail"):
            directory = suite.work / f"trace-{name}-{what}"
            run = [suite.gputrace, "run", "-q", "--force", "-o", directory] if what != "without" else []
            rc, out, err = suite.plain([*run, *command], {**FEW, "VT_NCCL": what}, timeout=60)
            if rc:
                suite.say(f"# without {name}: {what}: status {rc}: {err.strip()[-200:]!r}")
                return
            for kind in ("cost", "done"):
                rows.setdefault((kind, what), []).extend(v[0] for k, v in calls_in(out).items() if k[1] == kind)
    for kind, text in (("cost", "until it is enqueued"), ("done", "until it is done")):
        suite.say(f"# {name}, us for an AllReduce {text}, median of 4 turns of 2 ranks [least..most]: " + ", ".join(
            f"{w} {statistics.median(v):.2f} [{min(v):.2f}..{max(v):.2f}]" for (k, w), v in rows.items() if k == kind))


def cases(suite):
    if suite.plain([suite.work / "nccl", library(), "0", "0"])[0] or not suite.gpus:
        suite.say("# without NCCL")
        return []
    found = [("nccl-one", one_rank), ("nccl-ranks", program(2)), ("nccl-threads", program(2, "threads")),
             ("nccl-four", program(4)), ("nccl-large", program(2, numbers=1 << 23)),
             ("nccl-kernels", program(2, mode="kernels")),
             ("nccl-detail", program(2, mode="detail")), ("nccl-graph", program(2, "graph")),
             ("nccl-graph-kernels", program(2, "graph", mode="kernels")),
             ("nccl-sockets", program(2, "hosts", mode="detail", env=SOCKETS)),
             ("nccl-sockets-yes", program(2, "hosts", env=SOCKETS))]
    if suite.plain([sys.executable, "-c", "import torch"])[0] == 0:
        found.append(("nccl-torch", torch_ranks))
        if suite.gpus > 1:
            found.append(("nccl-torch-gpus", torch_ranks))
    if any("nccl-cost" in word for word in suite.options.only):
        found.append(("nccl-cost", cost))
    return found
