#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes archives of which every figure is known.

  archives.py NAME DIR      writes the archive NAME into the new directory DIR
  archives.py --all DIR     writes each into DIR, by its name
"""
import glob
import random

from made import COMPILER, CUDA, DOUBLE, INT64, MEASUREMENT, MPI, NONE, OPENMP, PTHREAD, T0, UINT64, Made, write_cases

OTF2_PARADIGM_HIP = 23
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def empty():
    """Definitions and no event."""
    m = Made()
    m.thread(m.process("Process 0"))
    return m


@case
def nothing():
    """No location."""
    return Made()


@case
def gpu():
    """Two devices, one with two streams whose kernels overlap; 1 ms long."""
    m = Made()
    process = m.process("Process 0")
    host = m.thread(process)
    first, second = m.device("GPU A"), m.device("GPU B")
    a, b = m.stream(process, first, "CUDA[0:7]"), m.stream(process, first, "CUDA[0:13]")
    c = m.stream(process, second, "CUDA[1:7]")
    m.call(host, m.region("main"), 0, 1000000)
    m.kernel(a, "axpy", 100000, 300000, 64, 128)
    m.kernel(a, "axpy", 300000, 400000, 64, 128)
    m.kernel(b, "gemm", 200000, 500000, 10, 256)
    m.kernel(b, "gemm", 600000, 700000, 20, 256)
    m.copy(a, "cudaMemcpy H2D pageable", 450000, 550000, 1000000)
    m.copy(c, "cudaMemcpy D2H pinned", 100000, 200000, 500000)
    m.copy(c, "cudaMemcpy D2H pinned", 200000, 350000, 1500000)
    m.kernel(c, "axpy", 400000, 500000, 32, 128)
    return m


@case
def untimed():
    """A GPU whose only kernel has no times, and so no event."""
    m = Made()
    process = m.process("Process 0")
    host = m.thread(process)
    m.stream(process, m.device("GPU A"), "CUDA[0:7]")
    m.call(host, m.region("main"), 0, 1000000)
    return m


@case
def work_groups():
    """Kernels whose sizes are told as HIP, Level Zero and OpenCL tell them; of the last one OpenCL chose the group."""
    m = Made()
    process = m.process("Process 0")
    host, stream = m.thread(process), m.stream(process, m.device("GPU A"), "queue")
    m.call(host, m.region("main"), 0, 1000000)
    for i, (name, shapes) in enumerate((("of_hip", (("grid", 12), ("block", 64))),
                                        ("of_level_zero", (("group count", 10), ("group size", 32))),
                                        ("of_opencl", (("global work size", 4096), ("local work size", 128))),
                                        ("of_opencl_alone", (("global work size", 4096),)))):
        region = m.region(name, CUDA, "CUDA_KERNEL")
        m.put(stream, 100000 * (i + 1), "Enter", region)
        for shape, value in shapes:
            m.shape(stream, 100000 * (i + 1), shape, value)
        m.put(stream, 100000 * (i + 1) + 50000, "Leave", region)
    return m


LONG_NAMES = (
    "Matrix<double, 64>::multiply_accumulate(Matrix<double, 64> const&, Matrix<double, 64> const&)",
    "Matrix<double, 64>::multiply_subtract(Matrix<double, 64> const&, Matrix<double, 64> const&)",
    "std::vector<double, std::allocator<double> > exchange_halo<double>(unsigned long, std::vector<double> const&)",
    "Kokkos::Impl::ParallelFor<Solver::step(double)::{lambda(int)#1}, Kokkos::RangePolicy<Kokkos::OpenMP> >::run()",
    "Kokkos::Impl::ParallelFor<Solver::step(double)::{lambda(int)#2}, Kokkos::RangePolicy<Kokkos::OpenMP> >::run()",
    "simulation.particles.advance_positions", "simulation.particles.advance_velocities")


@case
def names():
    """Functions with names that no terminal has room for, in a thread with a name that differs at its end."""
    m = Made()
    process = m.process("Process 0")
    for k in (1, 2):
        thread = m.thread(process, f"a thread that is called by the communicator of rank 0 channel {k}")
        m.call(thread, m.region("main"), 0, 1000)
        for i, name in enumerate(LONG_NAMES):
            m.call(thread, m.region(name, group="a group"), 1000 * (i + 1), 1000 * (i + 1) + 900 - i)
    return m


def template(n):
    """A kernel's name of 2,000 characters, of which only the template's last argument differs."""
    inner = "at::native::OffsetCalculator<3, unsigned int, false>, "
    return (f"void at::native::elementwise_kernel<128, {inner * 20}{n}>(int, "
            f"{', '.join(['at::TensorIteratorBase const&'] * 30)})")


@case
def templates():
    """Two processes whose threads have the same names, kernels and callers with names of 2,000 characters."""
    m = Made()
    processes = [m.process("python3 [6142]"), m.process("python3 [6171]")]
    wait = m.region("pthread_cond_timedwait", PTHREAD)
    for p, process in enumerate(processes):
        for t, name in enumerate(("Master thread", "pt_autograd_0", "pt_data_pin")):
            thread = m.thread(process, name)
            caller = m.region(template(0)) if t != 2 else m.region("load")
            m.put(thread, 0, "Enter", caller)
            m.call(thread, wait, 100000, 700000 - 100000 * (3 * p + t))
            m.put(thread, 950000, "Leave", caller)
    stream = m.stream(processes[0], m.device("GPU A"), "CUDA[0:7]")
    m.kernel(stream, template(1), 100000, 200000, 64, 128)
    m.kernel(stream, template(2), 300000, 350000, 64, 128)
    return m


@case
def sampled():
    """A device's samples of 100 us: 1,000 each; one kernel, then two share a sample, then samples are missing; the
    last one is of another context."""
    m = Made()
    process = m.process("Process 0")
    host = m.thread(process)
    device = m.device("GPU A")
    stream = m.stream(process, device, "CUDA[0:7]")
    group = m.later[-1][-1] if m.later[-1][0] == "Location" else None
    rows = m.define("Location", m.s("CUDA[0] metrics"), 3, None, group)
    m.events[rows] = []
    m.call(host, m.region("main"), 0, 1000000)
    m.define("MetricMember", m.s("bytes"), m.s(""), 0, 0x22, UINT64, 1, 0, m.s("byte"))
    m.define("MetricMember", m.s("busy"), m.s(""), 0, 0x21, UINT64, 1, 0, m.s("percent"))
    m.define("MetricClass", [0, 1], 2, 0)
    m.kernel(stream, "axpy", 100000, 330000)
    m.kernel(stream, "gemm", 330000, 360000)
    m.kernel(stream, "axpy", 750000, 790000)
    m.kernel(m.stream(process, device, "CUDA[0:8]"), "axpy", 870000, 890000)
    for time in (100000, 200000, 300000, 400000, 800000, 900000):
        m.put(rows, time, "Metric", 0, [UINT64, UINT64], [1000, 50])
    return m


@case
def scorep_gpu():
    """Copies as Score-P writes them: RMA records of the stream, no regions."""
    m = Made()
    process = m.process("Process 0")
    host = m.thread(process)
    stream = m.stream(process, m.device("GPU A"), "CUDA[0:7]")
    m.define("Group", m.s("CUDA"), 4, CUDA, 0, [host, stream])
    m.define("Group", m.s("CUDA_GROUP"), 5, CUDA, 0, [0, 1])
    m.define("Comm", m.s(""), 1, NONE, 0)
    window = m.define("RmaWin", m.s("CUDA_WINDOW"), 0, 0)
    m.call(host, m.region("main"), 0, 1000000)
    for begin, kind, size in ((1000, "RmaGet", 4096), (5000, "RmaPut", 8192), (9000, "RmaGet", 4096)):
        m.put(stream, begin, kind, window, 0, size, 42)
        m.put(stream, begin + 2000, "RmaOpCompleteBlocking", window, 42)
    return m


@case
def scorep_hip():
    """Two AMD devices as Score-P writes them: HIP's kernels, devices called by their numbers."""
    m = Made()
    process = m.process("Process")
    host = m.thread(process)
    m.call(host, m.region("main"), 0, 1000000)
    for n in range(2):
        device = m.define("SystemTreeNode", m.s(str(n)), m.s("ROCm Device"), m.node)
        stream = m.stream(process, device, f"HIP[{n}:0]")
        kernel = m.region("scale(float*)", OTF2_PARADIGM_HIP, "HIP_KERNEL")
        m.put(stream, 100000, "Enter", kernel)
        m.put(stream, 400000 - 200000 * n, "Leave", kernel)
    return m


@case
def counters():
    """A counter read with enters and leaves, in nested and recursive calls; a level of the process."""
    m = Made()
    process = m.process("Process 0")
    host = m.thread(process)
    m.define("MetricMember", m.s("cycles"), m.s(""), 0, 0, UINT64, 1, 0, m.s("#"))
    m.define("MetricMember", m.s("memory"), m.s(""), 0, 4, UINT64, 1, 0, m.s("bytes"))
    m.define("MetricClass", [0], 0, 0)
    m.define("MetricClass", [1], 2, 0)
    main, work = m.region("main"), m.region("work")
    for time, kind, region, value in ((0, "Enter", main, 1000), (100, "Enter", work, 1500),
                                      (200, "Enter", work, 1700), (300, "Leave", work, 2000),
                                      (400, "Leave", work, 2600), (500, "Leave", main, 3000)):
        m.put(host, time, "Metric", 0, [UINT64], [value])
        m.put(host, time, kind, region)
    for time, value in ((600, 100), (700, 900), (800, 200)):
        m.put(host, time, "Metric", 1, [UINT64], [value])
    return m


@case
def wide_counters():
    """Counters near 2^60, beyond the end of 64 bits, signed ones that begin below zero, and of type double."""
    m = Made()
    host = m.thread(m.process("Process 0"))
    types, begins = (UINT64, UINT64, INT64, DOUBLE), ((1 << 60) + 1, (1 << 64) - 150, -250, 0.25)
    for i, name in enumerate(("large", "wraps", "signed", "real")):
        m.define("MetricMember", m.s(name), m.s(""), 0, 0, types[i], 1, 0, m.s("#"))
    m.define("MetricClass", [0, 1, 2, 3], 0, 0)
    main, work = m.region("main"), m.region("work")
    for time, kind, region, value in ((0, "Enter", main, 0), (100, "Enter", work, 101),
                                      (200, "Leave", work, 202), (300, "Leave", main, 303)):
        m.put(host, time, "Metric", 0, list(types), [begin + value for begin in begins])
        m.put(host, time, kind, region)
    return m


def hold(m, thread, take, order, wanted, acquired, released, give=None):
    """A thread wants lock 1, acquires it, and releases it; in the region `give`, if there is one."""
    m.put(thread, wanted, "Enter", take)
    m.put(thread, acquired, "ThreadAcquireLock", PTHREAD, 1, order)
    m.put(thread, acquired, "Leave", take)
    if give is not None:
        m.put(thread, released, "Enter", give)
    m.put(thread, released, "ThreadReleaseLock", PTHREAD, 1, order)
    if give is not None:
        m.put(thread, released + 1000, "Leave", give)


@case
def half():
    """The holder of a lock for which a thread waits 300 us did not wait for it itself."""
    m = Made()
    hold(m, m.thread(m.process("Process 0")), m.region("pthread_mutex_lock", PTHREAD), 2, 200000, 500000, 510000)
    return m


@case
def half_of_ours():
    """The same, by gputrace, which may have recorded all of its holders."""
    m = half()
    m.properties = {"GPUTRACE::VERSION": "1"}
    return m


@case
def lock():
    """B waits 300 us for A, in two parts of A's work; C acquires without a wait."""
    m = Made()
    process = m.process("Process 0")
    a, b, c = (m.thread(process, name) for name in ("A", "B", "C"))
    take = m.region("pthread_mutex_lock", PTHREAD)
    slow, work = m.region("slow"), m.region("work")
    m.put(a, 0, "Enter", slow)
    m.put(a, 100000, "Enter", take)
    m.put(a, 100000, "ThreadAcquireLock", PTHREAD, 1, 1)
    m.put(a, 100000, "Leave", take)
    m.put(a, 500000, "ThreadReleaseLock", PTHREAD, 1, 1)
    m.put(a, 900000, "Leave", slow)
    m.put(b, 0, "Enter", work)
    hold(m, b, take, 2, 200000, 500000, 510000)
    m.put(b, 900000, "Leave", work)
    m.put(c, 0, "Enter", work)
    hold(m, c, take, 3, 600000, 600000, 650000)
    m.put(c, 900000, "Leave", work)
    return m


@case
def all_locks():
    """All acquisitions are recorded: A has a lock first, which takes 50 us; B waits 300 us for A, C takes 20 us."""
    m = Made()
    process = m.process("Process 0")
    take, give = m.region("pthread_mutex_lock", PTHREAD), m.region("pthread_mutex_unlock", PTHREAD)
    for order, (name, wanted, acquired, released) in enumerate((("A", 50000, 100000, 500000),
                                                                ("B", 200000, 500000, 510000),
                                                                ("C", 600000, 620000, 650000)), 1):
        hold(m, m.thread(process, name), take, order, wanted, acquired, released, give)
    return m


@case
def detached():
    """Only acquisitions that waited are recorded; threads are detached. B waits 300 us for someone after A's wait."""
    m = Made()
    process = m.process("Process 0")
    take, detach = m.region("pthread_mutex_lock", PTHREAD), m.region("pthread_detach", PTHREAD)
    for order, (name, wanted, acquired, released) in enumerate((("A", 50000, 100000, 150000),
                                                                ("B", 200000, 500000, 510000),
                                                                ("C", 600000, 600500, 650000)), 1):
        thread = m.thread(process, name)
        m.call(thread, detach, 1000, 2000)
        hold(m, thread, take, order, wanted, acquired, released)
    return m


@case
def ranks():
    """Four ranks: 100, 200, 300 and 400 us of work, then a barrier; rank 0 sends to rank 1."""
    m = Made(length=600000)
    threads = [m.thread(m.process(f"MPI Rank {n}")) for n in range(4)]
    world = m.world(threads)
    pair = m.world(threads[2:], "pair")
    init, work, barrier = m.mpi("MPI_Init"), m.region("work", COMPILER, file="a.c", line=7), m.mpi("MPI_Barrier")
    for n, thread in enumerate(threads):
        m.call(thread, init, 0, 100000)
        m.call(thread, work, 100000, 200000 + 100000 * n)
        if n < 2:
            call = m.mpi("MPI_Recv" if n else "MPI_Send")
            m.put(thread, 400000, "Enter", call)
            m.put(thread, 400000, *(("MpiRecv", 0, world, 3, 1000) if n else ("MpiSend", 1, world, 3, 1000)))
            m.put(thread, 410000, "Leave", call)
        elif n == 3:
            m.put(thread, 500000, "MpiSend", 0, pair, 0, 24)
        m.collective(thread, barrier, 500000, 600000, 0, world)
        if n == 2:
            m.put(thread, 600000, "MpiRecv", 1, pair, 0, 24)
    return m


@case
def teams():
    """Two ranks of two threads and a GPU each: every efficiency is another number; 800 us, and no MPI_Init.

    Outside of MPI: 500 us and 300 us. Useful and for the GPU: main threads 400 and 200, others 400 and 200;
    of that for the GPU: 120 and 120 of the main threads.
    """
    m = Made()
    processes = [m.process(f"MPI Rank {n}") for n in range(2)]
    mains = [m.thread(p) for p in processes]
    others = [m.thread(p, "Thread 1") for p in processes]
    stream = m.stream(processes[0], m.device("GPU"), "CUDA[0:7]")
    m.world(mains)
    work, receive, take = m.region("work"), m.mpi("MPI_Recv"), m.region("pthread_mutex_lock", PTHREAD)
    wait = m.region("cudaDeviceSynchronize", CUDA, "CUDART_API")
    for n, outside in ((0, 500000), (1, 300000)):
        m.call(mains[n], work, 0, outside - 220000)
        m.call(mains[n], wait, outside - 220000, outside - 100000)
        m.call(mains[n], take, outside - 100000, outside)
        m.call(mains[n], receive, outside, 800000)
    m.kernel(stream, "k", 0, 80000)
    for n, busy in ((0, 400000), (1, 200000)):
        m.call(others[n], work, 0, busy)
        m.call(others[n], take, busy, 800000)
    return m


def openmp(serial, ends):
    """1 ms, of which `serial` us before a parallel region; its threads work until `ends`, then wait."""
    m = Made()
    process = m.process("Process 0")
    main = m.thread(process)
    threads = [main] + [m.thread(process, f"OpenMP thread {n}") for n in range(1, len(ends))]
    parallel = m.region("!$omp parallel", OPENMP, role=5)
    barrier = m.region("!$omp implicit barrier", OPENMP, role=16)
    for thread in threads[1:]:
        m.call(thread, parallel, 0, 0)
    m.put(main, 0, "Enter", m.region("main"))
    for thread, end in zip(threads, ends):
        m.put(thread, serial * 1000, "Enter", parallel)
        m.call(thread, barrier, end * 1000, 1000000)
        m.put(thread, 1000000, "Leave", parallel)
    m.put(main, 1000000, "Leave", m.region("main"))
    return m


@case
def openmp_lost():
    """Serial for 200 us; then 800, 400, 400 and 400 of work in 800."""
    return openmp(200, (1000, 600, 600, 600))


@case
def openmp_clean():
    return openmp(0, (1000, 1000, 1000, 1000))


@case
def unrecorded():
    """Two ranks, and one that nobody has recorded, but to which one of them sends."""
    m = Made()
    processes = [m.process(f"MPI Rank {n}") for n in range(3)]
    mains = [m.thread(p) for p in processes]
    world = m.world(mains)
    m.property(processes[2], "GPUTRACE::MISSING", "yes")
    for main in mains[:2]:
        m.call(main, m.region("work"), 0, 1000000)
    m.put(mains[0], 1000000, "MpiSend", 2, world, 3, 1000)
    return m


@case
def launched():
    """Two ranks and a launcher with threads; rank 0 has one that is busy while MPI waits, MPI has its own."""
    m = Made()
    launcher = m.process("mpirun [7]")
    for n in range(3):
        m.call(m.thread(launcher, f"launcher {n}"), m.region("loop"), 0, 1000000)
    processes = [m.process(f"MPI Rank {n}") for n in range(2)]
    mains = [m.thread(p) for p in processes]
    other = m.thread(processes[0], "Thread 1")
    m.world(mains)
    work, receive = m.region("work"), m.mpi("MPI_Recv")
    for main, outside in zip(mains, (200000, 400000)):
        m.call(main, work, 0, outside)
        m.call(main, receive, outside, 1000000)
    m.call(other, work, 0, 800000)
    for process in processes:
        own = m.thread(process, "Thread 2")
        for at in (0, 1000000 - 100):
            m.call(own, m.region("read"), at, at + 100)
    return m


@case
def joined():
    """Two ranks whose main threads wait for one that works, and of which next to nothing is recorded."""
    m = Made()
    processes = [m.process(f"MPI Rank {n}") for n in range(2)]
    mains = [m.thread(p) for p in processes]
    m.world(mains)
    for process, main in zip(processes, mains):
        m.call(main, m.region("work"), 0, 200000)
        m.call(main, m.region("pthread_join", PTHREAD), 200000, 1000000)
        other = m.thread(process, "Thread 1")
        for at in (200000, 1000000 - 100):
            m.call(other, m.region("read"), at, at + 100)
    return m


@case
def flushed():
    """Two ranks that work for 400 and 600 us of 1,000 us, and flush for half of that."""
    m = Made()
    threads = [m.thread(m.process(f"MPI Rank {n}")) for n in range(2)]
    m.world(threads)
    flush, receive = m.region("TRACE BUFFER FLUSH", MEASUREMENT), m.mpi("MPI_Recv")
    for thread, outside in zip(threads, (400000, 600000)):
        m.call(thread, m.region("work"), 0, outside // 2)
        m.call(thread, flush, outside // 2, outside)
        m.call(thread, receive, outside, 1000000)
    return m


@case
def twice():
    """As EZTrace has it: each rank with its own definitions, and a name that says nothing; two real twins."""
    m = Made()
    threads = [m.thread(m.process(f"P#{n}")) for n in range(2)]
    m.world(threads)
    for n, thread in enumerate(threads):
        m.call(thread, m.region("work", file="a.c", line=7, again=n), 0, 100000)
        m.call(thread, m.region("work", file="b.c", line=9, again=n + 2), 100000, 200000)
        m.call(thread, m.region("MPI_Barrier", MPI, again=n), 200000 + 100000 * n, 500000)
    return m


@case
def make():
    """A process that waits for others, each of which works for a tenth of the run."""
    m = Made()
    m.call(m.thread(m.process("make [1]")), m.region("wait4", PTHREAD), 0, 1000000)
    for n in range(10):
        m.call(m.thread(m.process(f"cc1 [{n + 2}]")), m.region("work"), n * 100000, (n + 1) * 100000)
    return m


@case
def pool():
    """The main thread works for 1 ms; three threads, one after another, for 500 us together; one sleeps,
    and another one sends something in between."""
    m = Made()
    process = m.process("Process 0")
    main = m.thread(process)
    workers = [m.thread(process, f"Thread {n}") for n in range(3)]
    asleep = m.thread(process, "asleep")
    m.call(main, m.region("work"), 0, 1000000)
    for thread, begin, end in zip(workers, (0, 200000, 500000), (100000, 400000, 700000)):
        m.call(thread, m.region("work"), begin, end)
    m.call(asleep, m.region("pthread_cond_wait", PTHREAD), 0, 990000)
    m.call(asleep, m.region("pthread_cond_signal", PTHREAD), 990000, 1000000)
    sender = m.thread(process, "sender")
    m.call(sender, m.region("pthread_cond_wait", PTHREAD), 0, 500000)
    m.call(sender, m.mpi("MPI_Send"), 500000, 510000)
    m.call(sender, m.region("pthread_cond_wait", PTHREAD), 510000, 1000000)
    return m


@case
def serving():
    """The main thread works for 1 ms, and waits for 200 us; another waits for work for 850 us and does it in 100."""
    m = Made(1200000)
    process = m.process("Process 0")
    main, helper = m.thread(process), m.thread(process, "pt_autograd_0")
    work, wait = m.region("work"), m.region("pthread_cond_wait", PTHREAD)
    m.call(main, work, 0, 1000000)
    m.call(main, wait, 1000000, 1200000)
    m.put(helper, 0, "Enter", wait)
    m.attribute(helper, "GPUTRACE::CONDITION_ADDRESS", 0x1000)
    m.put(helper, 850000, "Leave", wait)
    m.attribute(helper, "GPUTRACE::WOKEN_BY", 0)
    m.attribute(helper, "GPUTRACE::WOKEN_AGO", 0)
    m.call(helper, work, 850000, 950000)
    return m


def tangled(resolution, metric):
    """Calls by chance, of more paths than are remembered, with recursion, locks, and every fault of a call."""
    m = Made(20000000)
    process, chance = m.process("Process 0"), random.Random(1)
    regions = [m.region(f"function {n}") for n in range(300)]
    regions += [m.region("pthread_mutex_lock", PTHREAD), m.region("function 7", again=2), 5000]
    m.resolution = resolution
    if metric: # whose analysis wants to see every call
        m.define("MetricMember", m.s("bytes"), m.s(""), 0, 0x22, UINT64, 1, 0, m.s("byte"))
        m.define("MetricClass", [0], 0, 0)
    for n in range(2):
        thread, now, stack = m.thread(process, f"Thread {n}"), 1000, []
        for i in range(20000):
            now += chance.choice([0, 7, 90, 300])
            if len(stack) < 3 or (len(stack) < 20 and chance.random() < 0.5):
                stack.append(chance.choice(regions) if chance.random() < 0.3 else regions[(i + len(stack)) % 40])
                m.put(thread, now, "Enter", stack[-1])
            else:
                m.put(thread, now, "Leave", stack.pop() if chance.random() < 0.999 else regions[0])
            if chance.random() < 0.01:
                m.attribute(thread, "BYTES", i)
        m.put(thread, m.length + 5000, "Leave", stack[-1])
    m.after = back_in_time
    return m


def back_in_time(path):
    """Makes two events of each location a microsecond earlier, which libotf2 does not write."""
    for name in glob.glob(path + "/traces/*.evt"):
        with open(name, "r+b") as file:
            events = file.read()
            for at in (len(events) // 3, len(events) // 2):
                at = events.index(b"\5", at)
                while events[at + 7:at + 9] != T0.to_bytes(8, "little")[6:]:
                    at = events.index(b"\5", at + 1)
                file.seek(at + 1)
                file.write((int.from_bytes(events[at + 1:at + 9], "little") - 1000).to_bytes(8, "little"))


@case
def tangle():
    return tangled(1000000000, False)


@case
def tangle_seen():
    return tangled(1000000000, True)


@case
def tangle_ticks():
    return tangled(700000000, False)


@case
def tangle_ticks_seen():
    return tangled(700000000, True)


def two_threads(running, ready=0):
    """Each is seen for 1 % of 1 ms; how long each ran, in ns, and waited for a processor."""
    m = Made()
    process = m.process("Process 0")
    for name in ("Master thread", "Thread 1"):
        thread = m.thread(process, name)
        m.call(thread, m.region("work"), 0, 10000)
        m.call(thread, m.region("work"), 999999, 1000000)
        if running is not None:
            m.states(thread, lifetime=1000000, running=running, ready=ready, blocked=1000000 - running - ready, unknown=0)
    return m


def in_rounds(moments):
    """Threads of 100 ms at the begin and at the end of a second share a location; the critical path has both.

    They are ready for 60 ms in all. At the moments what is known of them is 25, 15 and 10 ms running, ready
    and blocked, then 75, 45 and 30.
    """
    ms = 1000000
    m = Made(1000 * ms)
    process = m.process("Process 0")
    main, thread = m.thread(process), m.thread(process, "Thread 1")
    m.define("Group", m.s(""), 4, PTHREAD, 0, [main, thread])
    comm = m.define("Comm", m.s(""), m.define("Group", m.s(""), 5, PTHREAD, 0, [0, 1]), NONE, 0)
    members = [m.define("MetricMember", m.s(f"GPUTRACE::{name}_NS"), m.s(""), 0, 0, UINT64, 1, -9, m.s("s"))
               for name in ("RUNNING", "READY", "BLOCKED")]
    m.define("MetricClass", members, 3, 0)
    create, join = m.region("pthread_create", PTHREAD), m.region("pthread_join", PTHREAD)
    for number, begin, sums in (1, 0, (25, 15, 10)), (2, 900, (75, 45, 30)):
        m.put(main, begin * ms, "Enter", create)
        m.put(main, begin * ms, "ThreadCreate", comm, number)
        m.put(main, begin * ms + 1000, "Leave", create)
        m.put(thread, begin * ms, "ThreadBegin", comm, number)
        m.put(thread, begin * ms, "Enter", m.region("work"))
        if moments:
            m.put(thread, (begin + 50) * ms, "Metric", 0, [UINT64] * 3, [n * ms for n in sums])
        m.put(thread, (begin + 100) * ms, "Leave", m.region("work"))
        m.put(thread, (begin + 100) * ms, "ThreadEnd", comm, number)
        m.put(main, begin * ms + 1000, "Enter", join)
        m.put(main, (begin + 100) * ms, "ThreadWait", comm, number)
        m.put(main, (begin + 100) * ms, "Leave", join)
        if begin == 0:
            m.call(main, m.region("serial"), 100 * ms, 900 * ms)
    m.states(thread, lifetime=200 * ms, running=100 * ms, ready=60 * ms, blocked=40 * ms, unknown=0)
    return m


@case
def in_rounds_known():
    return in_rounds(True)


@case
def in_rounds_unknown():
    return in_rounds(False)


@case
def server():
    """The threads wait for clients in calls that are not recorded."""
    return two_threads(12000)


@case
def half_server():
    """They have more to do, and are blocked for most of the time all the same."""
    return two_threads(250000)


@case
def busy():
    """They compute in functions that are not recorded."""
    return two_threads(1000000)


@case
def starved():
    """They would, if others left them a processor."""
    return two_threads(250000, 750000)


@case
def unknown():
    """Nothing is known of that."""
    return two_threads(None)


if __name__ == "__main__":
    write_cases(CASES)
