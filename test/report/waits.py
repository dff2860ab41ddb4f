#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives with seeded waits, and what `gputrace report` has to find in them: waits.py DIR.

Beside each archive: NAME.waits (class, ms, count, location, region, whom it waited for) and
NAME.critical_path (region, ms), NAME.gains (the same), NAME.bounds (of gains: region, ms, ms), sorted.
"""
import os
import random
import sys

sys.dont_write_bytecode = True # beside the source

import devices
import pipes
import processes
import windows
from scene import (ALLREDUCE, BARRIER, BCAST, MASTER, NONE, PTHREAD, REDUCE, SCAN, THREADS, WORLD, Archive, main,
                   waits)

SCENES = {}


def scene(function):
    """Registers one."""
    SCENES[function.__name__] = function
    return function


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
               "delays": ["rank 0,main,40,0"],
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
def exchange():
    """Both sides of one late call: the receive must have waited for it, the send may not have."""
    a = Archive(2)
    for i, (enter, leave) in enumerate(((10, 66), (60, 67))):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(enter, leave, "MPI_Sendrecv",
                                                     [a.send(enter, 1 - i), a.recv(leave, 1 - i)])]))
    return a, {"waits": waits(("late sender", 50, 1, R0, "MPI_Sendrecv", R1))}


@scene
def exchange_other_way():
    a = Archive(2)
    for i, (enter, leave) in enumerate(((60, 67), (10, 66))):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(enter, leave, "MPI_Sendrecv",
                                                     [a.send(enter, 1 - i), a.recv(leave, 1 - i)])]))
    return a, {"waits": waits(("late sender", 50, 1, R1, "MPI_Sendrecv", R0))}


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


def polled(*calls):
    """Rank 0 sends at 60; rank 1 does the calls, and then receives."""
    a = Archive(2)
    a[0].do(a[0].call(0, 60, "make"), a[0].call(60, 61, "MPI_Send", [a.send(60, 1)]), a[0].call(61, 65, "rest"))
    a[1].do(*[a[1].call(*call) for call in calls],
            a[1].call(63, 64, "MPI_Recv", [a.recv(64, 0)]), a[1].call(64, 100, "use"))
    return a


@scene
def polled_probe():
    """As gputrace has them: those that found nothing are one."""
    a = polled((0, 20, "prepare"), (20, 61, "MPI_Iprobe"), (61, 62, "MPI_Iprobe"))
    return a, {"waits": waits(("late sender", 40, 1, R1, "MPI_Iprobe", R0)),
               "delays": ["rank 0,make,40,0"],
               "critical_path": path(make=60, use=36, MPI_Iprobe=2, MPI_Recv=1) + ["(no region),1"],
               "gains": path(make=40, use=35, MPI_Iprobe=2, MPI_Recv=1) + ["(no region),nan"]}


@scene
def polled_one_by_one():
    """As others have them; the last one ends when the message is on its way."""
    a = polled((0, 20, "prepare"), (20, 30, "MPI_Iprobe"), (31, 45, "MPI_Iprobe"), (46, 61, "MPI_Iprobe"),
               (61, 62, "MPI_Iprobe"))
    return a, {"waits": waits(("late sender", 38, 3, R1, "MPI_Iprobe", R0))}


@scene
def polled_on_a_shared_processor():
    """Two pauses are longer than the calls around them, but not long beside all of them."""
    a = polled((0, 20, "prepare"), (20, 30, "MPI_Iprobe"), (41, 45, "MPI_Iprobe"), (57, 59, "MPI_Iprobe"),
               (61, 62, "MPI_Iprobe"))
    return a, {"waits": waits(("late sender", 16, 3, R1, "MPI_Iprobe", R0))}


@scene
def polled_after_work():
    """Asks rarely while it works: only the calls afterwards wait."""
    a = polled((0, 1, "MPI_Iprobe"), (1, 52, "work"), (52, 54, "MPI_Iprobe"), (55, 61, "MPI_Iprobe"),
               (61, 62, "MPI_Iprobe"))
    return a, {"waits": waits(("late sender", 7, 2, R1, "MPI_Iprobe", R0))}


@scene
def polled_now_and_then():
    """Works, and asks between: that waits for nobody."""
    a = polled((0, 10, "work"), (10, 12, "MPI_Iprobe"), (12, 30, "work"), (30, 32, "MPI_Iprobe"), (32, 61, "work"),
               (61, 62, "MPI_Iprobe"))
    return a, {"waits": [], "critical_path": path(work=57, MPI_Iprobe=5, MPI_Recv=1, use=36) + ["(no region),1"]}


@scene
def polled_something_else():
    """What MPI_Test asks about is not what is received then."""
    return polled((0, 20, "prepare"), (20, 61, "MPI_Test"), (61, 62, "MPI_Test")), {"waits": []}


@scene
def polled_in_vain():
    """Asks for a message that never comes, and goes to a barrier."""
    a = Archive(2)
    for i, t in enumerate((60, 40)):
        a[i].do(a[i].call(0, 20, "work"), a[i].call(20, t, "MPI_Iprobe" if i else "work"),
                a[i].call(t, 61, "MPI_Barrier", [a.collective(t, 61, BARRIER, NONE, 0)]))
    return a, {"waits": waits(("wait at barrier", 20, 1, R1, "MPI_Barrier", R0))}


@scene
def polled_test():
    """A receive, a send that waits for its receiver, a barrier: whatever MPI_Test finds."""
    a = Archive(2)
    a[0].do(a[0].call(0, 1, "MPI_Isend", [a.event(0, "MpiIsend", 1, WORLD, 7, 8, 50)]),
            a[0].call(1, 60, "make"), a[0].call(60, 61, "MPI_Send", [a.send(60, 1)]),
            a[0].call(61, 91, "MPI_Test"), a[0].call(91, 92, "MPI_Test", [a.event(92, "MpiIsendComplete", 50)]),
            a[0].call(92, 100, "rest"))
    a[1].do(a[1].call(10, 11, "MPI_Irecv", [a.event(10, "MpiIrecvRequest", 3)]),
            a[1].call(20, 61, "MPI_Test"),
            a[1].call(61, 62, "MPI_Test", [a.event(62, "MpiIrecv", 0, WORLD, 0, 8, 3)]),
            a[1].call(62, 90, "use"), a[1].call(90, 91, "MPI_Recv", [a.recv(91, 0, 7)]))
    return a, {"waits": waits(("late sender, wrong order", 40, 1, R1, "MPI_Test", R0),
                              ("late receiver", 29, 1, R0, "MPI_Test", R1))}


@scene
def matched_probe():
    """Which message MPI_Mprobe finds is decided there: another one is received before it is taken."""
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(60, 61, "MPI_Send", [a.send(60, 1)]),
                                       a[0].call(80, 81, "MPI_Send", [a.send(80, 1)])]))
    a[1].do(a[1].call(0, 95, "main", [a[1].call(20, 62, "MPI_Mprobe", [a.event(62, "MpiIrecvRequest", 1)]),
                                      a[1].call(65, 82, "MPI_Recv", [a.recv(82, 0)]),
                                      a[1].call(90, 91, "MPI_Mrecv", [a.event(91, "MpiIrecv", 0, WORLD, 0, 8, 1)])]))
    return a, {"waits": waits(("late sender", 40, 1, R1, "MPI_Mprobe", R0),
                              ("late sender", 15, 1, R1, "MPI_Recv", R0))}


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
               "delays": ["rank 2,main,90,0"],
               "critical_path": path(main=99, MPI_Barrier=1)}


@scene
def days():
    """Barriers before, round and after 2^48 ns, 3.26 days after the begin, one rank 10 ms late."""
    a = Archive(2)
    begins = [281474000, 281474971, 281474971 + 3600000]
    for rank, late in ((0, 0), (1, 10)):
        a[rank].do(a[rank].call(0, begins[2] + 100, "main", [
            a[rank].call(t + late, t + 11, "MPI_Barrier", [a.collective(t + late, t + 11, BARRIER, NONE, 0)])
            for t in begins]))
    return a, {"waits": waits(("wait at barrier", 30, 3, R0, "MPI_Barrier", R1))}


@scene
def gain_at_barrier():
    """Without the work before the barrier the other rank is late; without that behind it the other one is last."""
    a = Archive(2)
    a[0].do(a[0].call(0, 100, "first"), a[0].call(100, 101, "MPI_Barrier", [a.collective(100, 101, BARRIER, NONE, 0)]),
            a[0].call(101, 201, "second"))
    a[1].do(a[1].call(0, 80, "other"), a[1].call(80, 101, "MPI_Barrier", [a.collective(80, 101, BARRIER, NONE, 0)]),
            a[1].call(101, 150, "other"))
    return a, {"critical_path": path(first=100, second=100, MPI_Barrier=1),
               "gains": path(first=20, second=51, MPI_Barrier=1)}


@scene
def gain_of_sender():
    """The receiver waits for what the sender makes; then it is there before, and the sender goes on for longer."""
    a = Archive(2)
    a[0].do(a[0].call(0, 60, "make"), a[0].call(60, 61, "MPI_Send", [a.send(60, 1)]), a[0].call(61, 70, "rest"))
    a[1].do(a[1].call(0, 20, "prepare"), a[1].call(20, 61, "MPI_Recv", [a.recv(61, 0)]), a[1].call(61, 100, "use"))
    return a, {"critical_path": path(make=60, use=39, MPI_Recv=1),
               "gains": path(make=40, use=30, MPI_Recv=1)}


@scene
def gain_of_receiver():
    """The message was there before it was received: without the receiver's own work it is waited for."""
    a = Archive(2)
    a[0].do(a[0].call(0, 50, "make"), a[0].call(50, 51, "MPI_Send", [a.send(50, 1)]), a[0].call(51, 60, "rest"))
    a[1].do(a[1].call(0, 80, "prepare"), a[1].call(80, 81, "MPI_Recv", [a.recv(81, 0)]), a[1].call(81, 100, "use"))
    return a, {"critical_path": path(prepare=80, use=19, MPI_Recv=1),
               "gains": path(prepare=30, use=19, MPI_Recv=1)}


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


LINE = ("1", "0,2", "1,3", "2") # the neighbours of four ranks


@scene
def neighbours():
    """Nobody waits for whom he gets nothing from: rank 3 not for rank 1, rank 0 not for rank 2."""
    a = Archive(4)
    for i, t in enumerate((10, 50, 20, 30)):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(t, 51, "MPI_Neighbor_allgather", [
            a.event(t, "MpiCollectiveBegin"),
            a.event(51, "MpiCollectiveEnd", 6, WORLD, NONE, 8, 8, attributes={"MPI_NEIGHBOURS": LINE[i]})])]))
    return a, {"waits": waits(("late neighbour", 40, 1, R0, "MPI_Neighbor_allgather", R1),
                              ("late neighbour", 30, 1, R2, "MPI_Neighbor_allgather", R1)),
               "delays": ["rank 1,main,70,0"]}


@scene
def neighbours_later():
    """What does not block waits in MPI_Wait, for the begin of the others' operation. Rank 3 gets nothing."""
    a = Archive(4)
    for i, (begins, waits_from) in enumerate(((10, 20), (50, 52), (20, 30), (5, 30))):
        line = "" if i == 3 else "0,1" if i == 2 else LINE[i]
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(begins, begins + 1, "MPI_Ineighbor_alltoall", [
                a.event(begins, "NonBlockingCollectiveRequest", 1)]),
            a[i].call(waits_from, 55, "MPI_Wait", [
                a.event(55, "NonBlockingCollectiveComplete", 8, WORLD, NONE, 8, 0 if i == 3 else 8, 1,
                        attributes={"MPI_NEIGHBOURS": line})])]))
    return a, {"waits": waits(("late neighbour", 30, 1, R0, "MPI_Wait", R1),
                              ("late neighbour", 20, 1, R2, "MPI_Wait", R1))}


@scene
def neighbours_unknown():
    """Of other producers, or too many to be named: nobody is known to wait."""
    a = Archive(2)
    for i, t in enumerate((10, 40)):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(t, 45, "MPI_Neighbor_alltoall", [a.collective(t, 45, 8)]),
            a[i].call(t + 40, 90, "MPI_Neighbor_alltoall", [
                a.event(t + 40, "MpiCollectiveBegin"),
                a.event(90, "MpiCollectiveEnd", 8, WORLD, NONE, 8, 8, attributes={"MPI_NEIGHBOURS": "many"})])]))
    return a, {"waits": []}


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


@scene
def chain():
    """Rank 2 waits for rank 1, which waited for rank 0: the long-term cost is there."""
    a = Archive(3)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(60, 61, "MPI_Send", [a.send(60, 1)])]))
    a[1].do(a[1].call(0, 100, "main", [a[1].call(1, 61, "MPI_Recv", [a.recv(61, 0)]),
                                       a[1].call(62, 63, "MPI_Send", [a.send(62, 2)])]))
    a[2].do(a[2].call(0, 100, "main", [a[2].call(1, 63, "MPI_Recv", [a.recv(63, 1)])]))
    return a, {"waits": waits(("late sender", 59, 1, R1, "MPI_Recv", R0), ("late sender", 61, 1, R2, "MPI_Recv", R1)),
               "delays": ["rank 0,main,59,59", "rank 1,main,1,0", "rank 1,MPI_Recv,1,0"]}


@scene
def since_the_barrier():
    """What was done before the last common barrier does not count; what both did does not either."""
    a = Archive(2)
    for i, (early, late) in enumerate(((40, 0), (10, 30))):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(0, early, "before"),
            a[i].call(early, 41, "MPI_Barrier", [a.collective(early, 41, BARRIER, size=0)]),
            a[i].call(41, 51, "both"), a[i].call(51, 51 + late, "more"),
            a[i].call(51 + late, 82, "MPI_Barrier", [a.collective(51 + late, 82, BARRIER, size=0)])]))
    return a, {"waits": waits(("wait at barrier", 30, 1, R0, "MPI_Barrier", R1),
                              ("wait at barrier", 30, 1, R1, "MPI_Barrier", R0)),
               "delays": ["rank 0,before,30,0", "rank 1,more,30,0"]}


# ---- threads ------------------------------------------------------------------------------------

def pool(joined, waits_until, *waits_itself):
    """Thread 1 waits for a condition, and is joined by the first thread, which does not wait for it before."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(1, 2, "pthread_create", [a.event(1, "ThreadCreate", THREADS, 1)]),
        *[a[0].call(begin, end, "pthread_cond_wait") for begin, end in waits_itself],
        a[0].call(joined, 97, "pthread_join", [a.event(97, "ThreadWait", THREADS, 1)])]))
    w.do(a.event(3, "ThreadBegin", THREADS, 1), w.call(4, waits_until, "pthread_cond_wait"),
         *([w.call(waits_until, 96, "work")] if waits_until < 96 else []), a.event(96, "ThreadEnd", THREADS, 1))
    return a


@scene
def idle_pool():
    """Ended by who joins it: what that did until then is on the path, not the idle wait."""
    return pool(90, 96), {"critical_path": path(main=92, pthread_create=1, pthread_cond_wait=6, pthread_join=1),
                          "gains": path(main=92, pthread_create=1, pthread_cond_wait=0, pthread_join=1)}


@scene
def busy_pool():
    """The last work came before."""
    return pool(80, 50), {"critical_path": ["main,52", "pthread_create,1", "work,46", "pthread_join,1"]}


@scene
def waited_for():
    """Who joins it has nothing else to do: the wait for somebody unknown is on the path, from then on."""
    return pool(20, 60), {"critical_path": ["main,22", "pthread_create,1", "pthread_cond_wait,40", "work,36",
                                            "pthread_join,1"]}


@scene
def both_wait():
    """Nor does a wait of its own before that say who ended the other."""
    return pool(80, 50, (40, 70)), {"critical_path": ["main,4", "pthread_cond_wait,46", "work,46", "pthread_join,1",
                                                      "(no region),3"]}


@scene
def join():
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(10, 12, "pthread_create", [a.event(11, "ThreadCreate", THREADS, 1)]),
        a[0].call(30, 81, "pthread_join", [a.event(81, "ThreadWait", THREADS, 1)])]))
    w.do(a.event(15, "ThreadBegin", THREADS, 1), w.call(16, 79, "work"), a.event(80, "ThreadEnd", THREADS, 1))
    return a, {"waits": waits(("thread join", 50, 1, "Master thread", "pthread_join", "worker")),
               "critical_path": ["main,29", "work,63", "pthread_join,1", "pthread_create,1", "(no region),6"]}


def unlock(a, l, t, order):
    """All operations are recorded (VT_PTHREAD_LOCKS=all): the release is in a region."""
    return l.call(t, t, "pthread_mutex_unlock", [a.event(t, "ThreadReleaseLock", PTHREAD, 5, order)])


@scene
def lock():
    """Held for 50 ms while another waits; before and after that nobody does."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(10, 10.001, "pthread_mutex_lock", [a.event(10.001, "ThreadAcquireLock", PTHREAD, 5, 1)]),
        unlock(a, a[0], 70, 1)]))
    w.do(w.call(0, 90, "work", [
        w.call(20, 71, "pthread_mutex_lock", [a.event(71, "ThreadAcquireLock", PTHREAD, 5, 2)]),
        unlock(a, w, 72, 2),
        w.call(80, 80.001, "pthread_mutex_lock", [a.event(80.001, "ThreadAcquireLock", PTHREAD, 5, 3)]),
        unlock(a, w, 82, 3)]))
    return a, {"waits": waits(("lock contention", 50, 1, "worker", "pthread_mutex_lock", "Master thread")),
               "delays": ["Master thread,main,50,0"]}


@scene
def contended_lock():
    """Only who has to wait is recorded: whoever held the lock from 10 to 70 ms, and when it was signalled, is not."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(1, 3, "pthread_mutex_lock", [a.event(3, "ThreadAcquireLock", PTHREAD, 5, 1)]),
        a.event(5, "ThreadReleaseLock", PTHREAD, 5, 1),
        a[0].call(74, 80, "pthread_mutex_lock", [a.event(80, "ThreadAcquireLock", PTHREAD, 5, 3)]),
        a[0].call(81, 99, "pthread_cond_wait", [a.event(81, "ThreadReleaseLock", PTHREAD, 5, 3),
                                                a.event(99, "ThreadAcquireLock", PTHREAD, 5, 5)]),
        a.event(99.5, "ThreadReleaseLock", PTHREAD, 5, 5)]))
    w.do(w.call(0, 95, "work", [
        w.call(20, 71, "pthread_mutex_lock", [a.event(71, "ThreadAcquireLock", PTHREAD, 5, 2)]),
        a.event(79, "ThreadReleaseLock", PTHREAD, 5, 2),
        w.call(80.5, 81.5, "pthread_mutex_lock", [a.event(81.5, "ThreadAcquireLock", PTHREAD, 5, 4)]),
        a.event(83, "ThreadReleaseLock", PTHREAD, 5, 4)]))
    return a, {"waits": waits(("condition wait", 18, 1, "Master thread", "pthread_cond_wait", ""),
                              ("lock contention", 2 + 5, 2, "Master thread", "pthread_mutex_lock", "worker"),
                              ("lock contention", 51 + 0.5, 2, "worker", "pthread_mutex_lock", ""))}


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


def team(*arrivals):
    """A parallel region of 10 to 100 ms, whose threads come to its end at these times; one waits for a task, too."""
    a = Archive(processes=1)
    threads = [a[0]] + [a.thread(0, "T%d" % n) for n in range(1, len(arrivals))]
    for n, (l, t) in enumerate(zip(threads, arrivals)):
        tasks = [l.call(20, 30, "!$omp taskwait")] if n == 1 else []
        part = l.call(10, 100, "!$omp parallel", tasks + [l.call(t, 100, "!$omp implicit barrier")])
        l.do(l.call(0, 120, "main", [part]) if n == 0 else part)
    return a


@scene
def openmp_barrier():
    """The last one came 25, 40 and 55 ms after the others; a pthread barrier of that time is another one."""
    a = team(60, 45, 30, 85)
    other = a.thread(0, "other")
    other.do(other.call(0, 100, "work", [other.call(90, 99.5, "pthread_barrier_wait")]))
    region = "!$omp implicit barrier"
    return a, {"waits": waits(("wait at OpenMP barrier", 55, 1, "T2", region, "T3"),
                              ("wait at OpenMP barrier", 40, 1, "T1", region, "T3"),
                              ("wait at OpenMP barrier", 25, 1, "Master thread", region, "T3"),
                              ("wait for tasks", 10, 1, "T1", "!$omp taskwait", "")),
               "delays": ["T3,!$omp parallel,120,0"]}


@scene
def openmp_barrier_clean():
    """All come at once."""
    return team(100, 100, 100, 100), {"waits": waits(("wait for tasks", 10, 1, "T1", "!$omp taskwait", ""))}


@scene
def condition_and_lock():
    """What waits for a condition waits for its lock, too, but that is not all it waits for."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(10, 10.001, "pthread_mutex_lock", [a.event(10.001, "ThreadAcquireLock", PTHREAD, 5, 1)]),
        a[0].call(20, 80, "pthread_cond_wait", [a.event(20, "ThreadReleaseLock", PTHREAD, 5, 1),
                                                a.event(80, "ThreadAcquireLock", PTHREAD, 5, 3)]),
        unlock(a, a[0], 90, 3)]))
    w.do(w.call(0, 100, "work", [
        w.call(30, 30.001, "pthread_mutex_lock", [a.event(30.001, "ThreadAcquireLock", PTHREAD, 5, 2)]),
        unlock(a, w, 79, 2)]))
    return a, {"waits": waits(("condition wait", 59, 1, "Master thread", "pthread_cond_wait", "worker"))}




def signal(by, ago):
    """The attributes of the end of a wait: of which thread, how many ms ago."""
    return {"GPUTRACE::WOKEN_BY": by, "GPUTRACE::WOKEN_AGO": round(ago * 1000000)}


@scene
def signalled():
    """A thread waits for the first one, which waits for it; and at the end for a semaphore that it posts."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(1, 2, "pthread_create", [a.event(1, "ThreadCreate", THREADS, 1)]),
        a[0].call(30, 71, "pthread_cond_wait", left=signal(1, 1)),
        a[0].call(80, 92, "sem_wait", left=signal(1, 2))]))
    w.do(a.event(3, "ThreadBegin", THREADS, 1),
         w.call(4, 91, "work", [w.call(5, 31, "pthread_cond_wait", left=signal(0, 2))]),
         a.event(91, "ThreadEnd", THREADS, 1))
    return a, {"waits": waits(("condition wait", 24, 1, "worker", "pthread_cond_wait", MASTER),
                              ("condition wait", 40, 1, MASTER, "pthread_cond_wait", "worker"),
                              ("semaphore wait", 10, 1, MASTER, "sem_wait", "worker")),
               "critical_path": ["main,36", "pthread_create,1", "work,59", "pthread_cond_wait,2", "sem_wait,2"]}


@scene
def signalled_before_it_began():
    """The path does not go to where the thread was not yet: it would go forward in time."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [a[0].call(10, 40, "pthread_cond_wait", left=signal(1, 1))]))
    w.do(a.event(60, "ThreadBegin", THREADS, 1), w.call(61, 62, "work"))
    return a, {"waits": waits(("condition wait", 29, 1, MASTER, "pthread_cond_wait", "worker")),
               "critical_path": path(main=70, pthread_cond_wait=30)}


@scene
def signalled_by_one_that_only_began():
    """Nothing is known of what it did: the wait for it is on the path, and not the thread."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 100, "main", [a[0].call(10, 40, "pthread_cond_wait", left=signal(1, 1))]))
    w.do(a.event(3, "ThreadBegin", THREADS, 1))
    return a, {"waits": waits(("condition wait", 29, 1, MASTER, "pthread_cond_wait", "worker")),
               "critical_path": path(main=70, pthread_cond_wait=30)}


@scene
def signalled_by_nobody_known():
    """No thread has the number, or the signal came before the wait."""
    a = Archive(processes=1)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(10, 40, "pthread_cond_wait", left=signal(3, 1)),
                                       a[0].call(50, 60, "sem_wait", left=signal(0, 1))]))
    return a, {"waits": waits(("condition wait", 30, 1, "Master thread", "pthread_cond_wait", ""),
                              ("semaphore wait", 10, 1, "Master thread", "sem_wait", ""))}


@scene
def condition():
    a = Archive(processes=1)
    a[0].do(a[0].call(0, 100, "main", [a[0].call(10, 40, "pthread_cond_wait"), a[0].call(50, 60, "sem_wait")]))
    return a, {"waits": waits(("condition wait", 30, 1, "Master thread", "pthread_cond_wait", ""),
                              ("semaphore wait", 10, 1, "Master thread", "sem_wait", "")),
               "critical_path": path(main=60, pthread_cond_wait=30, sem_wait=10)}


@scene
def child():
    """A shell waits for a program, which is on the path."""
    a = Archive(processes=2)
    a.more = [("Parameter", 0, a.s("child process id"), 2)]
    for group, pid in ((0, "100"), (1, "101")):
        a.property(group, "GPUTRACE::PROCESS_ID", pid)
    a[0].do(a[0].call(0, 100, "shell", [a[0].call(10, 81, "waitpid", [
        a.event(81, "ParameterUnsignedInt", 0, 101)], paradigm=PTHREAD)]))
    a[1].do(a[1].call(20, 80, "program"))
    return a, {"waits": waits(("wait for child process", 70, 1, "program [0], Master thread", "waitpid",
                               "program [1], Master thread")),
               "critical_path": path(shell=29, waitpid=11, program=60)}


@scene
def left_behind():
    """A thread that still waits when the process ends is not what the run waited for."""
    a = Archive(processes=1)
    w = a.thread(0, "worker")
    a[0].do(a[0].call(0, 99, "main"))
    w.do(w.call(1, 10, "work", [w.call(2, 100, "pthread_cond_wait")])[:-2])
    w.do(a.event(100, "MeasurementOnOff", 2))
    return a, {"critical_path": ["main,99", "(nothing recorded),1"]}


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


# ---- anything -----------------------------------------------------------------------------------

def chance(seed):
    """Calls that do not fit together, at few different times: nothing is known but that the path is whole."""
    random.seed(seed)
    a = Archive(3)
    hosts = [a[0], a[1], a[2], a.thread(0, "T1"), a.thread(1, "T2")]
    for n, l in enumerate(hosts):
        t, order = random.randint(0, 3), random.randint(1, 5)
        if n > 2:
            l.do(a.event(t, "ThreadBegin", THREADS, n))
        # Of some threads nothing but their begin is recorded, of some no end.
        for _ in range(0 if n > 2 and random.random() < 0.3 else 25):
            end, peer = t + random.randint(0, 3), random.randint(0, 2)
            kind = random.choice(("send", "recv", "barrier", "bcast", "lock", "launch", "sync", "create", "join",
                                  "work", "cond", "tbarrier"))
            order += random.randint(0, 2)
            if kind == "work":
                l.do(l.call(t, end, random.choice("abc")))
            elif kind == "send":
                l.do(l.call(t, end, "MPI_Send", [a.send(t, peer)]))
            elif kind == "recv":
                l.do(l.call(t, end, "MPI_Recv", [a.recv(end, peer)]))
            elif kind == "barrier":
                l.do(l.call(t, end, "MPI_Barrier", [a.collective(t, end, BARRIER, size=0)]))
            elif kind == "bcast":
                l.do(l.call(t, end, "MPI_Bcast", [a.collective(t, end, BCAST, peer)]))
            elif kind == "lock":
                l.do(l.call(t, end, "pthread_mutex_lock", [a.event(end, "ThreadAcquireLock", PTHREAD, 5, order)]),
                     a.event(end, "ThreadReleaseLock", PTHREAD, 5, order))
            elif kind == "launch":
                l.do(l.call(t, end, "cuLaunchKernel", attributes=random.randint(0, 9)))
            elif kind == "sync":
                l.do(l.call(t, end, "cuStreamSynchronize"))
            elif kind == "create":
                l.do(l.call(t, end, "pthread_create", [a.event(t, "ThreadCreate", THREADS, peer + 2)]))
            elif kind == "join":
                l.do(l.call(t, end, "pthread_join", [a.event(end, "ThreadWait", THREADS, peer + 2)]))
            else:
                l.do(l.call(t, end, {"cond": "pthread_cond_wait", "tbarrier": "pthread_barrier_wait"}[kind]))
            t = end + random.randint(0, 1)
        if n > 2 and random.random() < 0.6:
            l.do(a.event(t, "ThreadEnd", THREADS, n))
    for process in (0, 0, 1):
        s, t = a.stream(process, "CUDA[0:%d]" % len(a.locations)), 0
        for _ in range(15):
            t += random.randint(0, 2)
            end = t + random.randint(0, 3)
            copy = random.random() < 0.3
            s.do(devices.on(s, t, end, random.randint(0, 9), "copy" if copy else "kernel",
                    "CUDA_MEMCPY" if copy else "CUDA_KERNEL"))
            t = end
    return a, {}


for number in range(int(os.environ.get("CHANCES", "8"))):
    SCENES["chance%d" % number] = lambda number=number: chance(int(os.environ.get("GT_SEED", "1")) + number)

main({**SCENES, **devices.SCENES, **pipes.SCENES, **processes.SCENES, **windows.SCENES})
