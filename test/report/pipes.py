# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of waits.py: pipes, pairs of sockets and eventfds.

Limits: as waits.py. All processes have one definition of a handle.
"""
from scene import IO, NONE, Archive, waits

SCENES = {}
READ, WRITE = 0, 1
P0, P1, P2 = ("program [%d], Master thread" % i for i in range(3))
POSIX, STDIO = 0, 1


def scene(function):
    """Registers one."""
    SCENES[function.__name__] = function
    return function


class Channels(Archive):
    """With handles of these names; those of stdio have a *."""

    def __init__(self, processes, *names):
        super().__init__(processes=processes)
        self.operations = 0
        self.more = [("IoParadigm", i, self.s(name), self.s(name), 0, 1, [], [], [])
                     for i, name in enumerate(("POSIX", "ISOC"))]
        self.more += [("IoHandle", i, self.s(name.strip("*")), NONE, STDIO if "*" in name else POSIX, 1, NONE,
                       NONE) for i, name in enumerate(names)]

    def operation(self, process, begin, end, mode, size, handle=0):
        """A read or write."""
        self.operations += 1
        return self[process].call(begin, end, "write" if mode else "read", [
            self.event(begin, "IoOperationBegin", handle, mode, 0, max(size, 1), self.operations),
            self.event(end, "IoOperationComplete", handle, size, self.operations)], paradigm=IO)

    def works(self, process, end, *calls):
        """All that it does, in main."""
        self[process].do(self[process].call(0, end, "main", calls))


def path(**regions):
    """As the test prints it."""
    return ["%s,%g" % item for item in regions.items()]


@scene
def pipe_empty():
    """It waits until the write begins."""
    a = Channels(2, "pipe:[1]")
    a.works(0, 80, a.operation(0, 60, 61, WRITE, 8))
    a.works(1, 100, a.operation(1, 20, 62, READ, 8))
    return a, {"waits": waits(("late writer", 40, 1, P1, "read", P0)), "critical_path": path(main=98, read=2),
               "delays": [P0 + ",main,40,0"]}


@scene
def pipe_full():
    """Two go in at most: the third one waits for the first read."""
    a = Channels(2, "pipe:[1]")
    times = ((5, 6), (15, 16), (25, 71))
    a.works(0, 100, *(a.operation(0, begin, end, WRITE, 30000) for begin, end in times))
    a.works(1, 80, a.operation(1, 70, 72, READ, 30000))
    return a, {"waits": waits(("late reader", 45, 1, P0, "write", P1)),
               "critical_path": path(main=99, write=1)}


@scene
def pipe_not_full():
    """A write that is slow for another reason, as the first one shows."""
    a = Channels(2, "pipe:[1]")
    a.works(0, 100, a.operation(0, 5, 6, WRITE, 60000), a.operation(0, 30, 60, WRITE, 5000))
    a.works(1, 80, a.operation(1, 10, 11, READ, 60000), a.operation(1, 40, 61, READ, 5000))
    return a, {"waits": []}


@scene
def pipe_of_two():
    """Which of two that wrote at one time it was is not known."""
    a = Channels(3, "pipe:[1]")
    a.works(0, 80, a.operation(0, 60, 63, WRITE, 8))
    a.works(1, 80, a.operation(1, 61, 64, WRITE, 8))
    a.works(2, 100, a.operation(2, 20, 65, READ, 8), a.operation(2, 70, 71, READ, 8))
    return a, {"waits": []}


@scene
def pipe_of_two_in_turn():
    a = Channels(3, "pipe:[1]")
    a.works(0, 80, a.operation(0, 60, 63, WRITE, 8))
    a.works(1, 90, a.operation(1, 64, 66, WRITE, 8))
    a.works(2, 100, a.operation(2, 20, 65, READ, 8), a.operation(2, 70, 71, READ, 8))
    return a, {"waits": waits(("late writer", 40, 1, P2, "read", P0))}


@scene
def pipe_of_two_readers():
    """Each got one of two, but not necessarily in this order."""
    a = Channels(4, "pipe:[1]")
    a.works(0, 80, a.operation(0, 60, 63, WRITE, 8))
    a.works(1, 80, a.operation(1, 64, 66, WRITE, 8))
    a.works(2, 100, a.operation(2, 20, 67, READ, 8))
    a.works(3, 100, a.operation(3, 20, 68, READ, 8))
    return a, {"waits": []}


@scene
def pipe_of_somebody_else():
    """More was read than written, so that nothing is known of the rest, either."""
    a = Channels(2, "pipe:[1]")
    a.works(0, 80, a.operation(0, 60, 61, WRITE, 8))
    a.works(1, 100, a.operation(1, 20, 62, READ, 8), a.operation(1, 70, 75, READ, 8))
    return a, {"waits": []}


@scene
def pipe_of_nobody_known():
    """What comes before the wait may be for nothing: whoever ended it may have done so then, anyway."""
    a = Channels(1, "pipe:[1]")
    a.works(0, 100, a[0].call(0, 20, "use"), a.operation(0, 20, 62, READ, 8), a[0].call(62, 92, "chew"))
    return a, {"waits": [], "critical_path": path(use=20, read=42, chew=30, main=8),
               "gains": ["use,nan", "read,nan"] + path(chew=30, main=8), "bounds": ["use,0,20", "read,0,42"]}


@scene
def pipe_at_its_end():
    """Who closes it last lets the reader go on."""
    a = Channels(2, "pipe:[1]")
    a.works(0, 90, a[0].call(80, 82, "close", [a.event(82, "IoDestroyHandle", 0)], paradigm=IO))
    a.works(1, 100, a.operation(1, 20, 83, READ, 0))
    return a, {"waits": waits(("late writer", 60, 1, P1, "read", P0)), "critical_path": path(main=97, read=3)}


@scene
def pipe_closed_often():
    """By the reader, too, which does not wait for itself."""
    a = Channels(3, "pipe:[1]")

    def close(process, time):
        return a[process].call(time, time + 0.002, "close", [a.event(time + 0.002, "IoDestroyHandle", 0)], paradigm=IO)

    a.works(0, 90, *(close(0, 1 + i / 100) for i in range(2000)), close(0, 80))
    a.works(1, 100, a.operation(1, 20, 83, READ, 0))
    a.works(2, 30, *(close(2, 1 + i / 100) for i in range(2000)))
    return a, {"waits": waits(("late writer", 60, 1, P1, "read", P0))}


@scene
def pipe_of_one_that_is_not_known():
    """It was closed long before: another one had it open."""
    a = Channels(2, "pipe:[1]")
    a.works(0, 90, a[0].call(30, 31, "close", [a.event(31, "IoDestroyHandle", 0)], paradigm=IO))
    a.works(1, 100, a.operation(1, 20, 83, READ, 0))
    return a, {"waits": []}


@scene
def pipe_buffered():
    """What stdio has comes when something else is done with the file."""
    a = Channels(2, "pipe:[1]*", "pipe:[1]")
    a.works(0, 80, a.operation(0, 20, 21, WRITE, 8), a.operation(0, 70, 72, WRITE, 8))
    a.works(1, 100, a.operation(1, 10, 73, READ, 8, 1))
    return a, {"waits": waits(("late writer", 60, 1, P1, "read", P0))}


@scene
def pipe_far_ahead():
    """Without use(), the reads need what was written at 10, 21 and 32, and nothing waits."""
    a = Channels(2, "pipe:[1]")
    p, q = a[0], a[1]
    a.works(0, 40, *(part for i in range(3) for part in (
        p.call(11 * i, 11 * i + 10, "make"), a.operation(0, 11 * i + 10, 11 * i + 11, WRITE, 8))))
    a.works(1, 140, a.operation(1, 0, 12, READ, 8), q.call(12, 42, "use"), q.call(42, 52, "chew"),
            a.operation(1, 52, 53, READ, 8), q.call(53, 83, "use"), q.call(83, 93, "chew"),
            a.operation(1, 93, 94, READ, 8), q.call(94, 124, "use"), q.call(124, 134, "chew"))
    return a, {"waits": waits(("late writer", 10, 1, P1, "read", P0)),
               "critical_path": path(use=90, chew=30, make=10, main=6, read=4),
               "gains": path(use=90, chew=30, make=10, main=6, read=4)}


@scene
def sockets():
    """A request and its reply."""
    a = Channels(2, "socket:[1]", "socket:[2]")
    a.works(0, 100, a[0].call(1, 2, "socketpair", [a.event(2, "IoCreateHandle", i, 2, 0, 0) for i in (0, 1)],
                              paradigm=IO),
            a.operation(0, 30, 31, WRITE, 8, 0), a.operation(0, 35, 72, READ, 8, 0))
    a.works(1, 80, a.operation(1, 10, 32, READ, 8, 1), a.operation(1, 70, 71, WRITE, 8, 1))
    return a, {"waits": waits(("late writer", 20, 1, P1, "read", P0), ("late writer", 35, 1, P0, "read", P1))}


@scene
def sockets_of_others():
    """Which ones belong together is not known."""
    a = Channels(2, "socket:[1]", "socket:[2]")
    a.works(0, 100, a.operation(0, 30, 31, WRITE, 8, 0), a.operation(0, 35, 72, READ, 8, 0))
    a.works(1, 80, a.operation(1, 10, 32, READ, 8, 1), a.operation(1, 70, 71, WRITE, 8, 1))
    return a, {"waits": []}


@scene
def eventfds():
    """The second one has the number of the first."""
    a = Channels(2, "eventfd:[1]")
    a.works(0, 100, a[0].call(1, 2, "eventfd", [a.event(2, "IoCreateHandle", 0, 2, 0, 0)], paradigm=IO),
            a.operation(0, 30, 31, WRITE, 8), a.operation(0, 32, 33, WRITE, 8),
            a[0].call(41, 42, "eventfd", [a.event(42, "IoCreateHandle", 0, 2, 0, 0)], paradigm=IO),
            a.operation(0, 60, 61, WRITE, 8))
    a.works(1, 80, a.operation(1, 10, 34, READ, 8), a.operation(1, 50, 62, READ, 8))
    return a, {"waits": waits(("late writer", 30, 2, P1, "read", P0))}
