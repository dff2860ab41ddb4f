#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes archives at which readers have stumbled, with the answers known.

  extremes.py counters DIR          values of counters that are no finite or no exact floating-point number
  extremes.py deep DEPTH DIR        a recursion, "work" in "main", each call 1 ns later than its caller
  extremes.py wide COUNT DIR        main calls COUNT functions twice each, 1 ns each
  extremes.py requests COUNT DIR    COUNT requests for sends to itself, which complete in the order of their begin
  extremes.py values COUNT DIR      COUNT values of a counter on each of four threads: 0, 1, ...
  extremes.py contexts DIR         calling contexts as programs that sample write them: main calls work twice, 3 ns each,
                                   and three samples

Limits: one location, but for values.
"""
import sys

import otf2
from otf2.enums import MetricMode, Paradigm, GroupType, Type

EXACT = [2**53 + 1, 2**60 + 1, 2**64 - 1]
REAL = [float("nan"), float("inf"), float("-inf"), 1.5]


def counters(trace, writer):
    exact = trace.definitions.metric("exact", value_type=Type.UINT64, metric_mode=MetricMode.ABSOLUTE_POINT)
    real = trace.definitions.metric("real", value_type=Type.DOUBLE, metric_mode=MetricMode.ABSOLUTE_POINT)
    for time, value in enumerate(EXACT):
        writer.metric(time, exact, value)
    for time, value in enumerate(REAL):
        writer.metric(10 + time, real, value)


def deep(trace, writer, depth):
    main, work = (trace.definitions.region(name) for name in ("main", "work"))
    writer.enter(0, main)
    for i in range(depth):
        writer.enter(i + 1, work)
    for i in range(depth):
        writer.leave(depth + 1, work)
    writer.leave(depth + 1, main)


def wide(trace, writer, count):
    main = trace.definitions.region("main")
    callees = [trace.definitions.region("f%d" % i) for i in range(count)]
    writer.enter(0, main)
    for i in range(2 * count):
        writer.enter(i, callees[i % count])
        writer.leave(i + 1, callees[i % count])
    writer.leave(2 * count, main)


def requests(trace, writer, count):
    d = trace.definitions
    locations = d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=[writer.location])
    comm = d.comm("world", group=d.group("w", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=[0]))
    assert locations
    for name, begin in ("MPI_Isend", lambda i: writer.mpi_isend(i, 0, comm, 0, 1, i)), ("MPI_Irecv", None):
        region = d.region(name, paradigm=Paradigm.MPI)
        for i in range(count):
            time = i if begin else count + i
            writer.enter(time, region)
            if begin:
                begin(time)
            else:
                writer.mpi_irecv_request(time, count + i)
            writer.leave(time, region)
    wait = d.region("MPI_Waitall", paradigm=Paradigm.MPI)
    writer.enter(2 * count, wait)
    for i in range(count):
        writer.mpi_isend_complete(2 * count, i)
    for i in range(count):
        writer.mpi_irecv(2 * count, 0, comm, 0, 1, count + i)
    writer.leave(2 * count, wait)


def values(trace, writer, count):
    counter = trace.definitions.metric("counter", value_type=Type.UINT64, metric_mode=MetricMode.ABSOLUTE_POINT)
    others = [trace.definitions.location(f"Thread {i}", group=writer.location.group) for i in (1, 2, 3)]
    for to in (writer, *map(trace.event_writer_from_location, others)):
        for i in range(count):
            to.metric(i, counter, i)


def contexts(trace, writer):
    d = trace.definitions
    main = d.calling_context(d.region("main"), None, None)
    work = d.calling_context(d.region("work"), None, main)
    timer = d.interrupt_generator("timer", period=1)
    writer.calling_context_enter(0, main, 1)
    for i in (1, 5):
        writer.calling_context_enter(i, work, 1)
        writer.calling_context_sample(i + 1, work, 1, timer)
        writer.calling_context_leave(i + 3, work)
    writer.calling_context_sample(9, main, 1, timer)
    writer.calling_context_leave(10, main)


def main():
    what, *numbers, folder = sys.argv[1:]
    with otf2.writer.open(folder, timer_resolution=10**9) as trace:
        root = trace.definitions.system_tree_node("node")
        group = trace.definitions.location_group("process", system_tree_parent=root)
        location = trace.definitions.location("Master thread", group=group)
        writer = trace.event_writer_from_location(location)
        writer.location = location
        globals()[what](trace, writer, *map(int, numbers))


if __name__ == "__main__":
    main()
