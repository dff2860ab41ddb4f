#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives with seeded waits, and what `gputrace report` has to find in them: waits.py DIR.

Beside each archive: NAME.waits (class, ms, count, location, region, whom it waited for) and
NAME.critical_path (region, ms), sorted.
"""
import sys

sys.dont_write_bytecode = True # beside the source

from scene import (ALLREDUCE, BARRIER, BCAST, NONE, PTHREAD, REDUCE, SCAN, THREADS, WORLD, Archive, main)

SCENES = {}


def scene(function):
    """Registers one."""
    SCENES[function.__name__] = function
    return function


def waits(*rows):
    """As the test prints them."""
    return ["%s,%g,%d,%s,%s,%s" % row for row in rows]


def path(**regions):
    """The same."""
    return ["%s,%g" % item for item in regions.items()]


R0, R1, R2, R3 = ("rank %d" % i for i in range(4))


@scene
def late_sender():
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(60, 70, "MPI_Send", [a.send(60, 1)])]))
    a[1].do(a[1].call(0, 80, "main", [a[1].call(20, 71, "MPI_Recv", [a.recv(71, 0)])]))
    return a, {"waits": waits(("late sender", 40, 1, R1, "MPI_Recv", R0)),
               "critical_path": path(main=90, MPI_Send=10)}


@scene
def late_sender_on_the_path():
    a = Archive(2)
    a[0].do(a[0].call(0, 75, "main", [a[0].call(60, 70, "MPI_Send", [a.send(60, 1)])]))
    a[1].do(a[1].call(0, 100, "main", [a[1].call(20, 71, "MPI_Recv", [a.recv(71, 0)])]))
    return a, {"waits": waits(("late sender", 40, 1, R1, "MPI_Recv", R0)),
               "critical_path": path(main=89, MPI_Recv=11)}


@scene
def late_receiver():
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(10, 65, "MPI_Ssend", [a.send(10, 1)])]))
    a[1].do(a[1].call(0, 80, "main", [a[1].call(60, 66, "MPI_Recv", [a.recv(66, 0)])]))
    return a, {"waits": waits(("late receiver", 50, 1, R0, "MPI_Ssend", R1)),
               "critical_path": path(main=95, MPI_Ssend=5)}


@scene
def wrong_order():
    a = Archive(3)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(50, 51, "MPI_Send", [a.send(50, 2)])]))
    a[1].do(a[1].call(0, 20, "main", [a[1].call(5, 6, "MPI_Send", [a.send(5, 2)])]))
    a[2].do(a[2].call(0, 90, "main", [a[2].call(10, 60, "MPI_Recv", [a.recv(60, 0)]),
                                      a[2].call(61, 62, "MPI_Recv", [a.recv(62, 1)])]))
    return a, {"waits": waits(("late sender, wrong order", 40, 1, R2, "MPI_Recv", R0))}


@scene
def clock_error():
    """Received before it was sent: no wait."""
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(30.002, 40, "MPI_Send", [a.send(30.002, 1)])]))
    a[1].do(a[1].call(0, 100, "main", [a[1].call(20, 30, "MPI_Recv", [a.recv(30, 0)])]))
    return a, {"waits": [], "critical_path": path(main=90.002, MPI_Send=9.998)}


@scene
def later():
    """Non-blocking: the wait waits. Two receives of one channel, completed in the other order."""
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(30, 31, "MPI_Isend", [a.event(30, "MpiIsend", 1, WORLD, 5, 8, 100)]),
        a[0].call(50, 51, "MPI_Isend", [a.event(50, "MpiIsend", 1, WORLD, 5, 8, 101)]),
        a[0].call(60, 90, "MPI_Waitall", [a.event(90, "MpiIsendComplete", 101),
                                          a.event(90, "MpiIsendComplete", 100)])]))
    a[1].do(a[1].call(0, 80, "main", [
        a[1].call(1, 2, "MPI_Irecv", [a.event(1, "MpiIrecvRequest", 7)]),
        a[1].call(3, 4, "MPI_Irecv", [a.event(3, "MpiIrecvRequest", 8)]),
        a[1].call(10, 52, "MPI_Wait", [a.event(52, "MpiIrecv", 0, WORLD, 5, 8, 8)]),
        a[1].call(53, 54, "MPI_Wait", [a.event(54, "MpiIrecv", 0, WORLD, 5, 8, 7)])]))
    return a, {"waits": waits(("late sender, wrong order", 40, 1, R1, "MPI_Wait", R0))}


@scene
def probe():
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(60, 70, "MPI_Send", [a.send(60, 1)])]))
    a[1].do(a[1].call(0, 80, "main", [a[1].call(20, 61, "MPI_Probe"),
                                      a[1].call(62, 71, "MPI_Recv", [a.recv(71, 0)])]))
    return a, {"waits": waits(("late sender", 40, 1, R1, "MPI_Probe", R0))}


@scene
def cancelled():
    """What was not sent is not waited for: a send that fails, one that is cancelled."""
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(1, 2, "MPI_Isend", [a.event(1, "MpiIsend", 1, WORLD, 0, 8, 100)]),
        a[0].call(3, 4, "MPI_Wait", [a.event(4, "MpiRequestCancelled", 100)]),
        a[0].call(60, 70, "MPI_Send", [a.send(60, 1)])]))
    a[1].do(a[1].call(0, 80, "main", [a[1].call(20, 71, "MPI_Recv", [a.recv(71, 0)])]))
    return a, {"waits": waits(("late sender", 40, 1, R1, "MPI_Recv", R0))}


def all_at(a, name, op, arrivals, end, root=NONE, size=8, run=100):
    """Each rank comes to a collective at its time."""
    for i, t in enumerate(arrivals):
        a[i].do(a[i].call(0, run, "main", [a[i].call(t, end, name, [a.collective(t, end, op, root, size)])]))
    return a


@scene
def barrier():
    a = all_at(Archive(4), "MPI_Barrier", BARRIER, [10, 20, 50, 30], 51, size=0)
    return a, {"waits": waits(*[("wait at barrier", w, 1, r, "MPI_Barrier", R2)
                                for w, r in ((40, R0), (30, R1), (20, R3))]),
               "critical_path": path(main=99, MPI_Barrier=1)}


@scene
def n_to_n():
    a = all_at(Archive(3), "MPI_Allreduce", ALLREDUCE, [10, 20, 50], 52)
    return a, {"waits": waits(("wait at N x N", 40, 1, R0, "MPI_Allreduce", R2),
                              ("wait at N x N", 30, 1, R1, "MPI_Allreduce", R2))}


@scene
def late_broadcast():
    a = all_at(Archive(3), "MPI_Bcast", BCAST, [10, 50, 60], 61, root=1)
    return a, {"waits": waits(("late broadcast", 40, 1, R0, "MPI_Bcast", R1))}


@scene
def early_reduce():
    a = all_at(Archive(3), "MPI_Reduce", REDUCE, [10, 50, 40], 51, root=0)
    return a, {"waits": waits(("early reduce", 40, 1, R0, "MPI_Reduce", R1))}


@scene
def early_scan():
    a = all_at(Archive(3), "MPI_Scan", SCAN, [30, 10, 20], 31)
    return a, {"waits": waits(("early scan", 20, 1, R1, "MPI_Scan", R0), ("early scan", 10, 1, R2, "MPI_Scan", R0))}


@scene
def setup():
    a = Archive(2)
    for i, (init, final) in enumerate(((10, 60), (30, 90))):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(init, 32, "MPI_Init"), a[i].call(final, 91, "MPI_Finalize")]))
    return a, {"waits": waits(("wait at MPI_Init", 20, 1, R0, "MPI_Init", R1),
                              ("wait at MPI_Finalize", 30, 1, R0, "MPI_Finalize", R1))}


@scene
def incomplete():
    """A barrier that one rank never came to, and messages with one end."""
    a = Archive(3)
    for i in (0, 1):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(10 + i, 100, "MPI_Barrier",
                                                     [a.collective(10 + i, 100, BARRIER, size=0)])]))
    a[2].do(a[2].call(0, 100, "main", [a[2].call(1, 2, "MPI_Send", [a.send(1, 0)])]))
    return a, {"waits": []}


@scene
def ring():
    """Four ranks, each waits for the one before it; the path goes through all of them."""
    a = Archive(4)
    for i in range(4):
        t = 10 * i
        first = [a[i].call(t, t + 5, "work")] if not i else [
            a[i].call(1, t, "MPI_Recv", [a.recv(t, i - 1)]), a[i].call(t, t + 5, "work")]
        a[i].do(a[i].call(0, t + 10, "main", first + (
            [a[i].call(t + 7, t + 8, "MPI_Send", [a.send(t + 7, i + 1)])] if i < 3 else [])))
    return a, {"waits": waits(*[("late sender", 10 * i - 4, 1, r, "MPI_Recv", "rank %d" % (i - 1))
                                for i, r in ((1, R1), (2, R2), (3, R3))]),
               "critical_path": path(work=20, main=11, MPI_Recv=9)}


# ---- threads ------------------------------------------------------------------------------------

@scene
def join():
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(10, 12, "pthread_create", [a.event(11, "ThreadCreate", THREADS, 1)]),
        a[0].call(30, 81, "pthread_join", [a.event(81, "ThreadWait", THREADS, 1)])]))
    w.do(a.event(15, "ThreadBegin", THREADS, 1), w.call(16, 79, "work"), a.event(80, "ThreadEnd", THREADS, 1))
    return a, {"waits": waits(("thread join", 50, 1, "Master thread", "pthread_join", "worker")),
               "critical_path": path(main=29, work=63, pthread_join=1, pthread_create=1, no_region=6)}


@scene
def lock():
    """Held for 50 ms while another waits; then without waiting."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(10, 10.001, "pthread_mutex_lock", [a.event(10.001, "ThreadAcquireLock", PTHREAD, 5, 1)]),
        a.event(70, "ThreadReleaseLock", PTHREAD, 5, 1)]))
    w.do(w.call(0, 90, "work", [
        w.call(20, 71, "pthread_mutex_lock", [a.event(71, "ThreadAcquireLock", PTHREAD, 5, 2)]),
        a.event(72, "ThreadReleaseLock", PTHREAD, 5, 2),
        w.call(80, 80.001, "pthread_mutex_lock", [a.event(80.001, "ThreadAcquireLock", PTHREAD, 5, 3)]),
        a.event(82, "ThreadReleaseLock", PTHREAD, 5, 3)]))
    return a, {"waits": waits(("lock contention", 0.001, 1, "Master thread", "pthread_mutex_lock", ""),
                              ("lock contention", 50, 1, "worker", "pthread_mutex_lock", "Master thread"))}


@scene
def thread_barrier():
    a = Archive(processes=1)
    others = [a[0], a.thread(0, "T1"), a.thread(0, "T2")]
    for l, t, u in zip(others, (10, 30, 50), (60, 75, 70)):
        l.do(l.call(0, 100, "work", [l.call(t, 51, "pthread_barrier_wait"),
                                     l.call(u, 76, "pthread_barrier_wait")]))
    return a, {"waits": waits(("wait at thread barrier", 55, 2, "Master thread", "pthread_barrier_wait", "T2"),
                              ("wait at thread barrier", 20, 1, "T1", "pthread_barrier_wait", "T2"),
                              ("wait at thread barrier", 5, 1, "T2", "pthread_barrier_wait", "T1"))}


@scene
def condition():
    a = Archive(processes=1)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(10, 40, "pthread_cond_wait"), a[0].call(50, 60, "sem_wait")]))
    return a, {"waits": waits(("condition wait", 30, 1, "Master thread", "pthread_cond_wait", ""),
                              ("sleep", 10, 1, "Master thread", "sem_wait", "")),
               "critical_path": path(main=60, pthread_cond_wait=30, sem_wait=10)}


@scene
def nothing():
    a = Archive(processes=1)
    return a, {"waits": []}


@scene
def at_once():
    """All at one time: no circle."""
    a = Archive(2)
    for i in (0, 1):
        a[i].do(a[i].call(5, 5, "MPI_Sendrecv", [a.send(5, 1 - i), a.recv(5, 1 - i)]))
    return a, {"waits": []}


main(SCENES)
