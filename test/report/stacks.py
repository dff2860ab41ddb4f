#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes archives with samples of call stacks, of which every figure is known.

  stacks.py NAME DIR      writes the archive NAME into the new directory DIR
  stacks.py --all DIR     writes each into DIR, by its name
"""
import archives
from made import COMPILER, CUDA, MPI, NONE, PTHREAD, UINT64, USER, Made, write_cases

SAMPLING, CONTEXT = 21, 21
TIME, COUNT = 0, 1
BINARY, DECIMAL = 0, 1
US, MS = 1000, 1000000
OWN, KERNEL = 4, 8
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Stacks:
    """Contexts and samples of an archive."""

    def __init__(self, made, mode=TIME, base=DECIMAL, exponent=-9, period=MS):
        self.made = made
        self.interrupt = made.define("InterruptGenerator", made.s("CPU_TIME"), mode, base, exponent, period)
        self.modules = {}

    def context(self, region, file=None, line=0, parent=NONE, module=None):
        m = self.made
        source = m.once(("source", file, line),
                        lambda: m.define("SourceCodeLocation", m.s(file), line)) if file else NONE
        context = m.once(("context", region, source, parent),
                         lambda: m.define("CallingContext", region, source, parent))
        if module and region not in self.modules:
            self.modules[region] = module
            m.property(context, "module", module, "CallingContextProperty")
        return context

    def sample(self, thread, time, context, ns=None, flags=0):
        self.made.put(thread, time, "CallingContextSample", context, 1, self.interrupt)
        if ns is not None:
            self.made.attribute(thread, "SAMPLE_TIME", ns)
        if flags:
            self.made.attribute(thread, "SAMPLE_FLAGS", flags)


PROGRAM, LIBRARY, OTHER = "/opt/split", "/usr/lib/libfoo.so.1", "/usr/lib/libbar.so.1"


@case
def split():
    """100 ms of two threads in 95 samples, as gputrace writes them: alpha 55 (40 and 15 in two lines), two functions of
    one name in two libraries 15 and 10, main 10, gputrace itself 10."""
    m = Made(200 * MS)
    s = Stacks(m)
    process = m.process("Process 0")
    first, second = m.thread(process), m.thread(process, "Thread 1")
    main = m.region("main", file="split.c", line=3)
    alpha = m.region("alpha", file="split.c", line=10)
    foo = m.region("step", SAMPLING, file=LIBRARY)
    bar = m.region("step", SAMPLING, file=OTHER, again=1)
    root = s.context(main, "split.c", 5, module=PROGRAM)
    other = s.context(main, "split.c", 5, s.context(m.region("start", SAMPLING), module=PROGRAM))
    m.put(first, 0, "Enter", main)
    for i in range(40):
        s.sample(first, i * MS, s.context(alpha, "split.c", 12, root, PROGRAM), MS)
    for i in range(3):
        s.sample(first, 50 * MS + i, s.context(foo, parent=root, module=LIBRARY), 5 * MS, KERNEL)
    for i in range(2):
        s.sample(first, 60 * MS + i, s.context(bar, parent=root, module=OTHER), 5 * MS)
    for i in range(10):
        s.sample(first, 70 * MS + i, root, MS, OWN)
    m.put(first, 100 * MS, "Leave", main)
    m.put(second, 0, "Enter", main)
    for i in range(30):
        s.sample(second, 100 * MS + i, s.context(alpha, "split.c", 14, other), MS // 2)
    for i in range(10):
        s.sample(second, 150 * MS + i, other, MS)
    m.put(second, 200 * MS, "Leave", main)
    return m


def processor_time(kernel, *processes, module=None, executable=None):
    """`kernel` nanoseconds; of each process its name, the nanoseconds that it has noted, and samples of expand(): how
    many, and of how long."""
    m = Made(200 * MS)
    s = Stacks(m)
    for name, ns, count, each in processes:
        process = m.process(name)
        thread = m.thread(process)
        if executable:
            m.property(process, "GPUTRACE::EXECUTABLE", executable)
        m.property(process, "GPUTRACE::PROCESSOR_TIME_NS", str(ns))
        m.property(process, "GPUTRACE::ADAPTERS", "sampling")
        for i in range(count):
            s.sample(thread, i * MS, s.context(m.region("expand"), module=module), each)
    m.properties = {"GPUTRACE::PROCESSOR_TIME_NS": str(kernel)}
    return m


@case
def rests():
    """60 ms by the kernel: make has 20 ms of its 30 in samples, two compilers 5 ms each without one, and 20 ms are of
    no process."""
    return processor_time(60 * MS, ("make [10]", 30 * MS, 20, MS), ("cc1 [11]", 5 * MS, 0, MS),
                          ("cc1 [12]", 5 * MS, 0, MS), module="/usr/bin/make")


@case
def rest_of_ranks():
    """30 ms of two ranks of one program, of which 30 samples of expand() have 9 and the rest no sample."""
    return processor_time(30 * MS, ("MPI Rank 0", 15 * MS, 30, 300 * US), ("MPI Rank 1", 15 * MS, 0, MS),
                          module="/opt/bin/solver", executable="/opt/bin/solver")


@case
def rest_of_more():
    """22 ms, of which samples of the only process have 20, though that has noted 18."""
    return processor_time(22 * MS, ("make [10]", 18 * MS, 20, MS))


@case
def rest_of_all():
    """5 ms of a process without a sample."""
    m = Made(200 * MS)
    process = m.process("true [10]")
    m.put(m.thread(process), 0, "Enter", m.region("main"))
    m.property(process, "GPUTRACE::PROCESSOR_TIME_NS", str(5 * MS))
    m.property(process, "GPUTRACE::ADAPTERS", "sampling")
    m.properties = {"GPUTRACE::PROCESSOR_TIME_NS": str(5 * MS)}
    return m


@case
def rounds():
    """200 rounds of 1.02 ms: most() for 20 us and a hundred functions for 10 us each, with a sample in each call, of
    20 and 10 us: twice as many in dense() as in any other."""
    m = Made(200 * 1020 * US)
    s = Stacks(m)
    thread = m.thread(m.process("Process 0"))
    most, dense = m.region("most"), s.context(m.region("dense"))
    others = [m.region(f"other{n}") for n in range(100)]
    contexts = [s.context(other) for other in others]
    for begin in range(0, 200 * 1020 * US, 1020 * US):
        m.put(thread, begin, "Enter", most)
        s.sample(thread, begin + 10 * US, dense, 20 * US)
        m.put(thread, begin + 20 * US, "Leave", most)
        for n, other in enumerate(others):
            at = begin + (20 + 10 * n) * US
            m.put(thread, at, "Enter", other)
            s.sample(thread, at + 5 * US, contexts[n], 10 * US)
            m.put(thread, at + 10 * US, "Leave", other)
    return m


def numbered(up_to):
    """A call with samples in it and in two functions below; contexts have the numbers up to that one."""
    m = Made()
    s = Stacks(m)
    thread = m.thread(m.process("Process 0"))
    m.numbers["CallingContext"] = up_to - 2
    main = s.context(m.region("main"), "a.c", 3)
    work = s.context(m.region("work", SAMPLING), "a.c", 22, main)
    inner = s.context(m.region("inner", SAMPLING), "a.c", 30, work)
    m.put(thread, 0, "Enter", m.region("main"))
    for i, context in enumerate((main, work, inner, work)):
        s.sample(thread, 100 * (i + 1), context, 100)
    m.put(thread, 1000, "Leave", m.region("main"))
    return m


MOST_NEW = 2**20 + 3 # of an export with --calling-contexts: report/part/contexts.h, and a node for each region


@case
def high_numbers():
    """New ones would have all that are left."""
    return numbered(2**32 - 2 - MOST_NEW)


@case
def higher_numbers():
    """... or one more."""
    return numbered(2**32 - 1 - MOST_NEW)


@case
def highest_number():
    return numbered(2**32 - 2)


def layout_of_scorep(**generator):
    """Calls are contexts, too; three samples in one, one in the other."""
    m = Made()
    s = Stacks(m, **generator)
    thread = m.thread(m.process("Process 0"))
    main = s.context(m.region("main", file="a.c", line=1), "a.c", 3)
    work = s.context(m.region("work", SAMPLING, file="a.c", line=20), "a.c", 22, main)
    m.put(thread, 0, "CallingContextEnter", main, 1)
    for time, context in ((100, main), (200, work), (300, work), (400, work)):
        s.sample(thread, time, context)
    m.put(thread, 1000, "CallingContextLeave", main)
    return m


@case
def scorep():
    """Each stands for the generator's 2 ms."""
    return layout_of_scorep(exponent=-3, period=2)


@case
def scorep_binary():
    """... for 2^-10 s."""
    return layout_of_scorep(base=BINARY, exponent=-10, period=1)


@case
def scorep_cycles():
    """... for 1,000 cycles, which are no time."""
    return layout_of_scorep(mode=COUNT, exponent=0, period=1000)


@case
def lo2s():
    """As lo2s writes a process and the CPUs: the contexts of threads are entered and left where the scheduler says
    so, with samples of 1 ms in them; of each CPU, which thread it runs, and its values of a counter."""
    m = Made(100 * MS)
    s = Stacks(m, exponent=-3, period=1)
    process = m.process("app (42)")
    cpus = m.process("cpu 0"), m.process("cpu 1")
    thread = m.thread(process, "app (43)")
    rows = [m.thread(group, f"cpu {n}") for n, group in enumerate(cpus)]
    values = m.define("Location", m.s("metrics for cpu 0"), 3, None, cpus[0])
    m.events[values] = []
    m.define("MetricMember", m.s("instructions"), m.s(""), 1, 0, UINT64, 1, 0, m.s("#"))
    m.define("MetricClass", [0], 2, 0)
    whole = s.context(m.region("app (42)", SAMPLING))
    part = s.context(m.region("app (43)", SAMPLING), parent=whole)
    work = s.context(m.region("work", SAMPLING, file="app.c", line=5), "app.c", 7, part)
    for begin in 0, 50 * MS:
        m.put(thread, begin, "CallingContextEnter", part, 2)
        for i in range(10):
            s.sample(thread, begin + (i + 1) * MS, work)
        m.put(thread, begin + 20 * MS, "CallingContextLeave", part)
    for n, row in enumerate(rows):
        m.put(row, 50 * n * MS, "CallingContextEnter", part, 2)
        m.put(row, 50 * n * MS + 20 * MS, "CallingContextLeave", part)
    for i in range(4):
        m.put(values, 10 * (i + 1) * MS, "Metric", 0, [UINT64], [1000 * (i + 1)])
    return m


@case
def lost():
    """Samples of a context that is not defined, of a region that is not, of no time, and of 292 years; more than
    these the archive lacks, as it says."""
    m = Made()
    s = Stacks(m)
    process = m.process("Process 0")
    thread = m.thread(process)
    m.property(process, "GPUTRACE::SAMPLING_ENDED", "the program uses the signal")
    m.properties = {"GPUTRACE::SAMPLING_PATHS": "without lines: there were too many"}
    nowhere = m.define("CallingContext", NONE, NONE, NONE)
    s.sample(thread, 100, 77, MS)
    s.sample(thread, 200, nowhere, 2 * MS)
    s.sample(thread, 300, s.context(m.region("idle")), 0)
    s.sample(thread, 400, s.context(m.region("damaged")), 2**63)
    return m


@case
def tree():
    """Samples in measured calls: of functions, of one that calls itself, of one inlined, of a range, of a wrapper, in
    which they stand for more time than there is; and behind all of them."""
    m = Made(200 * MS)
    s = Stacks(m)
    thread = m.thread(m.process("Process 0"))
    main, solve, phase, wait = m.region("main"), m.region("solve"), m.region("phase", USER), m.mpi("MPI_Wait")

    def path(*names):
        at = NONE
        for name in names:
            region = {"main": main, "solve": solve}.get(name)
            at = s.context(m.region(name, SAMPLING, again="sampled") if region is None else region, parent=at)
        return at

    def samples(time, count, ns, *names, flags=0):
        for i in range(count):
            s.sample(thread, time + i, path("_start", *names), ns, flags)

    m.put(thread, 0, "Enter", main)
    samples(5 * MS, 5, MS, "main")
    m.put(thread, 10 * MS, "Enter", solve)
    samples(20 * MS, 10, MS, "main", "solve", "dgemm")
    samples(30 * MS, 30, MS, "main", "solve", "dgemm", "kernel")
    m.put(thread, 50 * MS, "Enter", solve)
    samples(51 * MS, 3, MS, "main", "solve", "solve", "leaf")
    m.put(thread, 55 * MS, "Leave", solve)
    m.put(thread, 60 * MS, "Leave", solve)
    samples(61 * MS, 4, MS, "main", "helper")
    samples(66 * MS, 1, MS, "main", "helper", flags=OWN)
    m.put(thread, 68 * MS, "Enter", m.region("inlined"))
    samples(69 * MS, 1, MS, "main", "helper", "work")
    m.put(thread, 70 * MS, "Leave", m.region("inlined"))
    m.put(thread, 70 * MS, "Enter", phase)
    samples(71 * MS, 2, MS, "main", "helper", "work")
    m.put(thread, 90 * MS, "Leave", phase)
    m.put(thread, 90 * MS, "Enter", wait)
    samples(91 * MS, 4, 2 * MS, "main", "helper", "body_MPI_Wait", "PMPI_Wait", "progress", "poll")
    samples(92 * MS, 2, MS, "main", "helper", "MPI_Wait")
    m.put(thread, 95 * MS, "Leave", wait)
    m.put(thread, 100 * MS, "Leave", main)
    samples(110 * MS, 3, MS, "exit", "flush")
    return m


def at_leave(m, s, thread, *path):
    """Who made the call that is left by the event put last: "NAME" or "NAME LINE"."""
    at = NONE
    for name, *line in (step.split() for step in path):
        at = s.context(m.region(name, SAMPLING, again="sampled"), "calls.c" if line else None, int(*line or [0]), at)
    m.attribute(thread, "CALL_PATH", at, CONTEXT)


def two_takers(m, s, process, outer=None):
    """Of four waits for a lock, of 10, 20, 30 and 40 ms, two have one path and one has another."""
    a, b = m.thread(process, "A"), m.thread(process, "B")
    take = m.region("pthread_mutex_lock", PTHREAD)
    paths = [("frequent 31", "take 12"), ("rare 35", "take 12"), ("frequent 31", "take 12"), None]
    if outer:
        m.put(b, 0, "Enter", m.region(outer))
    for i, path in enumerate(paths):
        begin, end = 100 * i * MS, (100 * i + 10 * (i + 1)) * MS
        m.put(a, begin, "Enter", take)
        m.put(a, begin, "ThreadAcquireLock", PTHREAD, 1, 2 * i + 1)
        m.put(a, begin, "Leave", take)
        m.put(a, end, "ThreadReleaseLock", PTHREAD, 1, 2 * i + 1)
        m.put(b, begin, "Enter", take)
        m.put(b, end, "ThreadAcquireLock", PTHREAD, 1, 2 * i + 2)
        m.put(b, end, "Leave", take)
        if path:
            at_leave(m, s, b, "__clone3", "start_thread", *([outer] if outer else ["waiter 40"]), *path)
        m.put(b, end, "ThreadReleaseLock", PTHREAD, 1, 2 * i + 2)
    if outer:
        m.put(b, 500 * MS, "Leave", m.region(outer))


@case
def takers():
    """Of an unmodified program."""
    m = Made(600 * MS)
    two_takers(m, Stacks(m), m.process("Process 0"))
    return m


@case
def takers_in_turn():
    """A are threads that use one location one after another, and have lived for 100 ms together."""
    m = takers()
    m.states(0, lifetime=100 * MS, running=30 * MS, ready=60 * MS, blocked=10 * MS, unknown=0)
    return m


@case
def measured_takers():
    """The thread's function was recorded, too."""
    m = Made(600 * MS)
    two_takers(m, Stacks(m), m.process("Process 0"), "waiter")
    return m


@case
def own_starts():
    """Locks are taken for 10 ms each by functions of the program that have the names of the C library's starts."""
    m = Made(600 * MS)
    s = Stacks(m)
    process = m.process("Process 0")
    a, b = m.thread(process, "A"), m.thread(process, "B")
    take = m.region("pthread_mutex_lock", PTHREAD)
    main, thread = ("_start", "__libc_start_main@@GLIBC_2.34", "__libc_start_call_main", "main 3"), ("clone3", "start_thread")
    paths = [(*main, "build 5", "clone 6"), (*main, "start_thread 7"), (*thread, "start_thread 8"),
             (*thread, "clone 9", "_start 10"), ("libc.so.6+0x94ac3", "run 11"), ("clone@@GLIBC_2.2.5", "libc.so.6+0x8", "run 12")]
    for i, path in enumerate(paths):
        begin, end = 100 * i * MS, (100 * i + 10) * MS
        m.put(a, begin, "Enter", take)
        m.put(a, begin, "ThreadAcquireLock", PTHREAD, 1, 2 * i + 1)
        m.put(a, begin, "Leave", take)
        m.put(a, end, "ThreadReleaseLock", PTHREAD, 1, 2 * i + 1)
        m.put(b, begin, "Enter", take)
        m.put(b, end, "ThreadAcquireLock", PTHREAD, 1, 2 * i + 2)
        m.put(b, end, "Leave", take)
        at_leave(m, s, b, *path)
        m.put(b, end, "ThreadReleaseLock", PTHREAD, 1, 2 * i + 2)
    return m


def ran_before(count):
    """Two threads run for 300 ms and wait from 310 ms on; they are blocked for 700 ms. Samples of equal weight stand for
    290 ms: one thread has them before the wait, of the other's 60 % are in it."""
    m = Made(1000 * MS)
    s = Stacks(m)
    process = m.process("Process 0")
    wait, work = m.region("pthread_cond_wait", PTHREAD), s.context(m.region("work"))
    for name, before in (("Master thread", count), ("Thread 1", count - round(0.6 * count))):
        thread = m.thread(process, name)
        m.call(thread, m.region("pthread_create", PTHREAD), 0, 1000)
        for i in range(before):
            s.sample(thread, MS + i, work, 290 * MS // count)
        m.put(thread, 310 * MS, "Enter", wait)
        for i in range(before, count):
            s.sample(thread, 311 * MS + i, work, 290 * MS // count)
        m.put(thread, 1000 * MS, "Leave", wait)
        m.states(thread, lifetime=1000 * MS, running=300 * MS, ready=0, blocked=700 * MS, unknown=0)
    return m


@case
def few_outside():
    """A single one says nothing of what they did outside of calls."""
    return ran_before(1)


@case
def many_outside():
    """One has worked for 290 ms, the other for 116."""
    return ran_before(50)


@case
def turns():
    """Threads that use a location one after another: one until 100 ms, one from 3,000 to 3,100 ms. Each ran for 50 ms,
    was ready for 30, and blocked for 20."""
    m = Made(4000 * MS)
    s = Stacks(m)
    thread = m.thread(m.process("Process 0"))
    work = s.context(m.region("work"))
    members = [m.define("MetricMember", m.s(f"GPUTRACE::{name}_NS"), m.s(""), 0, 0, UINT64, 1, -9, m.s("s"))
               for name in ("RUNNING", "READY", "BLOCKED")]
    m.define("MetricClass", members, 3, 0)
    for ms in (100, 3100):
        m.call(thread, m.region("work"), (ms - 100) * MS, (ms - 50) * MS)
        s.sample(thread, ms * MS - 1, work, 50 * MS)
        n = 1 if ms == 100 else 2
        m.put(thread, ms * MS, "Metric", 0, [UINT64] * 3, [n * 50 * MS, n * 30 * MS, n * 20 * MS])
    m.states(thread, lifetime=200 * MS, running=100 * MS, ready=60 * MS, blocked=40 * MS, unknown=0)
    return m


@case
def launchers():
    """Two callers launch one kernel three times, one of them a copy for which it waits in its call."""
    m = Made(600 * MS)
    s = Stacks(m)
    process = m.process("Process 0")
    host, stream = m.thread(process), m.stream(process, m.device("GPU A"), "CUDA[0:7]")
    launch, copy = m.region("cuLaunchKernel", CUDA), m.region("cuMemcpyDtoH_v2", CUDA)
    for i, caller in enumerate(("left 5", "right 8", "right 9")):
        m.call(host, launch, 100 * i * MS, (100 * i + 1) * MS, i + 1)
        at_leave(m, s, host, "_start", "__libc_start_main", "main 20", caller)
        m.kernel(stream, "k", (100 * i + 2) * MS, (100 * i + 22 - i) * MS, correlation=i + 1)
    m.put(host, 300 * MS, "Enter", copy)
    m.attribute(host, "CORRELATION_ID", 4)
    m.call(host, m.region("HOST_IDLE", CUDA), 301 * MS, 340 * MS)
    m.put(host, 350 * MS, "Leave", copy)
    at_leave(m, s, host, "main 22", "fetch 15")
    m.copy(stream, "cudaMemcpy D2H pageable", 310 * MS, 340 * MS, 1000, 4)
    return m


@case
def dense():
    """10,000 samples of 50 us in the first of eight seconds, one in 0.1 ms: of each four, alpha has three in the first
    half of it, beta in the second. The thread has used a processor for half of that second and waited for one for 0.3 s."""
    m = Made(8000 * MS)
    s = Stacks(m)
    thread = m.thread(m.process("Process 0"))
    main = s.context(m.region("main"))
    alpha, beta = s.context(m.region("alpha"), parent=main), s.context(m.region("beta"), parent=main)
    for i in range(10000):
        s.sample(thread, (i + 1) * 100 * US, alpha if (i % 4 == 3) == (i >= 5000) else beta, 50 * US)
    members = [m.define("MetricMember", m.s(f"GPUTRACE::{name}_NS"), m.s(""), 0, 0, UINT64, 1, -9, m.s("s"))
               for name in ("RUNNING", "READY", "BLOCKED")]
    m.define("MetricClass", members, 3, 0)
    for ms, *sums in (1000, 500, 300, 200), (3000, 500, 300, 2200):
        m.put(thread, ms * MS, "Metric", 0, [UINT64] * 3, [ns * MS for ns in sums])
    m.states(thread, lifetime=8000 * MS, running=500 * MS, ready=300 * MS, blocked=7200 * MS, unknown=0)
    return m


def crowded(i):
    """Function and ns of the sample at i + 1 ms."""
    return ("top", 2 * MS) if i % 5 == 0 else (f"f{i * 7 % 40:02}", MS)


@case
def crowd():
    """2,000 samples of 33 functions in turn: top has a third of the time, each other one little."""
    m = Made(8000 * MS)
    s = Stacks(m)
    thread = m.thread(m.process("Process 0"))
    main = s.context(m.region("main"))
    for i in range(2000):
        name, ns = crowded(i)
        s.sample(thread, (i + 1) * MS, s.context(m.region(name), parent=main), ns)
    return m


@case
def shares():
    """Two threads in one call for 10 ms each, where samples stand for 20 ms of one and 4 ms of the other."""
    m = Made(20 * MS)
    s = Stacks(m)
    process, main = m.process("Process 0"), m.region("main")
    path = s.context(m.region("work", SAMPLING), parent=s.context(main))
    for name, count in (("Master thread", 20), ("Thread 1", 4)):
        thread = m.thread(process, name)
        m.put(thread, 0, "Enter", main)
        for i in range(count):
            s.sample(thread, i * MS // 4, path, MS)
        m.put(thread, 10 * MS, "Leave", main)
    return m


def counts(longer=0, **functions):
    """How many samples of 1 ms each function has, and how many of 20 ms the last one has, too."""
    m = Made(1000 * MS)
    s = Stacks(m)
    thread = m.thread(m.process("Process 0"))
    time = 0
    for name, count in functions.items():
        for _ in range(count):
            time += MS
            s.sample(thread, time, s.context(m.region(name)), MS)
    for _ in range(longer):
        time += 20 * MS
        s.sample(thread, time, s.context(m.region(name)), 20 * MS)
    return m


@case
def before():
    return counts(alpha=100, beta=100, few=9, some=16, gamma=50, uneven=100, longer=4)


@case
def after():
    """3 sqrt(100 + 150) = 47 and 3 sqrt(100 + 140) = 46 samples may be chance, and of the uneven ones 228 ms."""
    return counts(alpha=150, beta=140, gamma=50, new=10, uneven=100, longer=10)


def beside(m):
    """The same archive, with a sample behind each event of a thread but its last one."""
    s = Stacks(m)
    leaf = NONE
    for name, paradigm in (("main", COMPILER), ("MPI_Wait", SAMPLING), ("pthread_mutex_unlock", SAMPLING),
                           ("pthread_cond_wait", PTHREAD), ("MPI_Barrier", MPI), ("cudaLaunchKernel", SAMPLING)):
        leaf = s.context(m.region(name, paradigm), "a.c", 7, leaf)
    threads = [d[1] for d in m.later if d[0] == "Location" and d[3] == 1]
    for thread in threads:
        events, attributes = m.events[thread], m.attributes
        m.events[thread] = []
        m.attributes = {key: value for key, value in attributes.items() if key[0] != thread}
        for i, event in enumerate(events):
            m.put(thread, *event)
            if (thread, i) in attributes:
                m.attributes[(thread, len(m.events[thread]) - 1)] = attributes[(thread, i)]
            if i + 1 < len(events):
                s.sample(thread, event[0], leaf, 1000)
    return m


for name, write in archives.CASES.items():
    if not name.startswith("tangle"): # of which bytes are changed afterwards
        CASES["with_" + name] = lambda write=write: beside(write())

if __name__ == "__main__":
    write_cases(CASES)
