#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives of which the shares are known, and whether those of a timeline are those of a report.

    shares.py CASE DIR
    shares.py compare REPORT.json LEGEND

Limits: compares archives in which each class of regions has a name in PAINTS.
"""
import json
import os
import re
import sys
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))

from made import Made, NONE, PTHREAD, write_cases # noqa: E402

PAINTS = {"annotation": ["annotation"], "code": ["code"], "file I/O": ["file I/O", "file metadata"],
          "measurement": ["measurement"],
          "thread wait": ["thread join", "lock", "condition wait", "barrier", "sleep",
                          "semaphore wait", "process wait"],
          "GPU wait": ["GPU wait", "GPU hidden wait", "GPU poll"],
          "GPU call": ["GPU launch", "GPU copy call", "GPU memory call", "GPU call"],
          "runtime": ["thread creation", "unlock", "task creation", "communication", "memory"]}
PAINT_OF = {name: paint for paint, names in PAINTS.items() for name in names}


def lives():
    """Threads of 1,000 us, of 160 and 200 on one location (100 of them idle), and one that only waits.

    The main thread works for 400 us, waits for 500 and is unseen for 100; the others work for 100 each. A GPU
    is in a kernel for 200 us and copies for 150.
    """
    m = Made()
    process = m.process("P")
    main, shared, service = m.thread(process), m.thread(process, "Thread 1"), m.thread(process, "Thread 2")
    m.define("Group", m.s(""), 4, PTHREAD, 0, [main, shared, service])
    team = m.define("Group", m.s(""), 5, PTHREAD, 0, [0, 1, 2])
    comm = m.define("Comm", m.s(""), team, NONE, 0)
    work, wait = m.region("work"), m.region("pthread_cond_wait", PTHREAD)
    m.call(main, work, 0, 400000)
    m.call(main, m.region("pthread_join", PTHREAD), 500000, 1000000)
    m.put(shared, 100000, "ThreadBegin", comm, 1)
    m.call(shared, work, 100000, 200000)
    m.put(shared, 260000, "ThreadEnd", comm, 1)
    m.put(shared, 600000, "ThreadBegin", comm, 2)
    m.call(shared, work, 600000, 700000)
    m.put(shared, 700000, "Enter", wait)
    m.attribute(shared, "GPUTRACE::CONDITION_ADDRESS", 0x1000)
    m.put(shared, 800000, "Leave", wait)
    m.put(shared, 800000, "ThreadEnd", comm, 2)
    m.call(service, wait, 0, 1000000)
    device = m.device("GPU 0")
    m.kernel(m.stream(process, device, "stream 1"), "kernel", 200000, 400000)
    m.copy(m.stream(process, device, "stream 2"), "[CUDA memcpy HtoD]", 300000, 450000, 1000)
    return m


def ranks():
    """The rank works for 750 us of 1,000; of MPI's own thread next to nothing is seen."""
    m = Made()
    process = m.process("MPI Rank 0")
    main, own = m.thread(process), m.thread(process, "Thread 1")
    m.world([main])
    m.call(main, m.mpi("MPI_Recv"), 0, 250000)
    m.call(main, m.region("work"), 250000, 1000000)
    for at in (0, 990000):
        m.call(own, m.region("work"), at, at + 10000)
    return m


def compare(report, legend):
    with open(report, encoding="utf-8") as f:
        report = json.load(f)
    whole = 1e9 * report["duration_s"] * len(report["devices"])
    expected = defaultdict(float)
    for row in report["regions"]:
        if row["share"]:
            paint = "MPI" if row["class"].startswith("MPI") else PAINT_OF[row["class"]]
            expected[paint] += 100 * row["share"]
    for table, paint in ("kernels", "kernel"), ("copies", "copy"):
        for row in report[table]:
            expected[paint] += 1e11 * row["seconds"] / whole
    with open(legend, encoding="utf-8") as f:
        shares = re.findall(r"\S ([A-Za-z/]+(?: [A-Za-z/]+)*) ([0-9.]+) %", f.read())
    found = {name: float(share) for name, share in shares}
    assert len(found) > 1
    for paint in found.keys() | expected.keys():
        share = expected.get(paint, 0)
        shown = found.get(paint, 0)
        equal = abs(shown - share) <= 0.0501 or (share < 0.05 and shown < 0.1)
        assert equal, (paint, found, dict(expected))
    print("equal")


if sys.argv[1] == "compare":
    compare(*sys.argv[2:])
else:
    write_cases({"lives": lives, "ranks": ranks})
