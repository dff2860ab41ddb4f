# SPDX-License-Identifier: BSD-3-Clause
"""Archives that the page is looked at with: `cluster.py large PATH`, `cluster.py hostile PATH`, `cluster.py
copies PATH`.

large: 4 ranks with 4 GPUs of 16 streams each, messages in a ring, collectives, ranges, a counter; rank 2 is
slow; copies move 25 bytes a ns. hostile: names with markup, quotes, changes of direction, control characters,
of 4 kB. copies: three streams with copies of random sizes, one of them with many, all as fast; PATH.json says
what they are: of each row, [begin, end, bytes] by name.

Limits: what is in them is made up; times are in ns.
"""
import json
import os
import random
import sys

sys.dont_write_bytecode = True # beside the source
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))

from made import CUDA, MPI, UINT64, USER, Made # noqa: E402

RANKS, GPUS, STREAMS, STEPS = 4, 4, 16, 10
MS = 1000000
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>window.broken=1</script>",
           "\"quoted\" 'name' & more", "\u202eright to left\u202c", "\u05e9\u05dc\u05d5\u05dd \u05e2",
           "a\tb\nc\x01d", "x" * 4096, "{{x}} ${x} `x`", "<b>bold</b>", "javascript:alert(1)"]
KERNELS = ["gemm_f16(half*, half*, float*)", "softmax_kernel(float*)", "layer_norm(float*, int)",
           "ncclDevKernel_AllReduce(ncclDevComm*)"]


class Rank:
    """One rank: its thread, its streams, and the time up to which it is done."""

    def __init__(self, m, number):
        self.m, self.number = m, number
        self.process = m.process(f"MPI Rank {number}")
        self.main = m.thread(self.process)
        self.streams = []
        for gpu in range(GPUS):
            device = m.device(f"NVIDIA H200 [{number}:0{gpu}]")
            group = m.define("LocationGroup", m.s(f"GPU {gpu}"), 2, device, self.process)
            for stream in range(STREAMS):
                self.streams.append(m.define("Location", m.s(f"stream {gpu}:{stream + 7}"), 2, None, group))
                m.events[self.streams[-1]] = []
        self.free, self.launches = [0] * len(self.streams), 0
        self.at = 0

    def enter(self, name, *more):
        self.m.put(self.main, self.at, "Enter", self.m.region(name, *more))

    def leave(self, name, *more):
        self.m.put(self.main, self.at, "Leave", self.m.region(name, *more))


def activities(rank, rng, share):
    """Launches on all streams: a copy in, some kernels, a copy out; the host goes on meanwhile."""
    m = rank.m
    for n, stream in enumerate(rank.streams):
        gpu, lane = divmod(n, STREAMS)
        if lane >= 4 and rng.random() < 0.35:
            continue
        begin = max(rank.at, rank.free[n])
        launch = m.region("cudaLaunchKernel", CUDA, "CUDART_API")
        m.put(rank.main, rank.at, "Enter", launch)
        rank.launches += 1
        m.attribute(rank.main, "CORRELATION_ID", rank.launches)
        m.put(rank.main, rank.at + 9000, "Leave", launch)
        rank.at += 12000
        at = begin + 8000 + lane * 30000
        size = rng.randrange(1, 9) << 20
        m.copy(stream, "cudaMemcpyAsync H2D pinned", at, at + size // 25, size, rank.launches)
        at += size // 25 + 2000
        for name in rng.choices(KERNELS, k=rng.randrange(2, 6)):
            length = int(rng.uniform(0.15, 0.9) * MS * share)
            m.kernel(stream, name, at, at + length, 1024, 256)
            at += length + 1500
        rank.free[n] = at


def step(ranks, rng, number, world):
    m = ranks[0].m
    for rank in ranks:
        rank.enter("training step", USER)
        rank.enter("forward", USER)
        activities(rank, rng, 1.4 if rank.number == 2 else 1.0)
        rank.leave("forward", USER)
        rank.enter("backward", USER)
        rank.at += int(rng.uniform(1.0, 1.6) * MS * (1.5 if rank.number == 2 else 1))
        rank.leave("backward", USER)
        done = max(rank.at, *rank.free)
        m.call(rank.main, m.region("cudaDeviceSynchronize", CUDA, "CUDART_API"), rank.at, done + 5000)
        rank.at = done + 9000
    exchange, allreduce = m.region("MPI_Sendrecv", MPI, "MPI"), m.region("MPI_Allreduce", MPI, "MPI")
    begins = [rank.at for rank in ranks]
    for rank in ranks:
        left, right = (rank.number - 1) % RANKS, (rank.number + 1) % RANKS
        end = max(begins[left], rank.at) + 60000
        m.put(rank.main, rank.at, "Enter", exchange)
        m.put(rank.main, rank.at, "MpiSend", right, world, 7, 1 << 20)
        m.put(rank.main, end, "MpiRecv", left, world, 7, 1 << 20)
        m.put(rank.main, end, "Leave", exchange)
        rank.at = end + 20000
    end = max(rank.at for rank in ranks) + 250000
    for rank in ranks:
        leave = end + rank.number * 3000
        m.collective(rank.main, allreduce, rank.at, leave, 12, world, sent=1 << 22, received=1 << 22)
        rank.at = leave + 10000
        rank.leave("training step", USER)


def counters(m, ranks, end):
    """The power of each rank's GPUs, once a millisecond."""
    m.define("MetricMember", m.s("GPU power"), m.s(""), 0, 0x21, UINT64, 1, 0, m.s("W"))
    m.define("MetricClass", [0], 2, 0)
    rng = random.Random(2)
    for rank in ranks:
        own, m.events[rank.main] = m.events[rank.main], []
        value = 90.0
        for time in range(0, end, MS // 2):
            busy = sum(1 for free in rank.free if free > time) / len(rank.free)
            value += (90 + 480 * busy * rng.uniform(0.8, 1) - value) * 0.4
            m.put(rank.main, time, "Metric", 0, [UINT64], [int(value)])
        m.events[rank.main] = sorted(m.events[rank.main] + own, key=lambda event: event[0])


def large():
    rng = random.Random(1)
    m = Made()
    ranks = [Rank(m, n) for n in range(RANKS)]
    world = m.world([rank.main for rank in ranks])
    for rank in ranks:
        rank.enter("main", 2)
        m.call(rank.main, m.region("MPI_Init", MPI, "MPI"), 100000, 3 * MS)
        rank.at = 3 * MS
    for number in range(STEPS):
        step(ranks, rng, number, world)
    for rank in ranks:
        m.call(rank.main, m.region("MPI_Finalize", MPI, "MPI"), rank.at, rank.at + MS)
        rank.at += MS + 50000
        rank.leave("main", 2)
    m.length = max(rank.at for rank in ranks) + 100000
    counters(m, ranks, m.length)
    return m


def copies():
    """Long ones and short ones, kernels and gaps between them; some take no time. A thread lives for a while."""
    rng, m = random.Random(3), Made()
    process = m.process("copies")
    main, worker = m.thread(process), m.thread(process, "worker")
    there, ends = {}, [MS]
    for row, count in enumerate((300, 2000, 30000), 1):
        stream, at = m.stream(process, m.device("GPU"), f"stream {row}"), 1000
        row += 1 # of the archive, where threads are first
        for _ in range(count // 2):
            at += rng.choice((0, 100, int(rng.expovariate(1 / 3000))))
            length = 0 if rng.random() < 0.02 else int(rng.lognormvariate(7, 3 if row < 4 else 1))
            name = f"cudaMemcpyAsync {rng.choice(('H2D', 'D2H'))}"
            size = 25 * length if row == 4 else rng.randrange(1 << 34) if length else 4096
            m.copy(stream, name, at, at + length, size)
            there.setdefault(row, {}).setdefault(name, []).append((at, at + length, size))
            at += length
            if rng.random() < 0.3:
                m.kernel(stream, "kernel", at, at + 500)
                at += 500
        ends.append(at)
    m.length = max(ends) + 1000
    m.call(main, m.region("main"), 0, m.length - 1)
    m.call(worker, m.region("worker"), m.length // 3, m.length // 2)
    return m, there


def hostile():
    m = Made(length=10 * MS)
    for n, name in enumerate(HOSTILE):
        process = m.process(name)
        main, other = m.thread(process, name), m.thread(process, "2 " + name)
        stream = m.stream(process, m.device(name), name)
        m.call(main, m.region(name, USER, name), n * MS // 2, 6 * MS + n * 1000)
        m.call(other, m.region(name + "2"), n * MS // 3, 7 * MS)
        m.kernel(stream, name + "()", 2 * MS, 5 * MS)
    m.markers = [(3 * MS, 0, 0, 0, 0, HOSTILE[0])]
    return m


if __name__ == "__main__":
    if sys.argv[1] == "copies":
        made, known = copies()
        with open(sys.argv[2] + ".json", "w", encoding="utf-8") as file:
            json.dump(known, file)
    else:
        made = {"large": large, "hostile": hostile}[sys.argv[1]]()
    made.write(sys.argv[2])
