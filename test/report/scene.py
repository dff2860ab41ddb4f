# SPDX-License-Identifier: BSD-3-Clause
"""Archives made by hand: processes, threads, streams, and what they do at which millisecond.

    a = Archive(ranks=2)
    a[0].call(0, 90, "main", [a[0].call(20, 30, "MPI_Send", [a.send(20, 0, 1)])])
    a.write("dir")

A call is a list of events; what is inside of it is a list of such lists. Times are in ms, where a tick is a
microsecond.

Limits: uses the low level of the OTF2 bindings. One communicator of all ranks, one of all threads.
"""
import os
import sys

import _otf2

NONE = 0xffffffff
MPI, CUDA, PTHREAD, COMPILER, IO, OPENMP = 4, 5, 7, 2, 8, 3
UINT64, STRING, IO_HANDLE = 4, 11, 24
PARADIGMS = (("MPI_", MPI), ("pthread_", PTHREAD), ("sem_", PTHREAD), ("cuda", CUDA), ("cu", CUDA),
             ("HOST_IDLE", CUDA), ("!$omp", OPENMP))
ROLES = {"!$omp parallel": 5, "!$omp barrier": 15, "!$omp implicit barrier": 16, "!$omp taskwait": 22}
BARRIER, BCAST, ALLREDUCE, REDUCE, SCAN = 0, 1, 11, 12, 15
WORLD, THREADS = 0, 1


class Location:
    """What happens in one location."""

    def __init__(self, archive, number, name, kind, group):
        self.archive, self.number, self.name = archive, number, name
        self.kind, self.group = kind, group
        self.events = []

    def call(self, begin, end, name, inside=(), attributes=None, paradigm=None, group=None, left=None):
        """The events of a call. In time order they are put together by do(). attributes, left: of the enter
        and leave, by name; or one number, the CORRELATION_ID."""
        region = self.archive.region(name, paradigm, group)
        events = [(begin, "Enter", [region], attributes)]
        for part in inside:
            events += part
        return events + [(end, "Leave", [region], left)]

    def do(self, *parts):
        """What it does, part after part."""
        for part in parts:
            self.events += part
        return self


MASTER = "Master thread"


def waits(*rows):
    """As the test prints them."""
    return ["%s,%g,%d,%s,%s,%s" % row for row in rows]


class Archive:
    """Ranks, each with one thread; more with thread() and stream()."""

    kinds = {"MPI_NEIGHBOURS": STRING, "MPI_FILE": IO_HANDLE} # of attributes that are no numbers

    def __init__(self, ranks=0, processes=0):
        self.strings = {"": 0}
        self.attributes = {"CORRELATION_ID": 0}
        self.regions = {}
        self.locations = []
        self.groups = []
        self.ranks = ranks
        self.more = []
        for i in range(ranks or processes):
            self.groups.append((("MPI Rank %d" if ranks else "program [%d]") % i, 1, NONE))
            self.locations.append(Location(self, i, "Master thread", 1, i))

    def __getitem__(self, i):
        return self.locations[i]

    def thread(self, process, name):
        """One more thread of a process."""
        self.locations.append(Location(self, len(self.locations), name, 1, process))
        return self.locations[-1]

    def stream(self, process, name):
        """A stream of the process's context."""
        wanted = ("CUDA Context of %d" % process, 2, process)
        if wanted not in self.groups:
            self.groups.append(wanted)
        self.locations.append(Location(self, len(self.locations), name, 2, self.groups.index(wanted)))
        return self.locations[-1]

    def s(self, text):
        """Id of a string."""
        return self.strings.setdefault(text, len(self.strings))

    def region(self, name, paradigm=None, group=None):
        """Id of a region."""
        if name not in self.regions:
            found = [p for prefix, p in PARADIGMS if name.startswith(prefix)]
            self.regions[name] = (len(self.regions), paradigm or (found[0] if found else COMPILER), group or "")
        return self.regions[name][0]

    def property(self, group, name, text):
        """Of a location group."""
        value = _otf2.AttributeValue()
        value.stringRef = self.s(text)
        self.more.append(("LocationGroupProperty", group, self.s(name), 11, value))

    # ---- events, each a list of one -----------------------------------------------------

    @staticmethod
    def event(time, kind, *args, attributes=None):
        """Any event."""
        return [(time, kind, list(args), attributes)]

    def send(self, time, to, tag=0, size=8):
        """Of a message."""
        return self.event(time, "MpiSend", to, WORLD, tag, size)

    def recv(self, time, sender, tag=0, size=8):
        """Of a message."""
        return self.event(time, "MpiRecv", sender, WORLD, tag, size)

    def collective(self, begin, end, op, root=NONE, size=8):
        """Begin and end inside of a call."""
        return (self.event(begin, "MpiCollectiveBegin") +
                self.event(end, "MpiCollectiveEnd", op, WORLD, root, size, size))

    # ---- writing ------------------------------------------------------------------------

    def definitions(self):
        """In the order in which they are written."""
        out = [*[("Attribute", i, self.s(name), 0, self.kinds.get(name, UINT64)) for name, i in self.attributes.items()],
               ("SystemTreeNode", 0, self.s("host"), self.s("machine"), NONE)]
        for i, (name, kind, creator) in enumerate(self.groups):
            out.append(("LocationGroup", i, self.s(name), kind, 0, creator))
        for l in self.locations:
            out.append(("Location", l.number, self.s(l.name), l.kind, len(l.events), l.group))
        for name, (number, paradigm, group) in self.regions.items():
            out.append(("Region", number, self.s(name), self.s(name), 0, ROLES.get(name, 1), paradigm, 0, NONE, 0, 0))
        threads = [l.number for l in self.locations if l.kind == 1]
        if self.ranks:
            out += [("Group", 0, 0, 4, MPI, 0, list(range(self.ranks))),
                    ("Group", 1, 0, 5, MPI, 0, list(range(self.ranks)))]
        else:
            out += [("Group", 0, 0, 4, MPI, 0, []), ("Group", 1, 0, 5, MPI, 0, [])]
        out += [("Group", 2, 0, 4, PTHREAD, 0, threads),
                ("Group", 3, 0, 5, PTHREAD, 0, list(range(len(threads)))),
                *self.region_groups(4),
                ("Comm", WORLD, self.s("MPI_COMM_WORLD"), 1, NONE, 0),
                ("Comm", THREADS, self.s("PTHREADS"), 3, NONE, 0)] + self.more
        return [("String", i, text) for text, i in self.strings.items()] + out

    def region_groups(self, first):
        """Groups of regions, as gputrace writes them."""
        names = sorted({group for _, _, group in self.regions.values() if group})
        return [("Group", first + i, self.s(name), 2, 0, 0,
                 [number for number, _, group in self.regions.values() if group == name])
                for i, name in enumerate(names)]

    def write_events(self, archive, location):
        """One location's file."""
        defs = _otf2.Archive_GetDefWriter(archive, location.number)
        writer = _otf2.Archive_GetEvtWriter(archive, location.number)
        for time, kind, args, given in location.events:
            attributes = None
            if given is not None:
                attributes = _otf2.AttributeList_New()
            for name, value in (given if isinstance(given, dict) else {"CORRELATION_ID": given}).items():
                if value is None:
                    continue
                union = _otf2.AttributeValue()
                of_kind = self.kinds.get(name, UINT64)
                if of_kind == STRING:
                    union.stringRef = self.s(value)
                elif of_kind == IO_HANDLE:
                    union.ioHandleRef = value
                else:
                    union.uint64 = value
                number = self.attributes.setdefault(name, len(self.attributes))
                _otf2.AttributeList_AddAttribute(attributes, number, of_kind, union)
            getattr(_otf2, "EvtWriter_" + kind)(writer, attributes, round(time * 1000), *args)
        _otf2.Archive_CloseEvtWriter(archive, writer)
        _otf2.Archive_CloseDefWriter(archive, defs)

    def write(self, path):
        """Writes the archive into a new directory."""
        archive = _otf2.Archive_Open(path, "traces", _otf2.FILEMODE_WRITE, 1 << 20, 4 << 20,
                                     _otf2.SUBSTRATE_POSIX, _otf2.COMPRESSION_NONE)
        callbacks = _otf2.FlushCallbacks(pre_flush=lambda *_: _otf2.FLUSH, post_flush=None)
        _otf2.Archive_SetFlushCallbacks(archive, callbacks, None)
        _otf2.Archive_SetSerialCollectiveCallbacks(archive)
        _otf2.Archive_OpenDefFiles(archive)
        _otf2.Archive_OpenEvtFiles(archive)
        for location in self.locations:
            self.write_events(archive, location)
        _otf2.Archive_CloseEvtFiles(archive)
        _otf2.Archive_CloseDefFiles(archive)
        writer = _otf2.Archive_GetGlobalDefWriter(archive)
        last = max([e[0] for l in self.locations for e in l.events] + [0])
        _otf2.GlobalDefWriter_WriteClockProperties(writer, 1000000, 0, round(last * 1000), 0)
        for kind, *args in self.definitions():
            getattr(_otf2, "GlobalDefWriter_Write" + kind)(writer, *args)
        _otf2.Archive_CloseGlobalDefWriter(archive, writer)
        _otf2.Archive_Close(archive)


def main(scenes):
    """NAME... of functions that return an archive and what is expected, below the directory argv[1]."""
    for name, scene in scenes.items():
        archive, sections = scene()
        archive.write(os.path.join(sys.argv[1], name))
        for section, lines in sections.items():
            with open(os.path.join(sys.argv[1], "%s.%s" % (name, section)), "w", encoding="utf-8") as f:
                f.write("".join(line + "\n" for line in sorted(lines)))
