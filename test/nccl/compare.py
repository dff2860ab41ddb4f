# SPDX-License-Identifier: BSD-3-Clause
# compare.py TRACE COUNTS [calls]: does the archive have what a program has counted? A line of COUNTS is a
# communicator, its size, a rank, a function, bytes and root (or the other rank). Prints "same", or what differs.
#
# Limits: reads the archive with OTF2's own Python module. "calls": each operation was also a call on a thread.
import collections
import re
import sys

import otf2
from otf2 import events as ev

OP = {"AllReduce": "ALLREDUCE", "AllGather": "ALLGATHER", "ReduceScatter": "REDUCE_SCATTER_BLOCK",
      "Broadcast": "BCAST", "Reduce": "REDUCE"}


def moved(function, size, rank, n, root):
    """Bytes sent and received, as MPI counts them."""
    if function == "Broadcast":
        return (n * size if root == rank else 0), size
    if function == "Reduce":
        return size, (n * size if root == rank else 0)
    if function == "AllReduce":
        return size, size
    return n * size, n * size


def expected(path):
    want = collections.Counter()
    calls = collections.Counter()
    for line in open(path, encoding="ascii"):
        comm, n, rank, function, size, root = line.rsplit(" ", 5)
        n, rank, size, root = int(n), int(rank), int(size), int(root)
        if function == "Send":
            want[comm, "send", rank, root, size] += 1
        elif function == "Recv":
            want[comm, "receive", root, rank, size] += 1
        else:
            at = root if function in ("Broadcast", "Reduce") else None
            want[comm, OP[function], rank, at, *moved(function, size, rank, n, root)] += 1
        calls["NCCL call " + function] += 1
    return want, calls


def rank_of(location):
    return int(re.search(r" rank (\d+)", location.name).group(1))


def found(path):
    have = collections.Counter()
    calls = collections.Counter()
    times = {}
    wrong = []
    with otf2.reader.open(path) as trace:
        for where, e in trace.events:
            if isinstance(e, ev.Enter) and e.region.name.startswith("NCCL call "):
                calls[e.region.name] += 1
            comm = getattr(e, "communicator", None)
            if comm is None:
                continue
            members = [rank_of(m) for m in comm.group.members]
            own = rank_of(where)
            name = comm.name.removesuffix(" messages")
            if own not in members or members != [m % len(set(members)) for m in range(len(members))]:
                wrong.append(f"{comm.name} has members {members}")
            if isinstance(e, ev.MpiSend):
                to = members[e.receiver]
                have[name, "send", own, to, e.msg_length] += 1
                times.setdefault((name, own, to), []).append(e.time)
            elif isinstance(e, ev.MpiRecv):
                have[name, "receive", e.sender, own, e.msg_length] += 1
                times.setdefault((name, e.sender, own, "r"), []).append(e.time)
            elif isinstance(e, ev.NonBlockingCollectiveComplete):
                root = e.root if e.root < 0xfffffff0 else None
                have[name, str(e.collective_op).split(".")[-1], own, root, e.size_sent, e.size_received] += 1
    for key, received in times.items():
        if len(key) == 4 and any(r < s for r, s in zip(received, times.get(key[:3], []))):
            wrong.append("a message arrives before it is sent")
    return have, calls, wrong


def main():
    want, calls = expected(sys.argv[2])
    have, made, wrong = found(sys.argv[1])
    for what in sorted(set(want) | set(have), key=str):
        if want[what] != have[what]:
            wrong.append(f"{what}: {have[what]}, the program {want[what]}")
    if "calls" in sys.argv[3:] and calls != made:
        wrong.append(f"calls: {dict(made)}, the program {dict(calls)}")
    print("\n".join(wrong[:20]) if wrong else "same")


main()
