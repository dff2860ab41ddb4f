#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives of 1 s with one planted problem each, and twins that do the same work without it.

  planted.py --list         ID, a line each
  planted.py ID DIR         writes DIR/planted and DIR/clean
  planted.py answers DIR    small writes that are none of the problems
  planted.py pages DIR      writes of pages
  planted.py overlap DIR    kernels and copies that overlap for 10 ms of 400 ms
  planted.py turns DIR      threads that wait for one lock for longer than a time slice, each for all others
  planted.py watched DIR    a thread that another one waits for
  planted.py apart DIR      ranks of which each begins when the one before has ended
  planted.py helped DIR     a thread that works for longer than the first one and another
  planted.py relay DIR COUNT PROCESSORS  threads that live one after another
  planted.py gate DIR       threads that wait as long for one that has the lock and never waits for it
  planted.py unseen DIR PROGRAM  a gap in which nothing is recorded of the host but a cudaMalloc of 500 us
  planted.py in-turn DIR MS  GPUs that work at the same time for so long
  planted.py spinning DIR HOW [REGION [OBJECT]]  a thread that uses a processor to wait, or works where it could
  planted.py crowded DIR HOW  a late rank that waited for its processor, that worked, or that did both
  planted.py shares DIR HOW  threads that wait for processors, where it is not known whose these are
  planted.py equal DIR HOW  equal ranks that share processors: who waited for one, if that is known
  planted.py late DIR       a late rank of which only gputrace's own region is recorded
  planted.py sampled DIR ID NS  gpu-gaps or late-rank with a sample of the host, or of the late rank, in each NS;
                            staggered: the same, where each other rank waits for longest at times; neighbours:
                            of two processes with a GPU each, one of which has gaps
"""
import sys

from made import CUDA, MEASUREMENT, PTHREAD, Made
from planted_files import answers, pages
from planting import CASES, SECOND, case, gpu, host, ranks
from stacks import Stacks, SAMPLING

# ---- ranks --------------------------------------------------------------------------------------

@case
def late_rank(bad):
    """Rank 3 has twice the work in each of ten steps, or all have the same. On two processors."""
    m, threads, world = ranks(4)
    m.properties = {"GPUTRACE::PROCESSORS": "2"}
    work, reduce = m.region("work"), m.mpi("MPI_Allreduce")
    for n, thread in enumerate(threads):
        for i in range(10):
            begin, end = i * 100000000, (i + 1) * 100000000
            busy = 45000000 if bad and n < 3 else 95000000
            m.call(thread, work, begin, begin + busy)
            m.collective(thread, reduce, begin + busy, end, 11, world, sent=8, received=8)
    return m


def crowded(how):
    """As late_rank(): rank 3 had no processor for 500 ms (waited), 100 ms (part) or never (worked)."""
    m, ms = late_rank(True), 1000000
    ready = {"waited": 500, "part": 100, "worked": 0}[how]
    for thread in range(4):
        late = thread == 3
        m.states(thread, lifetime=SECOND, running=(950 - ready if late else 450) * ms, ready=ready * ms * late,
                 blocked=(50 if late else 550) * ms, unknown=0)
    return m


@case
def flushes(bad):
    """Rank 2 writes its full buffer for 50 ms in each of five steps, or for 1 ms: the others wait for it."""
    m, threads, world = ranks(4)
    work, reduce = m.region("work"), m.mpi("MPI_Allreduce")
    flush = m.region("TRACE BUFFER FLUSH", MEASUREMENT)
    for n, thread in enumerate(threads):
        for i in range(5):
            begin, end = i * 200000000, (i + 1) * 200000000
            busy = begin + (150000000 if bad else 199000000)
            m.call(thread, work, begin, busy)
            if n == 2:
                m.call(thread, flush, busy, end - i)
            m.collective(thread, reduce, busy if n != 2 else end - i, end, 11, world, sent=8, received=8)
    return m


def staggered():
    """Rank 5 is late by 80 ms in each of ten steps, of which one other rank waits for 45 ms more than the rest."""
    m, threads, world = ranks(6)
    work, reduce = m.region("work"), m.mpi("MPI_Allreduce")
    for n, thread in enumerate(threads):
        for i in range(10):
            begin, end = i * 100000000, (i + 1) * 100000000
            busy = begin + (95000000 if n == 5 else 15000000 if n == i % 5 else 60000000)
            m.call(thread, work, begin, busy)
            m.collective(thread, reduce, busy, end, 11, world, sent=8, received=8)
    return m


def neighbours():
    """As gpu_gaps(), beside a process whose own GPU has no long gaps."""
    m = gpu_gaps(True)
    process = m.process("Process 1")
    launches(m, m.thread(process), m.stream(process, m.device("GPU B"), "CUDA[0:7]"), 10, 99900000)
    return m


def late_and_flushes():
    """Rank 3 has most work, of which nothing but the writing of its buffer is recorded."""
    m, threads, world = ranks(4)
    reduce, flush = m.mpi("MPI_Allreduce"), m.region("TRACE BUFFER FLUSH", MEASUREMENT)
    for n, thread in enumerate(threads):
        m.collective(thread, reduce, 0, 1000000, 11, world, sent=8, received=8)
        m.call(thread, flush, 150000000, 180000000 if n == 3 else 151000000)
        m.collective(thread, reduce, 900000000 if n == 3 else 200000000, SECOND, 11, world, sent=8, received=8)
    return m


@case
def n_x_n(bad):
    """Collectives take 40 % or 4 % of the time, of equal ranks. On four processors."""
    m, threads, world = ranks(4)
    m.properties = {"GPUTRACE::PROCESSORS": "4"}
    work, exchange, barrier = m.region("work"), m.mpi("MPI_Alltoall"), m.mpi("MPI_Barrier")
    for thread in threads:
        for i in range(100):
            begin, end = i * 10000000, (i + 1) * 10000000
            busy = 6000000 if bad else 9600000
            m.call(thread, work, begin, begin + busy)
            m.collective(thread, exchange, begin + busy, begin + busy + 100000, 9, world, sent=800, received=800)
            m.collective(thread, barrier, begin + busy + 100000, end, 0, world)
    return m


def equal(how):
    """As n_x_n(), on two processors: all (waited), rank 2 (one) or none (blocked) had none for 300 ms."""
    m, ms = n_x_n(True), 1000000
    m.properties = {"GPUTRACE::PROCESSORS": "2"}
    for thread in range(4):
        ready = 300 if how == "waited" or (how == "one" and thread == 2) else 0
        if how != "unknown" or thread:
            m.states(thread, lifetime=SECOND, running=(600 - ready) * ms, ready=ready * ms, blocked=400 * ms,
                     unknown=0)
    return m


@case
def serialised_ranks(bad):
    """Each of four ranks works for 100 ms with the others and for 150 ms while they wait, or with them, too."""
    m, threads, world = ranks(4)
    work, barrier = m.region("work"), m.mpi("MPI_Barrier")
    for n, thread in enumerate(threads):
        write = m.mpi("MPI_File_write_at") if n % 2 else m.region("write")
        m.call(thread, work, 0, 100000000 if bad else 850000000)
        at = 100000000 + n * 150000000 if bad else 850000000
        if bad and n:
            m.collective(thread, barrier, 100000000, at, 0, world)
        m.call(thread, write, at, at + 150000000)
        if bad:
            m.collective(thread, barrier, at + 150000000, 700000000 + 50000000, 0, world)
            m.call(thread, work, 750000000, SECOND)
    return m


def apart():
    """Four ranks, each of which begins when the one before has ended: nobody waits."""
    m, threads, _ = ranks(4)
    for n, thread in enumerate(threads):
        m.call(thread, m.region("work"), n * SECOND // 4, (n + 1) * SECOND // 4 - 1000)
        m.call(thread, m.mpi("MPI_Barrier"), (n + 1) * SECOND // 4 - 1000, (n + 1) * SECOND // 4)
    return m


@case
def tiny_messages(bad):
    """Each rank sends 2,000 messages of 8 bytes in 10 % of its time, or 100 of them have 2 MB."""
    m, threads, world = ranks(2)
    work, send, receive = m.region("work"), m.mpi("MPI_Send"), m.mpi("MPI_Recv")
    count = 2000
    step = SECOND // count
    for n, thread in enumerate(threads):
        for i in range(count):
            begin = i * step
            size = 8 if bad or i % 20 else 2000000
            first = begin + step - 100000
            m.call(thread, work, begin, first)
            middle = (first + begin + step) // 2
            m.put(thread, first, "Enter", send)
            m.put(thread, first, "MpiSend", 1 - n, world, 0, size)
            m.put(thread, middle, "Leave", send)
            m.put(thread, middle, "Enter", receive)
            m.put(thread, begin + step, "MpiRecv", 1 - n, world, 0, size)
            m.put(thread, begin + step, "Leave", receive)
    return m


@case
def polling(bad):
    """Half of the time in MPI_Test, or a little of it."""
    m, threads, _ = ranks(2)
    work, test = m.region("work"), m.mpi("MPI_Test")
    for thread in threads:
        for i in range(10):
            begin = i * 100000000
            busy = 50000000 if bad else 99000000
            m.call(thread, work, begin, begin + busy)
            m.call(thread, test, begin + busy, begin + 100000000)
    return m


# ---- threads, files, functions --------------------------------------------------------------------

@case
def lock_convoy(bad):
    """
    Two threads take turns with a lock that is held for 2 ms, 200 times; or each works on its own, takes a lock
    that nobody wants, and one waits for the other once, for most of the run.
    """
    m, process, first = host()
    threads = [first, m.thread(process, "Thread 1")]
    work, take = m.region("work"), m.region("pthread_mutex_lock", PTHREAD)
    for n, thread in enumerate(threads):
        if not bad:
            for i in range(200):
                m.call(thread, work, i * 1000000, (i + 1) * 1000000 - 100)
                m.put(thread, (i + 1) * 1000000 - 100, "Enter", take)
                m.put(thread, (i + 1) * 1000000 - 1, "ThreadAcquireLock", PTHREAD, n, 2 * i + n)
                m.put(thread, (i + 1) * 1000000 - 1, "ThreadReleaseLock", PTHREAD, n, 2 * i + n)
                m.put(thread, (i + 1) * 1000000, "Leave", take)
            m.put(thread, 200000000, "Enter", take)
            m.put(thread, 200000000 + n * 700000000, "ThreadAcquireLock", PTHREAD, 0, 1000 + n)
            m.put(thread, 200000001 + n * 700000000, "Leave", take)
            m.call(thread, work, 200000001 + n * 700000000, 900000000 + n * 100000000)
            m.put(thread, 900000000 + n * 100000000, "ThreadReleaseLock", PTHREAD, 0, 1000 + n)
            continue
        for i in range(200):
            begin = i * 5000000 + n * 2000000
            m.put(thread, begin - 1500000 if begin else 0, "Enter", take)
            m.put(thread, begin, "ThreadAcquireLock", PTHREAD, 1, 2 * i + n)
            m.put(thread, begin, "Leave", take)
            m.put(thread, begin, "Enter", work)
            m.put(thread, begin + 2000000, "ThreadReleaseLock", PTHREAD, 1, 2 * i + n)
            m.put(thread, begin + 2000000, "Leave", work)
    return m


def shared(lasts, work, wait="pthread_barrier_wait"):
    """Threads that work in ten steps, each as long as `lasts` says, and wait until a step of 100 ms is over."""
    m, process, _ = host()
    for n, ms in enumerate(lasts):
        thread = m.thread(process, f"Thread {n + 1}")
        for i in range(10):
            begin, done = i * 100000000, i * 100000000 + ms * 1000000
            m.call(thread, m.region(work(n)), begin, done)
            m.call(thread, m.region(wait, PTHREAD), done, (i + 1) * 100000000)
    return m


@case
def late_thread(bad):
    """One of four threads has twice the work, or all have the same."""
    return shared([45, 45, 95 if bad else 45, 45], lambda n: "work")


@case
def limiting_stage(bad):
    """One of three threads, which do different things, has much more to do; or all have about the same."""
    return shared([20, 95, 30] if bad else [90, 95, 90], "read pack write".split().__getitem__, "sem_wait")


@case
def tail(bad):
    """Three threads end after 300 ms and the fourth one after all of the run, or all do."""
    m, process, _ = host()
    for n in range(4):
        m.call(m.thread(process, f"Thread {n + 1}"), m.region("work"), 0, SECOND if n == 3 or not bad else 300000000)
    return m


def watched():
    """The first thread has little to do but to wait for the end of the other."""
    m, process, main = host()
    m.call(main, m.region("prepare"), 0, 150000000)
    m.call(main, m.region("pthread_join", PTHREAD), 150000000, SECOND)
    m.call(m.thread(process, "Thread 1"), m.region("work"), 0, SECOND)
    return m


def helped():
    """The first thread and another work for 600 ms and for all of the run, a third one for 100 ms."""
    m, process, main = host()
    m.call(main, m.region("prepare"), 0, 600000000)
    m.call(main, m.region("pthread_join", PTHREAD), 600000000, SECOND)
    m.call(m.thread(process, "Thread 1"), m.region("work"), 0, SECOND)
    m.call(m.thread(process, "Thread 2"), m.region("check"), 0, 100000000)
    return m


def after():
    """The first thread works alone for 500 ms, then two others for 500 and for 100 ms, for which it waits."""
    m, process, main = host()
    m.call(main, m.region("prepare"), 0, 500000000)
    m.call(main, m.region("pthread_join", PTHREAD), 500000000, SECOND)
    m.call(m.thread(process, "Thread 1"), m.region("work"), 500000000, SECOND)
    m.call(m.thread(process, "Thread 2"), m.region("work"), 500000000, 600000000)
    return m


def relay(count, processors):
    """The first thread waits for the end of each of `count` threads, which live one after another."""
    m, process, main = host()
    m.properties = {"GPUTRACE::PROCESSORS": str(processors)}
    for i in range(count):
        begin, end = i * SECOND // count, (i + 1) * SECOND // count
        m.call(main, m.region("pthread_join", PTHREAD), begin, end)
        m.call(m.thread(process, f"Thread {i + 1}"), m.region("work"), begin, end)
    return m


def alone(prepare, begins):
    """The first thread works alone but where two others live, from these times on for 100 ms."""
    m, process, main = host()
    for i, begin in enumerate(begins):
        m.call(main, m.region(prepare), 0 if not i else begins[i - 1] + 100000000, begin)
        m.call(main, m.region("pthread_join", PTHREAD), begin, begin + 100000000)
        for n in range(2):
            m.call(m.thread(process, f"Thread {2 * i + n}"), m.region("work"), begin, begin + 100000000)
    m.call(main, m.region(prepare), begins[-1] + 100000000, SECOND)
    return m


@case
def serial_part(bad):
    """For half of the run only the first thread lives, here and there; or next to never."""
    return alone("prepare", range(50000000, 900000000, 200000000) if bad else range(10000000, 900000000, 105000000))


@case
def startup(bad):
    """The first thread works for half of the run before it has others do so; or soon has them."""
    return alone("load", range(500000000, 900000000, 100000000) if bad else range(10000000, 900000000, 105000000))


def locked(thread, m, want, begin, end, order):
    take = m.region("pthread_mutex_lock", PTHREAD)
    m.put(thread, want, "Enter", take)
    m.put(thread, begin, "ThreadAcquireLock", PTHREAD, 1, order)
    m.put(thread, begin, "Leave", take)
    m.put(thread, begin, "Enter", m.region("work"))
    m.put(thread, end, "ThreadReleaseLock", PTHREAD, 1, order)
    m.put(thread, end, "Leave", m.region("work"))


def turns():
    """Eight threads hold the lock for 4 ms each, one after the other, and want it at once again: each waits for 28 ms."""
    m, process, first = host()
    threads = [first] + [m.thread(process, f"Thread {n}") for n in range(1, 8)]
    for i in range(240):
        begin = i * 4000000
        locked(threads[i % 8], m, max(0, begin - 28000000), begin, begin + 4000000, i)
    return m


def gate():
    """The first thread opens it 30 times; three others wait for it for 28 ms each time, and hold it for 1 us."""
    m, process, first = host()
    threads = [m.thread(process, f"Thread {n}") for n in range(1, 4)]
    for i in range(30):
        begin = i * 30000000
        locked(first, m, begin, begin, begin + 28000000, 4 * i)
        for n, thread in enumerate(threads):
            at = begin + 28000000 + n * 1000
            locked(thread, m, begin, at, at + 1000, 4 * i + 1 + n)
    return m


def on_processors(count, shares, each=SECOND, **properties):
    """Threads that work for all of the run; of `each` of it they have a processor for these shares, or wait."""
    m, process, main = host()
    m.properties = {"GPUTRACE::PROCESSORS": str(count), **{f"GPUTRACE::{k}": str(v) for k, v in properties.items()}}
    for n, share in enumerate(shares):
        thread = m.thread(process, f"Thread {n}") if n else main
        m.call(thread, m.region("work"), 0, SECOND)
        ran = int(each * share)
        m.states(thread, lifetime=SECOND, running=ran, ready=each - ran, blocked=SECOND - each, unknown=0)
    return m


@case
def oversubscription(bad):
    """Sixteen threads on two processors, of which each has one for an eighth of the time; or two that have one each."""
    return on_processors(2, [0.125] * 16 if bad else [1] * 2)


@case
def starvation(bad):
    """A thread has a processor for half of the time, of two that nobody else of the run uses; or for 85 %."""
    return on_processors(2, [0.5 if bad else 0.85])


@case
def quota(bad):
    """A thread waits for 0.6 s, for most of which its group is throttled; or as good as never is."""
    return on_processors(2, [0.4 if bad else 0.9], QUOTA_MILLICORES=500, THROTTLED_NS=590000000 if bad else 90000000)


def shares(how):
    """As starvation() or oversubscription(), where something else says that no processor was missing, or not whose."""
    if how == "filled":  # by others of the run, for all that is known
        return on_processors(2, [0.5] * 4, each=500000000)
    if how == "unrecorded":  # the run's other programs used the rest
        return on_processors(2, [0.5], PROCESSOR_TIME_NS=1900000000)
    if how == "many":  # others have one of the two processors, and there are more threads than that
        return on_processors(2, [0.25] * 4)
    m = on_processors(2, [0.5] if how == "slice" else [0.125] * 16)
    if how == "slice":
        m.properties["GPUTRACE::SLICE_TIME"] = "0 1000"
    elif how == "hosts":
        m.node = m.define("SystemTreeNode", m.s("node2"), m.s("node"), 0)
        m.call(m.thread(m.process("Process 1")), m.region("work"), 0, SECOND)
    elif how == "unknown":
        del m.properties["GPUTRACE::PROCESSORS"]
    return m


@case
def thread_creation(bad):
    """200 threads of 3 ms, each 500 us in the making; or two threads for all of it."""
    m, process, main = host()
    create, work = m.region("pthread_create", PTHREAD), m.region("work")
    count, life = (200, 3000000) if bad else (2, 300000000)
    step = SECOND // count
    for i in range(count):
        m.call(main, create, i * step, i * step + 500000)
        m.call(main, work, i * step + 500000, (i + 1) * step)
        m.call(m.thread(process, f"Thread {i + 1}"), work, i * step + 500000, i * step + 500000 + life)
    return m


@case
def costly_function(bad):
    """110,000 calls of 100 ns in 25 ms, or of 8 us in 1 s."""
    m, _, main = host()
    get = m.region("get")
    if bad:
        m.length = 25000000
    for i in range(110000):
        begin = i * (220 if bad else 9000)
        m.call(main, get, begin, begin + (100 if bad else 8000))
    return m


# ---- GPUs -----------------------------------------------------------------------------------------

def api(m, name):
    return m.region(name, CUDA, "CUDART_API")


def launches(m, thread, stream, count, busy, length=SECOND, grid=1000, spent=1000, then=None):
    """Kernels side by side, each launched ahead of the one before it; or when it begins, and the host does `then`."""
    launch = api(m, "cudaLaunchKernel")
    step = length // count
    for i in range(count):
        begin = i * step if then else i * step // 10
        m.call(thread, launch, begin, begin + spent, 1 + i)
        if then:
            m.call(thread, m.region(then), begin + spent, begin + step)
        m.kernel(stream, "axpy", i * step, i * step + busy, grid, 128, 1 + i)


@case
def blocking_copy(bad):
    """Twenty copies of 10 ms in which the host stands still; or asynchronous ones of pinned memory, and two sets."""
    m, process, thread, stream = gpu()
    second = m.stream(process, 1 + m.node, "CUDA[0:13]")
    copy, launch = api(m, "cudaMemcpy" if bad else "cudaMemcpyAsync"), api(m, "cudaLaunchKernel")
    work, fill = m.region("work"), api(m, "cudaMemset")
    for i in range(20):
        begin = i * 50000000
        end = begin + (10000000 if bad else 5000)
        m.call(thread, copy, begin, end, 1 + i)
        if not bad and i < 2: # the first ones of a process and device also make what they need
            m.call(thread, fill, end, end + 30000000)
            end += 30000000
        m.call(thread, work, end, begin + 49000000)
        m.call(thread, launch, begin + 49000000, begin + 49001000, 101 + i)
        m.copy(second, "cudaMemcpy H2D pinned", begin, begin + 10000000, 100000000, 1 + i)
        m.kernel(stream, "axpy", begin, begin + 50000000, 1000, 128, 100 + i)
    return m


@case
def pageable_copy(bad):
    """Asynchronous copies that block for 5 ms each as their memory is pageable, or do not."""
    m, process, thread, stream = gpu()
    second = m.stream(process, 1 + m.node, "CUDA[0:13]")
    copy, launch, work = api(m, "cudaMemcpyAsync"), api(m, "cudaLaunchKernel"), m.region("work")
    for i in range(20):
        begin = i * 50000000
        end = begin + (5000000 if bad else 5000)
        m.call(thread, copy, begin, end, 1 + i)
        m.call(thread, work, end, begin + 49000000)
        m.call(thread, launch, begin + 49000000, begin + 49001000, 101 + i)
        m.copy(second, "cudaMemcpy H2D " + ("pageable" if bad else "pinned"), begin, begin + 4000000, 40000000,
               i + 1)
        m.kernel(stream, "axpy", begin, begin + 50000000, 1000, 128, 100 + i)
    return m


def copies_and_kernels(pause):
    """Twenty copies of 20 ms, and kernels that begin so long after each of them began. All are launched ahead."""
    m, process, thread, stream = gpu()
    second = m.stream(process, 1 + m.node, "CUDA[0:13]")
    copy, launch = api(m, "cudaMemcpyAsync"), api(m, "cudaLaunchKernel")
    for i in range(20):
        begin = i * 50000000
        m.call(thread, copy, i * 2000, i * 2000 + 1000, 1 + i)
        m.call(thread, launch, i * 2000 + 1000, i * 2000 + 2000, 101 + i)
        m.copy(second, "cudaMemcpy H2D pinned", begin, begin + 20000000, 1000000, 1 + i)
        m.kernel(stream, "axpy", begin + pause(i), begin + 50000000, 1000, 128, 101 + i)
    m.call(thread, m.region("work"), 40000, SECOND)
    return m


@case
def no_overlap(bad):
    """One after another or at the same time."""
    return copies_and_kernels(lambda i: 20000000 if bad else 0)


def overlap():
    return copies_and_kernels(lambda i: 10000000 if i == 7 else 20000000)


@case
def tiny_kernels(bad):
    """
    5,000 kernels of 4 us with 96 us between them, as launching one takes 20 us and preparing it longer, and a large
    one; or 50 of 9.99 ms, then nothing for 9 ms.
    """
    m, _, thread, stream = gpu()
    launches(m, thread, stream, 5000 if bad else 50, 4000 if bad else 9990000, SECOND // 2,
             spent=20000, then="prepare" if bad else None)
    m.kernel(stream, "gemm", SECOND // 2 + 9000000, SECOND, 1000, 128)
    return m


@case
def gpu_gaps(bad):
    """The GPU is idle for 30 ms after each of ten kernels, as the host does something else, or for 100 us."""
    m, _, thread, stream = gpu()
    launches(m, thread, stream, 10, 70000000 if bad else 99900000, then="prepare")
    return m


def sampled(what, step):
    """In the gaps three of four samples are in copy_in, elsewhere none; when others wait four of five in inner."""
    makes = {"gpu-gaps": lambda: gpu_gaps(True), "late-rank": lambda: late_rank(True), "neighbours": neighbours,
             "staggered": staggered, "scattered": lambda: gpu_gaps(True)}
    m, ms, s = makes[what](), 1000000, None
    for thread in {"late-rank": [3], "staggered": [5], "neighbours": [0, 2]}.get(what, [0]):
        s = put_samples(m, s or Stacks(m), thread, what, step, ms)
    return m


def put_samples(m, s, thread, what, step, ms):
    events, attributes, next_time = m.events[thread], m.attributes, step

    def context(time):
        now = time // ms % 100
        if what == "scattered":  # thirty functions have a sample of each gap
            names = "other" if now < 70 else f"step f{now}"
        elif what not in ("late-rank", "staggered"):
            names = "other" if now < 70 else "poll" if now % 4 == 3 else "step copy_in"
        else:
            names = "early" if not 45 <= now < 95 else "outer" if now % 5 == 4 else "solve inner"
        at = s.context(m.region("main", SAMPLING))
        for name in names.split():
            at = s.context(m.region(name, SAMPLING), "model.c", 211, at)
        return at

    m.events[thread] = []
    m.attributes = {key: value for key, value in attributes.items() if key[0] != thread}
    for i, event in enumerate(events):
        while next_time <= event[0]:
            s.sample(thread, next_time, context(next_time), ms)
            next_time += step
        m.put(thread, *event)
        if (thread, i) in attributes:
            m.attributes[thread, len(m.events[thread]) - 1] = attributes[thread, i]
    return s


def unseen(program):
    m = Made(length=SECOND)
    process = m.process(program + " [6142]")
    thread, device = m.thread(process), m.device("GPU A")
    streams = [m.stream(process, device, f"CUDA[0:{n}]") for n in (7, 13)]
    launch, allocate = api(m, "cudaLaunchKernel"), api(m, "cudaMalloc")
    ms = SECOND // 1000
    m.call(thread, launch, 0, 10000, 1)
    m.call(thread, launch, 20000, 30000, 2)
    m.call(thread, allocate, 398 * ms, 398 * ms + ms // 2)
    m.call(thread, launch, 400 * ms - 10000, 400 * ms, 3)
    m.call(thread, allocate, 700 * ms, 700 * ms + 60000)
    m.call(thread, launch, 700 * ms + 60000, 700 * ms + 70000, 4)
    m.kernel(streams[0], "axpy", 10000, 100 * ms, 64, 128, 1)
    m.kernel(streams[1], "axpy", 30000, 50 * ms, 64, 128, 2)
    m.kernel(streams[0], "axpy", 400 * ms, 700 * ms, 64, 128, 3)
    m.kernel(streams[1], "axpy", 700 * ms + 70000, SECOND, 64, 128, 4)
    m.properties = {"GPUTRACE::PROCESSORS": "2"}
    return m


@case
def sync_each_launch(bad):
    """The host waits after each of 1,000 kernels and launches the next 300 us later, or runs ahead."""
    m, _, thread, stream = gpu()
    launch, wait = api(m, "cudaLaunchKernel"), api(m, "cudaDeviceSynchronize")
    for i in range(1000):
        begin = i * 1000000
        at = begin if bad else i * 10000
        m.call(thread, launch, at, at + 5000, 1 + i)
        if bad:
            m.call(thread, wait, begin + 5000, begin + 710000)
        m.kernel(stream, "axpy", begin + 5000, begin + (705000 if bad else 1000000), 1000, 128, 1 + i)
    if not bad:
        m.call(thread, wait, 20000000, SECOND)
    return m


@case
def gpu_memory(bad):
    """cudaMalloc and cudaFree of 200 us each in 500 steps; or 150 of 1 us behind one that makes the context."""
    m, _, thread, stream = gpu()
    take, give = api(m, "cudaMalloc"), api(m, "cudaFree")
    work = m.region("work")
    if not bad:
        m.call(thread, take, 0, 100000000)
    for i in range(0 if bad else 50, 500):
        begin = i * 2000000
        spent = 200000 if bad else 1000 if i < 200 else 0
        if spent:
            m.call(thread, take, begin, begin + spent)
        m.call(thread, work, begin + spent, begin + 2000000 - spent)
        if spent:
            m.call(thread, give, begin + 2000000 - spent, begin + 2000000)
        m.kernel(stream, "axpy", begin, begin + 2000000, 1000, 128)
    return m


@case
def one_stream(bad):
    """1,000 kernels of 8 blocks on one stream, or of 1,000 blocks, and one before them on another stream."""
    m, process, thread = host()
    device = m.device("GPU A")
    first, stream = (m.stream(process, device, f"CUDA[0:{n}]") for n in (0, 7))
    m.kernel(first, "axpy", 100, 400, 1000, 128)
    launches(m, thread, stream, 1000, 999000, grid=8 if bad else 1000)
    return m


@case
def gpus_in_turn(bad, at_once=0):
    """Kernels on one GPU for 600 ms, then on the other for 200 ms and on a third one for 200 ms; or all at once, as
    long. `at_once`: so many ms of those on the second one at the end of those on the first one."""
    m, process, thread, stream = gpu()
    streams = [stream]
    for n in (1, 2):
        streams.append(m.stream(process, m.device(f"GPU {'ABC'[n]}"), f"CUDA[{n}:7]"))
    m.call(thread, m.region("work"), 0, SECOND)
    times = [(0, 600), (600 - at_once, 800), (800, 1000)] if bad else [(0, 900), (300, 1000), (300, 1000)]
    for on, (begin, end) in zip(streams, times):
        m.kernel(on, "axpy", begin * 1000000, end * 1000000, 1000, 128)
    return m


@case
def unbalanced_gpus(bad):
    """Kernels for all of the time on one GPU and for half of it on the other, or on both alike."""
    m, process, thread, stream = gpu()
    other = m.stream(process, m.device("GPU B"), "CUDA[1:7]")
    m.call(thread, m.region("work"), 0, SECOND)
    m.kernel(stream, "axpy", 0, SECOND, 1000, 128)
    m.kernel(other, "axpy", 0, SECOND // 2 if bad else SECOND, 1000, 128)
    return m


def spinning(how, name="pthread_spin_lock", module="/usr/lib/libc.so.6", bad=True):
    """Thread 1 waits in ten calls for 40 ms each, for which the first thread works. Samples say that it uses a
    processor in them, or in what no call is recorded of ("unseen"), or in calls of 500 ns ("short"). Or there are none,
    and the scheduler has counted that it ran: in all of them ("counted"), while another thread is in another call for
    longer ("beside"), or for 10 ms, after another call of 30 ms ("mixed"). Or its calls yield the processor again and
    again ("yields"). The first thread waits for a processor for
    0.3 s ("busy"), Thread 1 itself does ("alone"), or none."""
    m, process, first = host()
    second = m.thread(process, "Thread 1")
    s = Stacks(m)
    work, other = m.region("work"), m.region("pthread_mutex_lock", PTHREAD)
    wait = (m.region(name, SAMPLING) if how == "unseen" else m.mpi(name) if name.startswith("MPI_") else
            api(m, name) if name.startswith("cuda") else m.region(name, PTHREAD))
    counted = how in ("counted", "beside", "mixed")
    path = s.context(m.region("worker", SAMPLING, file="a.c", line=3), "a.c", 5)
    leaf = m.region("sched_yield", SAMPLING) if how == "yields" else wait
    path, own = s.context(leaf, parent=path, module=module), s.context(work)
    m.call(first, work, 0, SECOND)
    for i in range(10):
        begin = i * 100000000
        middle, end = begin + 60000000, begin + 100000000
        m.put(second, begin, "Enter", work)
        for ms in range(0 if counted or bad else 40):
            s.sample(second, begin + ms * 1000000 + 500000, own, 1000000)
        m.put(second, middle, "Leave", work)
        if how == "mixed":
            m.call(second, other, middle, middle + 30000000)
            middle += 30000000
        if how not in ("unseen", "short"):
            m.put(second, middle, "Enter", wait)
        for at in range(middle, end if bad and not counted else middle, 1000000):
            if how == "short":
                m.put(second, at + 499750, "Enter", wait)
            s.sample(second, at + 500000, path, 1000000)
            if how == "short":
                m.put(second, at + 500250, "Leave", wait)
        if how not in ("unseen", "short"):
            m.put(second, end, "Leave", wait)
    if how == "beside":
        third = m.thread(process, "Thread 2")
        m.call(third, other, 0, 900000000)
        m.call(third, work, 900000000, SECOND)
    ready = 300000000 if how in ("busy", "alone") else 0
    m.states(first, lifetime=SECOND, running=SECOND - (how == "busy") * ready, ready=(how == "busy") * ready, blocked=0,
             unknown=0)
    ran = {"counted": 990000000, "beside": 990000000, "mixed": 700000000}.get(how, 600000000)
    ready *= how == "alone"
    m.states(second, lifetime=SECOND, running=ran, ready=ready, blocked=SECOND - ran - ready, unknown=0)
    return m


@case
def spins(bad):
    """A thread that uses a processor in all of its waits for a spin lock, or in none."""
    return spinning("locks", bad=bad)


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(CASES))
    elif sys.argv[1] == "pages":
        pages().write(sys.argv[2])
    elif sys.argv[1] == "answers":
        answers().write(sys.argv[2])
    elif sys.argv[1] == "overlap":
        overlap().write(sys.argv[2])
    elif sys.argv[1] in ("turns", "gate", "watched", "helped", "after", "apart"):
        {"turns": turns, "gate": gate, "watched": watched, "helped": helped, "after": after, "apart": apart}[sys.argv[1]]().write(sys.argv[2])
    elif sys.argv[1] == "in-turn":
        gpus_in_turn(True, int(sys.argv[3])).write(sys.argv[2])
    elif sys.argv[1] == "relay":
        relay(int(sys.argv[3]), int(sys.argv[4])).write(sys.argv[2])
    elif sys.argv[1] == "spinning":
        spinning(*sys.argv[3:]).write(sys.argv[2])
    elif sys.argv[1] == "unseen":
        unseen(sys.argv[3]).write(sys.argv[2])
    elif sys.argv[1] == "sampled":
        sampled(sys.argv[3], int(sys.argv[4])).write(sys.argv[2])
    elif sys.argv[1] == "crowded":
        crowded(sys.argv[3]).write(sys.argv[2])
    elif sys.argv[1] == "shares":
        shares(sys.argv[3]).write(sys.argv[2])
    elif sys.argv[1] == "equal":
        equal(sys.argv[3]).write(sys.argv[2])
    elif sys.argv[1] == "late":
        late_and_flushes().write(sys.argv[2])
    else:
        for twin in ("planted", "clean"):
            CASES[sys.argv[1]](twin == "planted").write(f"{sys.argv[2]}/{twin}")
