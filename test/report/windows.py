# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of waits.py: windows and files of MPI.

Limits: as waits.py.
"""
from scene import BARRIER, NONE, WORLD, Archive, waits

SCENES = {}


def scene(function):
    """Registers one."""
    SCENES[function.__name__] = function
    return function


R0, R1, R2 = "rank 0", "rank 1", "rank 2"

IN, OUT = 1, 2


def windows(n):
    a = Archive(n)
    a.more = [("RmaWin", 0, a.s("window"), WORLD, 0)]
    return a


@scene
def fence():
    a = windows(2)
    for i, t in enumerate((10, 40)):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(t, 42, "MPI_Win_fence", [
            a.event(t, "RmaCollectiveBegin"), a.event(42, "RmaCollectiveEnd", BARRIER, 3, 0, NONE, 0, 0)])]))
    return a, {"waits": waits(("wait at fence", 30, 1, R0, "MPI_Win_fence", R1))}


def epoch(start, post, complete, wait):
    """Rank 0 is the origin, rank 1 the target. Each is (begin, end)."""
    a = windows(2)
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(*start, "MPI_Win_start", [a.event(start[1], "RmaSync", 0, 1, IN)]),
        a[0].call(*complete, "MPI_Win_complete", [a.event(complete[1], "RmaSync", 0, 1, OUT)])]))
    a[1].do(a[1].call(0, 100, "main", [
        a[1].call(*post, "MPI_Win_post", [a.event(post[0], "RmaSync", 0, 0, OUT)]),
        a[1].call(*wait, "MPI_Win_wait", [a.event(wait[1], "RmaSync", 0, 0, IN)])]))
    return a


@scene
def late_post():
    a = epoch((10, 32), (30, 31), (40, 41), (60, 61))
    return a, {"waits": waits(("late post", 20, 1, R0, "MPI_Win_start", R1))}


@scene
def late_post_at_complete():
    a = epoch((10, 11), (50, 51), (20, 52), (60, 61))
    return a, {"waits": waits(("late post", 30, 1, R0, "MPI_Win_complete", R1))}


@scene
def late_complete():
    a = epoch((10, 11), (5, 6), (60, 61), (20, 62))
    return a, {"waits": waits(("late complete", 40, 1, R1, "MPI_Win_wait", R0))}


@scene
def window_lock():
    a = windows(3)
    for i, (asked, got, released) in enumerate(((10, 11, 50), (20, 51, 70))):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(asked, got, "MPI_Win_lock", [a.event(asked, "RmaRequestLock", 0, 2, 0, 0),
                                                   a.event(got, "RmaAcquireLock", 0, 2, 0, 0)]),
            a[i].call(released, released + 1, "MPI_Win_unlock", [a.event(released, "RmaReleaseLock", 0, 2, 0)])]))
    a[2].do(a[2].call(0, 100, "main"))
    return a, {"waits": waits(("window lock", 30, 1, R1, "MPI_Win_lock", R0))}


def locked_later(kind):
    """MPI_Win_lock returns at once: who comes later waits in MPI_Win_unlock."""
    a = windows(3)
    for i, (locks, unlocks, released) in enumerate(((10, 50, 51), (20, 22, 60))):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(locks, locks + 1, "MPI_Win_lock", [a.event(locks + 1, "RmaAcquireLock", 0, 2, 0, kind)]),
            a[i].call(unlocks, released, "MPI_Win_unlock", [a.event(released, "RmaReleaseLock", 0, 2, 0)])]))
    a[2].do(a[2].call(0, 100, "main"))
    return a


@scene
def window_locked_later():
    return locked_later(0), {"waits": waits(("window lock", 29, 1, R1, "MPI_Win_unlock", R0))}


@scene
def window_shared_behind_another():
    """Two wait for one that has it alone; the first of them has shared it, and gone, when the other returns."""
    a = windows(3)
    for i, kind, asked, got, released in ((0, 0, 10, 11, 50), (1, 1, 20, 60, 70), (2, 1, 20, 51, 53)):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(asked, got, "MPI_Win_lock", [a.event(got, "RmaAcquireLock", 0, 2, 0, kind)]),
            a[i].call(released, released + 1, "MPI_Win_unlock", [a.event(released, "RmaReleaseLock", 0, 2, 0)])]))
    return a, {"waits": waits(("window lock", 30, 1, R1, "MPI_Win_lock", R0),
                              ("window lock", 30, 1, R2, "MPI_Win_lock", R0))}


@scene
def window_shared():
    return locked_later(1), {"waits": []}


def flushed(kind, other, target=2, own=2):
    """MPI_Win_lock (or _all) returns at once: who comes later waits in MPI_Win_flush."""
    a = windows(3)
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(10, 11, "MPI_Win_lock", [a.event(11, "RmaAcquireLock", 0, target, 0, other)]),
        a[0].call(50, 51, "MPI_Win_unlock", [a.event(51, "RmaReleaseLock", 0, target, 0)])]))
    a[1].do(a[1].call(0, 100, "main", [
        a[1].call(20, 21, "MPI_Win_lock", [a.event(21, "RmaAcquireLock", 0, own, 0, kind)]),
        a[1].call(22, 23, "MPI_Put", [a.event(22, "RmaPut", 0, 2, 8, 1)]),
        a[1].call(24, 25, "MPI_Put", [a.event(24, "RmaPut", 0, 2, 8, 2)]),
        a[1].call(30, 55, "MPI_Win_flush", [a.event(54 + n / 2, "RmaOpComplete" + how, 0, 1 + n)
                                            for n in (0, 1) for how in ("NonBlocking", "Remote")]),
        a[1].call(58, 60, "MPI_Win_unlock", [a.event(60, "RmaReleaseLock", 0, own, 0)])]))
    a[2].do(a[2].call(0, 100, "main"))
    return a


def locked_all(kind, target=2):
    """MPI_Win_lock_all, and a lock that has to wait for it if it is of a rank that was accessed."""
    a = windows(3)
    a[0].do(a[0].call(0, 100, "main", [
        a[0].call(10, 11, "MPI_Win_lock_all", [a.event(11, "RmaAcquireLock", 0, NONE, 0, 1)]),
        a[0].call(12, 13, "MPI_Put", [a.event(12, "RmaPut", 0, target, 8, 1)]),
        a[0].call(50, 51, "MPI_Win_unlock_all", [a.event(50, "RmaOpCompleteRemote", 0, 1),
                                                 a.event(50, "RmaReleaseLock", 0, NONE, 0)])]))
    a[1].do(a[1].call(0, 100, "main", [
        a[1].call(20, 51, "MPI_Win_lock", [a.event(51, "RmaAcquireLock", 0, 2, 0, kind)]),
        a[1].call(70, 71, "MPI_Win_unlock", [a.event(71, "RmaReleaseLock", 0, 2, 0)])]))
    a[2].do(a[2].call(0, 100, "main"))
    return a


@scene
def window_of_all_is_locked():
    return locked_all(0), {"waits": waits(("window lock", 30, 1, R1, "MPI_Win_lock", R0))}


@scene
def window_of_all_is_locked_elsewhere():
    return locked_all(0, 1), {"waits": []}


@scene
def window_of_all_is_shared():
    return locked_all(1), {"waits": []}


@scene
def window_of_all_waits():
    return flushed(1, 0, own=NONE), {"waits": waits(("window lock", 21, 1, R1, "MPI_Win_flush", R0))}


@scene
def window_of_all_waits_for_nobody():
    return flushed(1, 0, 1, NONE), {"waits": []}


@scene
def window_flushed():
    return flushed(0, 0), {"waits": waits(("window lock", 21, 1, R1, "MPI_Win_flush", R0))}


@scene
def window_passed_on():
    """The lock is acquired before the call that releases it has returned; and from one that began before."""
    a = windows(3)
    for i, (locks, acquired, unlocks, released) in enumerate(((10, 11, 50, 55), (20, 53, 60, 70), (62, 66, 80, 81))):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(locks, acquired, "MPI_Win_lock", [a.event(acquired, "RmaAcquireLock", 0, 2, 0, 0)]),
            a[i].call(unlocks, released, "MPI_Win_unlock", [a.event(released, "RmaReleaseLock", 0, 2, 0)])]))
    return a, {"waits": waits(("window lock", 33, 1, R1, "MPI_Win_lock", R0))}


@scene
def window_flushed_half_shared():
    return flushed(1, 0), {"waits": waits(("window lock", 21, 1, R1, "MPI_Win_flush", R0))}


@scene
def window_flushed_shared():
    return flushed(1, 1), {"waits": []}


@scene
def window_flushed_elsewhere():
    return flushed(0, 0, target=0), {"waits": []}


def files(a):
    """All ranks of the archive have one file."""
    a.more = [("IoParadigm", 0, a.s("MPI-IO"), a.s("MPI-IO"), 1, 0, [], [], []),
              ("IoRegularFile", 0, a.s("file"), 0),
              ("IoHandle", 0, a.s(""), 0, 0, 0, WORLD, NONE)]


@scene
def opened_and_closed():
    a = Archive(2)
    files(a)
    for i, (opens, closes) in enumerate(((10, 90), (40, 60))):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(opens, 45, "MPI_File_open", [a.event(45, "IoCreateHandle", 0, 0, 0, 0)]),
            a[i].call(closes, 95, "MPI_File_close", [a.event(95, "IoDestroyHandle", 0)])]))
    return a, {"waits": waits(("wait at collective I/O", 30, 1, R0, "MPI_File_open", R1),
                              ("wait at collective I/O", 30, 1, R1, "MPI_File_close", R0))}


@scene
def collective_io():
    a = Archive(2)
    files(a)
    for i, t in enumerate((10, 40)):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(t, 45, "MPI_File_write_all", [
            a.event(t, "IoOperationBegin", 0, 1, 2, 8, 1), a.event(45, "IoOperationComplete", 0, 8, 1)])]))
    return a, {"waits": waits(("wait at collective I/O", 30, 1, R0, "MPI_File_write_all", R1))}


@scene
def collective_io_of_no_bytes():
    """Setting the view and the size: the call names the file, and nothing else does."""
    a = Archive(2)
    files(a)
    for i, (view, size) in enumerate(((10, 60), (40, 50))):
        a[i].do(a[i].call(0, 100, "main", [a[i].call(view, 45, "MPI_File_set_view", left={"MPI_FILE": 0}),
                                           a[i].call(size, 65, "MPI_File_set_size", left={"MPI_FILE": 0})]))
    return a, {"waits": waits(("wait at collective I/O", 30, 1, R0, "MPI_File_set_view", R1),
                              ("wait at collective I/O", 10, 1, R1, "MPI_File_set_size", R0))}


@scene
def collective_io_later():
    """Those with a request wait where they are completed, split ones where MPI waits."""
    a = Archive(2)
    files(a)
    for i, (begins, ends, second) in enumerate(((10, 20, 60), (50, 52, 70))):
        a[i].do(a[i].call(0, 100, "main", [
            a[i].call(begins, begins + 1, "MPI_File_iwrite_all", [
                a.event(begins, "IoOperationBegin", 0, 1, 3, 8, 1), a.event(begins + 1, "IoOperationIssued", 0, 1)]),
            a[i].call(ends, 55, "MPI_Wait", [a.event(55, "IoOperationComplete", 0, 8, 1)]),
            a[i].call(second, 75, "MPI_File_write_all_begin", [
                a.event(second, "IoOperationBegin", 0, 1, 3, 8, 2), a.event(75, "IoOperationIssued", 0, 2)]),
            a[i].call(76, 77, "MPI_File_write_all_end", [a.event(77, "IoOperationComplete", 0, 8, 2)])]))
    return a, {"waits": waits(("wait at collective I/O", 30, 1, R0, "MPI_Wait", R1),
                              ("wait at collective I/O", 10, 1, R0, "MPI_File_write_all_begin", R1))}
