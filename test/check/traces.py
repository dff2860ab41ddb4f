#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes one good trace and, for each rule of `gputrace check`, traces that break only that rule.

  traces.py --list          NAME RULE, a line each; RULE is "-" for good traces, "noted" where
                            the program has left something undone
  traces.py NAME DIR        writes the trace NAME into the new directory DIR
  traces.py --all DIR       writes each as DIR/NAME

The good trace has two processes with MPI, a second thread, a GPU stream, locks, metrics,
parameters, attributes and a marker. A broken one is made by changing its lists of definitions and
events before they are written, or the bytes of its files after.

Limits: how a trace is written is in goodtrace.py.
"""
import os
import struct
import sys

sys.dont_write_bytecode = True # beside the source

import lives # more cases
import sampled
from goodtrace import (BARRIER, BCAST, CASES, DOUBLE, GPU, MAIN, MPI, NONE, PTHREAD, RANK1, R_KERNEL, R_LOCK,
                       R_WORK, STREAM, STRINGS, T0, THREADS, Trace, UINT64, WORKER, WORLD, case, s)

assert lives and sampled


def patch_time(location, old, new):
    """After writing: the first event at time `old` of a location gets the time `new`."""
    def patch(path):
        name = os.path.join(path, "traces", "%d.evt" % location)
        with open(name, "rb") as f:
            data = f.read()
        if data.count(struct.pack("<Q", T0 + old)) != 1:
            raise ValueError("time not found once")
        data = data.replace(struct.pack("<Q", T0 + old), struct.pack("<Q", T0 + new))
        with open(name, "wb") as f:
            f.write(data)
    return patch


# ---- good ones ------------------------------------------------------------------------------

@case("-")
def good(t):
    pass


@case("-")
def no_markers(t):
    t.markers = []


@case("-")
def sparse_locations(t):
    """A thread's number stands above its rank's, as Score-P writes them."""
    far = WORKER << 32
    t.events[far] = t.events.pop(WORKER)
    t.redefine("Group", 4, s(""), 4, PTHREAD, 0, [MAIN, far])
    i = t.find("Location", WORKER)
    t.definitions[i] = ("Location", far) + t.definitions[i][2:]
    t.markers = []


@case("-")
def at_once(t):
    """Everything at one time."""
    for location, events in t.events.items():
        t.events[location] = [(5,) + e[1:] for e in events]
    t.markers = []


@case("-")
def small_clock_error(t):
    """A receive before its send, but not by more than the clocks are wrong."""
    t.properties["GPUTRACE::CLOCK_ERROR_NS"] = "20"
    t.change(RANK1, 105, "MpiRecv", 85, "MpiRecv", 0, WORLD, 7, 512)


@case("-")
def hosts_apart(t):
    """A warning: the clocks of two hosts may differ by more than waits last."""
    t.properties["GPUTRACE::HOSTS"] = "2"
    t.properties["GPUTRACE::CLOCK_ERROR_NS"] = "2000000"


@case("-")
def readers(t):
    """Two hold a lock at once, and the numbers are not in the order of time."""
    t.change(MAIN, 190, "ThreadAcquireLock", 196, "ThreadAcquireLock", PTHREAD, 6, 1)
    t.change(MAIN, 195, "ThreadReleaseLock", 199, "ThreadReleaseLock", PTHREAD, 6, 1)
    t.events[WORKER][4:4] = [(195, "ThreadAcquireLock", PTHREAD, 6, 2),
                             (198, "ThreadReleaseLock", PTHREAD, 6, 2)]


def launches(t, location, time, kind):
    """An event says that it is the call that made the first kernel run."""
    t.attributes[(STREAM, t.event(STREAM, 210, "Enter"))] = (1, UINT64, 9)
    t.attributes[(location, t.event(location, time, kind))] = (1, UINT64, 9)


@case("-")
def launched(t):
    launches(t, MAIN, 110, "Enter")


@case("-")
def launched_by_a_long_call(t):
    """The call says its number when it is over, which is after the kernel."""
    t.change(WORKER, 400, "Leave", 390, "Leave", R_WORK)
    t.change(WORKER, 300, "Enter", 205, "Enter", R_WORK)
    launches(t, WORKER, 390, "Leave")


@case("-")
def cancelled_send(t):
    t.insert(MAIN, 110, 101, "MpiIsend", 1, WORLD, 9, 64, 3)
    t.insert(MAIN, 110, 102, "MpiRequestCancelled", 3)
    t.insert(MAIN, 110, 103, "MpiIsend", 1, WORLD, 7, 10, 4)
    t.insert(MAIN, 110, 104, "MpiIsendComplete", 4)
    t.insert(RANK1, 141, 106, "MpiIrecv", 0, WORLD, 7, 10, 1)


def two_lengths(t, first, second):
    """Two messages of one tag; the receives are begun in one order and complete in the other."""
    t.insert(MAIN, 110, 101, "MpiSend", 1, WORLD, 9, 100)
    t.insert(MAIN, 110, 102, "MpiSend", 1, WORLD, 9, 4)
    t.insert(RANK1, 105, 10, "MpiIrecvRequest", 1)
    t.insert(RANK1, 105, 11, "MpiIrecvRequest", 2)
    t.insert(RANK1, 141, 106, "MpiIrecv", 0, WORLD, 9, second, 2)
    t.insert(RANK1, 141, 107, "MpiIrecv", 0, WORLD, 9, first, 1)


@case("-")
def completed_in_another_order(t):
    two_lengths(t, 100, 4)


def probed(t, requested, first, second):
    """MPI_Mprobe finds the first message; the second one is received before MPI_Mrecv takes the first."""
    t.definitions += [("String", len(STRINGS), "MPI_Mrecv"),
                      ("Region", 5, len(STRINGS), len(STRINGS), 0, 1, MPI, 0, NONE, 0, 0)]
    t.insert(MAIN, 110, 101, "MpiSend", 1, WORLD, 9, 100)
    t.insert(MAIN, 110, 102, "MpiSend", 1, WORLD, 9, 4)
    if requested:
        t.insert(RANK1, 141, 105, "MpiIrecvRequest", 1)
    t.insert(RANK1, 141, 106, "MpiRecv", 0, WORLD, 9, second)
    t.insert(RANK1, 141, 107, "Enter", 5)
    if requested:
        t.insert(RANK1, 141, 108, "MpiIrecv", 0, WORLD, 9, first, 1)
    else:
        t.insert(RANK1, 141, 108, "MpiRecv", 0, WORLD, 9, first)
    t.insert(RANK1, 141, 109, "Leave", 5)


@case("-")
def matched_by_probe(t):
    """The request is as old as the probe."""
    probed(t, True, 100, 4)


@case("-")
def matched_by_probe_without_request(t):
    """Which message MPI_Mrecv gets was decided before, and the archive does not say when."""
    probed(t, False, 100, 4)


@case("messages")
def matched_by_another_probe(t):
    probed(t, True, 4, 100)


def freed(t):
    """Rank 1 frees the request of a receive; what is received behind it is the second message."""
    t.definitions += [("String", len(STRINGS), "MPI_REQUEST_FREED"),
                      ("Attribute", 2, len(STRINGS), s(""), UINT64)]
    t.insert(RANK1, 105, 10, "MpiIrecvRequest", 1)
    t.insert(MAIN, 110, 102, "MpiSend", 1, WORLD, 9, 4)
    t.insert(RANK1, 141, 106, "MpiRecv", 0, WORLD, 9, 4)
    t.insert(RANK1, 990, 980, "MpiIrecv", 0, WORLD, 9, 0, 1)
    t.attributes[(RANK1, t.event(RANK1, 980, "MpiIrecv"))] = (2, UINT64, 1)


@case("-")
def freed_receive(t):
    t.insert(MAIN, 110, 101, "MpiSend", 1, WORLD, 9, 100)
    freed(t)


@case("messages")
def freed_receive_of_two(t):
    """One receive without a send is not excused by another one that was freed."""
    freed(t)
    t.insert(RANK1, 141, 107, "MpiRecv", 0, WORLD, 9, 4)
    t.change(MAIN, 102, "MpiSend")


@case("-")
def lengths_of_two_threads(t):
    """Whose message is whose cannot be known."""
    two_lengths(t, 4, 100)
    t.insert(WORKER, 140, 35, "MpiSend", 1, WORLD, 9, 7)
    t.insert(RANK1, 141, 108, "MpiRecv", 0, WORLD, 9, 7)


@case("-")
def sends_of_a_thread(t):
    """A thread that is no member itself sends for its process."""
    t.insert(WORKER, 140, 35, "MpiSend", 1, WORLD, 8, 1)
    t.insert(RANK1, 105, 50, "MpiRecv", 0, WORLD, 8, 1)


def fails(t, location, time, kind):
    """The event says that it is of a call that failed."""
    name = ("String", len(STRINGS), "MPI_ERROR")
    if name not in t.definitions:
        t.definitions += [name, ("Attribute", 2, len(STRINGS), s(""), UINT64)]
    t.attributes[(location, t.event(location, time, kind))] = (2, UINT64, 15)


@case("-")
def cut(t):
    """A message that was longer than the buffer."""
    t.change(RANK1, 105, "MpiRecv", 105, "MpiRecv", 0, WORLD, 7, 500)
    fails(t, RANK1, 105, "MpiRecv")


def failed_send(t, receives):
    t.events[MAIN][4:4] = [(101, "Enter", R_WORK), (102, "MpiSend", 1, WORLD, 9, 64)]
    if receives:
        t.insert(MAIN, 110, 102, "MpiRecv", 1, WORLD, 9, 10)
        fails(t, MAIN, 102, "MpiRecv")
        t.insert(RANK1, 105, 50, "MpiSend", 0, WORLD, 9, 20)
        t.insert(RANK1, 105, 104, "MpiRecv", 0, WORLD, 9, 64)
    t.insert(MAIN, 110, 104, "Leave", R_WORK)
    fails(t, MAIN, 104, "Leave")


@case("-")
def send_fails(t):
    """What it sent was not sent."""
    failed_send(t, False)


@case("-")
def sendrecv_is_cut(t):
    """It is the receive that failed: the send counts."""
    failed_send(t, True)


@case("-")
def collective_fails(t):
    t.insert(MAIN, 180, 172, "MpiCollectiveBegin")
    t.insert(MAIN, 180, 174, "MpiCollectiveEnd", BARRIER, WORLD, NONE, 0, 0)
    fails(t, MAIN, 174, "MpiCollectiveEnd")


def barrier_of_worker(t, begin):
    """One member's barrier is called by its second thread."""
    t.change(MAIN, 140, "MpiCollectiveBegin")
    t.change(MAIN, 150, "MpiCollectiveEnd")
    t.insert(WORKER, 300, begin, "MpiCollectiveBegin")
    t.insert(WORKER, 300, begin + 3, "MpiCollectiveEnd", BARRIER, WORLD, NONE, 0, 0)


@case("-")
def collectives_of_two_threads(t):
    barrier_of_worker(t, 150)


@case("collectives")
def threads_call_them_in_another_order(t):
    barrier_of_worker(t, 172)


@case("-")
def collective_fails_later(t):
    """A non-blocking one."""
    t.insert(MAIN, 180, 172, "NonBlockingCollectiveRequest", 9)
    t.insert(MAIN, 180, 174, "NonBlockingCollectiveComplete", BARRIER, WORLD, NONE, 0, 0, 9)
    fails(t, MAIN, 174, "NonBlockingCollectiveComplete")


@case("-")
def communicator_of_oneself(t):
    """One definition for all processes; each has its own collectives."""
    t.definitions += [("Group", 6, s(""), 6, MPI, 0, []), ("Comm", 3, s(""), 6, NONE, 0)]
    for location, end in ((MAIN, 900), (RANK1, 990)):
        t.insert(location, end, 200, "MpiCollectiveBegin")
        t.insert(location, end, 201, "MpiCollectiveEnd", BARRIER, 3, NONE, 0, 0)
        t.insert(location, end, 202, "MpiSend", 0, 3, 1, 10)
        t.insert(location, end, 203, "MpiRecv", 0, 3, 1, 10)


@case("-")
def filtered(t):
    """Nothing of this is a loss."""
    t.properties["GPUTRACE::LOST_FILTER"] = "1000"
    t.properties["GPUTRACE::LOST_REWIND"] = "3"
    t.properties["GPUTRACE::LOST_SPACE"] = "0"
    t.properties["GPUTRACE::PROCESSES_KILLED"] = "0"
    t.properties["GPUTRACE::CLOCK_ERROR_NS"] = "-1"
    t.properties["GPUTRACE::COMPLETE"] = "yes"


@case("-")
def detached(t):
    """Nobody waits for the thread, and it still runs."""
    t.change(MAIN, 900, "ThreadWait")
    t.change(WORKER, 850, "ThreadEnd")


# ---- files ----------------------------------------------------------------------------------

@case("files")
def no_event_file(t):
    t.after = lambda path: os.unlink(os.path.join(path, "traces", "1.evt"))


@case("files")
def cut_event_file(t):
    def cut(path):
        name = os.path.join(path, "traces", "2.evt")
        os.truncate(name, os.path.getsize(name) - 10)
    t.after = cut


@case("files")
def empty_event_file(t):
    t.after = lambda path: os.truncate(os.path.join(path, "traces", "3.evt"), 0)


@case("files")
def cut_definitions(t):
    def cut(path):
        name = os.path.join(path, "traces.def")
        os.truncate(name, os.path.getsize(name) // 2)
    t.after = cut


@case("files")
def no_definitions(t):
    t.after = lambda path: os.unlink(os.path.join(path, "traces.def"))


@case("files")
def cut_anchor(t):
    t.after = lambda path: os.truncate(os.path.join(path, "traces.otf2"), 40)


# ---- definitions ----------------------------------------------------------------------------

@case("definitions")
def gap_in_regions(t):
    t.definitions.append(("Region", 7, 0, 0, 0, 1, 1, 0, NONE, 0, 0))


@case("definitions")
def swapped_strings(t):
    a, b = t.find("String", 1), t.find("String", 2)
    t.definitions[a], t.definitions[b] = t.definitions[b], t.definitions[a]


@case("definitions")
def defined_twice(t):
    t.definitions.append(("Parameter", 0, s("cycles"), 2))


@case("definitions")
def location_defined_twice(t):
    t.definitions.append(("Location", RANK1, s("worker"), 1, None, 2))


@case("references")
def name_is_no_string(t):
    t.definitions.append(("Region", 5, 99, 0, 0, 1, 1, 0, NONE, 0, 0))


@case("references")
def late_parent(t):
    t.redefine("SystemTreeNode", 0, s("host"), s("machine"), 1)


@case("references")
def metric_without_member(t):
    t.definitions.append(("MetricClass", 1, [0, 3], 1, 0))


@case("location-groups")
def process_without_thread(t):
    t.definitions.append(("LocationGroup", 3, s("Process 1"), 1, 1, NONE))


@case("location-groups")
def stream_in_process(t):
    t.definitions.append(("Location", 4, s("CUDA[0:7]"), 2, None, 0))
    t.events[4] = []


@case("location-groups")
def thread_in_accelerator(t):
    t.definitions.append(("Location", 4, s("worker"), 1, None, 1))
    t.events[4] = []


@case("location-groups")
def accelerator_of_nobody(t):
    t.redefine("LocationGroup", 1, s("CUDA Context 1"), 2, 1, NONE)


@case("communicators")
def rank_outside_of_group(t):
    t.definitions.append(("Group", 6, s(""), 5, MPI, 0, [0, 2]))


@case("communicators")
def group_before_its_locations(t):
    t.definitions.append(("Group", 6, s(""), 5, 9, 0, [0]))


@case("communicators")
def send_to_nobody(t):
    t.insert(MAIN, 110, 101, "MpiSend", 2, WORLD, 1, 1)


@case("communicators")
def send_of_a_stranger(t):
    t.insert(RANK1, 141, 110, "MpiSend", 0, GPU, 1, 1)


# ---- counts and times -----------------------------------------------------------------------

@case("event-counts")
def one_event_more(t):
    t.declared[WORKER] = 7


@case("event-counts")
def one_event_less(t):
    t.declared[WORKER] = 9


@case("time-order")
def back_in_time(t):
    t.after = patch_time(WORKER, 400, 299)


@case("clock-range")
def before_the_begin(t):
    t.clock[1] = T0 + 1
    t.clock[2] = 999


@case("clock-range")
def after_the_end(t):
    t.clock[2] = 999


@case("clock-range")
def no_ticks(t):
    t.clock[0] = 0


# ---- events ---------------------------------------------------------------------------------

@case("event-references")
def unknown_region(t):
    t.insert(WORKER, 300, 290, "Enter", 99)
    t.insert(WORKER, 300, 291, "Leave", 99)


@case("event-references")
def unknown_attribute(t):
    t.attributes[(MAIN, 1)] = (5, UINT64, 1)


@case("event-references")
def attribute_of_another_type(t):
    t.attributes[(MAIN, 1)] = (0, DOUBLE, 1)


@case("event-references")
def unknown_parameter(t):
    t.change(MAIN, 131, "ParameterUnsignedInt", 131, "ParameterUnsignedInt", 4, 1)


@case("event-references")
def unknown_communicator(t):
    t.insert(MAIN, 110, 101, "MpiSend", 0, 17, 1, 1)


@case("event-references")
def unknown_argument(t):
    t.change(MAIN, 0, "ProgramBegin", 0, "ProgramBegin", s("prog"), [1234])


@case("balance")
def leaves_another(t):
    t.change(WORKER, 400, "Leave", 400, "Leave", R_LOCK)


@case("balance")
def leaves_too_often(t):
    t.insert(WORKER, 850, 801, "Leave", R_WORK)


@case("depth")
def never_leaves(t):
    t.change(WORKER, 800, "Leave")


@case("metrics")
def metric_of_another_type(t):
    t.change(MAIN, 130, "Metric", 130, "Metric", 0, [DOUBLE], [1])


@case("metrics")
def metric_with_two_values(t):
    t.change(MAIN, 130, "Metric", 130, "Metric", 0, [UINT64, UINT64], [1, 2])


@case("metrics")
def parameter_of_another_type(t):
    t.change(MAIN, 131, "ParameterUnsignedInt", 131, "ParameterInt", 0, 5)


@case("programs")
def begins_twice(t):
    t.insert(MAIN, 10, 5, "ProgramBegin", s("prog"), [])


@case("programs")
def ends_without_begin(t):
    t.change(RANK1, 0, "ProgramBegin")


@case("streams")
def kernels_overlap(t):
    t.insert(STREAM, 310, 220, "Enter", R_KERNEL)
    t.insert(STREAM, 310, 305, "Leave", R_KERNEL)
    i = t.event(STREAM, 300, "Leave")
    t.events[STREAM][i - 0:i + 3] = [(220, "Enter", R_KERNEL), (300, "Leave", R_KERNEL),
                                     (305, "Leave", R_KERNEL)]


# ---- threads and locks ----------------------------------------------------------------------

@case("threads")
def never_created(t):
    t.change(MAIN, 10, "ThreadCreate")


@case("threads")
def created_late(t):
    t.change(WORKER, 20, "ThreadBegin", 5, "ThreadBegin", THREADS, 1)


@case("threads")
def begun_twice(t):
    t.insert(WORKER, 30, 25, "ThreadBegin", THREADS, 1)


@case("threads")
def ended_elsewhere(t):
    t.change(WORKER, 850, "ThreadEnd")
    t.insert(MAIN, 900, 880, "ThreadEnd", THREADS, 1)


@case("threads")
def waited_too_early(t):
    t.change(MAIN, 900, "ThreadWait", 840, "ThreadWait", THREADS, 1)


@case("threads")
def ended_without_begin(t):
    t.change(WORKER, 20, "ThreadBegin")


@case("locks")
def released_by_another(t):
    t.change(WORKER, 150, "ThreadReleaseLock")
    t.insert(MAIN, 190, 181, "ThreadReleaseLock", PTHREAD, 5, 3)


@case("locks")
def released_twice(t):
    t.insert(MAIN, 180, 175, "ThreadReleaseLock", PTHREAD, 5, 1)


@case("locks")
def acquired_twice(t):
    t.change(MAIN, 190, "ThreadAcquireLock", 190, "ThreadAcquireLock", PTHREAD, 5, 3)
    t.change(MAIN, 195, "ThreadReleaseLock")


@case("locks")
def order_backwards(t):
    t.change(MAIN, 190, "ThreadAcquireLock", 190, "ThreadAcquireLock", PTHREAD, 5, 2)
    t.change(MAIN, 195, "ThreadReleaseLock", 195, "ThreadReleaseLock", PTHREAD, 5, 2)


# ---- messages and collectives ---------------------------------------------------------------

@case("noted")
def never_received(t):
    """A program may do that."""
    t.change(RANK1, 105, "MpiRecv")


@case("noted")
def never_received_or_switched_off(t):
    t.change(RANK1, 105, "MpiRecv")
    t.insert(RANK1, 990, 970, "MeasurementOnOff", 2)
    t.insert(RANK1, 990, 980, "MeasurementOnOff", 1)


@case("noted")
def never_completed(t):
    """Nobody asked the receive, and one side's barrier, whether they are complete."""
    t.change(RANK1, 105, "MpiRecv", 105, "MpiIrecvRequest", 1)
    t.insert(MAIN, 180, 171, "NonBlockingCollectiveRequest", 9)
    t.insert(MAIN, 180, 175, "NonBlockingCollectiveComplete", BARRIER, WORLD, NONE, 0, 0, 9)
    t.insert(RANK1, 990, 172, "NonBlockingCollectiveRequest", 9)


@case("collectives")
def one_side_of_a_later_one(t):
    """No request is left open, so that the one who lacks it did not begin it."""
    t.insert(MAIN, 180, 171, "NonBlockingCollectiveRequest", 9)
    t.insert(MAIN, 180, 175, "NonBlockingCollectiveComplete", BARRIER, WORLD, NONE, 0, 0, 9)


@case("messages")
def never_sent(t):
    t.change(MAIN, 180, "MpiSend")


@case("messages")
def received_without_a_send(t):
    t.change(MAIN, 100, "MpiSend")


@case("messages")
def never_came_to_the_device(t):
    """What is copied is written in pairs."""
    t.change(STREAM, 205, "MpiRecv")


@case("messages")
def filtered_is_no_excuse(t):
    t.properties["GPUTRACE::LOST_FILTER"] = "1000"
    t.change(MAIN, 180, "MpiSend")


@case("messages")
def fewer_bytes(t):
    t.change(RANK1, 105, "MpiRecv", 105, "MpiRecv", 0, WORLD, 7, 511)


@case("messages")
def lengths_are_swapped(t):
    two_lengths(t, 4, 100)


@case("messages")
def sum_of_lengths_only(t):
    two_lengths(t, 52, 52)
    t.insert(WORKER, 140, 35, "MpiSend", 1, WORLD, 9, 7)
    t.insert(RANK1, 141, 108, "MpiRecv", 0, WORLD, 9, 7)


@case("messages")
def cut_and_longer(t):
    t.change(RANK1, 105, "MpiRecv", 105, "MpiRecv", 0, WORLD, 7, 513)
    fails(t, RANK1, 105, "MpiRecv")


@case("causality")
def kernel_before_its_call(t):
    launches(t, WORKER, 300, "Enter")


@case("causality")
def kernel_before_its_call_by_the_leave(t):
    launches(t, WORKER, 400, "Leave")


@case("causality")
def received_early(t):
    t.change(RANK1, 105, "MpiRecv", 99, "MpiRecv", 0, WORLD, 7, 512)


@case("causality")
def clock_error_too_small(t):
    t.properties["GPUTRACE::CLOCK_ERROR_NS"] = "14"
    t.change(RANK1, 105, "MpiRecv", 85, "MpiRecv", 0, WORLD, 7, 512)


@case("collectives")
def member_is_missing(t):
    t.change(RANK1, 161, "MpiCollectiveBegin")
    t.change(RANK1, 171, "MpiCollectiveEnd")


@case("collectives")
def another_operation(t):
    t.change(RANK1, 171, "MpiCollectiveEnd", 171, "MpiCollectiveEnd", 3, WORLD, 0, 8, 8)


@case("collectives")
def another_root(t):
    t.change(RANK1, 171, "MpiCollectiveEnd", 171, "MpiCollectiveEnd", BCAST, WORLD, 1, 8, 8)


@case("collectives")
def leaves_a_barrier_early(t):
    t.change(RANK1, 141, "MpiCollectiveBegin", 120, "MpiCollectiveBegin")
    t.change(RANK1, 151, "MpiCollectiveEnd", 130, "MpiCollectiveEnd", BARRIER, WORLD, NONE, 0, 0)


@case("collectives")
def end_without_begin(t):
    t.change(RANK1, 161, "MpiCollectiveBegin")


@case("markers")
def marker_too_late(t):
    t.markers.append((1001, 0, 0, 0, 0, "late"))


@case("markers")
def marker_of_no_kind(t):
    t.markers.append((10, 0, 3, 0, 0, "odd"))


@case("markers")
def marker_of_no_location(t):
    t.markers.append((10, 0, 0, 1, 44, "odd"))


# ---- losses: the broken rules are excused -----------------------------------------------------

@case("excused")
def lost_receive(t):
    t.properties["GPUTRACE::LOST_SPACE"] = "12"
    t.properties["GPUTRACE::LOST_RING"] = "0"
    t.change(RANK1, 105, "MpiRecv")


@case("excused")
def killed(t):
    t.properties["GPUTRACE::PROCESSES_KILLED"] = "1"
    t.change(MAIN, 10, "ThreadCreate")


def write(name, path):
    """The trace of that name."""
    trace = Trace()
    CASES[name][1](trace)
    trace.write(path)


def main():
    """Command line."""
    if sys.argv[1:] == ["--list"]:
        for name, (rule, _) in CASES.items():
            print(name, rule)
        return 0
    if len(sys.argv) != 3 or sys.argv[1] not in CASES and sys.argv[1] != "--all":
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] != "--all":
        write(sys.argv[1], sys.argv[2])
        return 0
    # Each in a process of its own: what one does to libotf2 is not the next one's.
    failed = False
    for name in CASES:
        child = os.fork()
        if not child:
            write(name, os.path.join(sys.argv[2], name))
            os._exit(0)
        failed |= os.waitpid(child, 0)[1] != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
