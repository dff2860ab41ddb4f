# SPDX-License-Identifier: BSD-3-Clause
"""The good trace that traces.py changes: its definitions and events, and how they are written.

Limits: uses the low level of the OTF2 bindings, which writes what it is told.
"""
import _otf2

# The bytes of a time in the files are easy to find.
T0 = 0x0102030405060700
NONE = 0xffffffff
MPI, CUDA, PTHREAD = 4, 5, 7
UINT64, INT64, DOUBLE = 4, 8, 10
BARRIER, BCAST = 0, 1
MAIN, WORKER, STREAM, RANK1 = 0, 1, 2, 3
R_MAIN, R_WORK, R_KERNEL, R_IDLE, R_LOCK = 0, 1, 2, 3, 4
WORLD, GPU, THREADS = 0, 1, 2

STRINGS = ["", "machine", "node", "host", "node1", "Process 0", "Process 1", "CUDA Context 1",
           "Master thread", "worker", "CUDA[0:7]", "main", "work", "kernel\x1b[31m", "GPU IDLE",
           "pthread_mutex_lock", "MPI_COMM_WORLD", "GPU_COMM_GLOBAL", "PTHREADS", "cycles",
           "bytes", "prog", "-x", "ProcessId", "file.c", "CORRELATION_ID",
           "CPU_TIME", "SAMPLE_TIME"]


def s(text):
    """Id of a string."""
    return STRINGS.index(text)


CASES = {}


def case(rule):
    """Registers a function that changes the good trace; `rule` is what it breaks."""
    def register(function):
        CASES[function.__name__] = (rule, function)
        return function
    return register


class Trace:
    """What will be written: lists that a broken trace changes first."""

    def __init__(self):
        self.properties = {}
        self.clock = [1000000000, T0, 1000, 0]
        self.definitions = [("String", i, text) for i, text in enumerate(STRINGS)]
        self.definitions += [
            ("Attribute", 0, s("ProcessId"), 0, UINT64),
            ("Attribute", 1, s("CORRELATION_ID"), 0, UINT64),
            ("SystemTreeNode", 0, s("host"), s("machine"), NONE),
            ("SystemTreeNode", 1, s("node1"), s("node"), 0),
            ("LocationGroup", 0, s("Process 0"), 1, 1, NONE),
            ("LocationGroup", 1, s("CUDA Context 1"), 2, 1, 0),
            ("LocationGroup", 2, s("Process 1"), 1, 1, NONE),
            ("Location", MAIN, s("Master thread"), 1, None, 0),
            ("Location", WORKER, s("worker"), 1, None, 0),
            ("Location", STREAM, s("CUDA[0:7]"), 2, None, 1),
            ("Location", RANK1, s("Master thread"), 1, None, 2),
            ("Region", R_MAIN, s("main"), s("main"), 0, 1, 1, 0, s("file.c"), 3, 9),
            ("Region", R_WORK, s("work"), s("work"), 0, 1, 1, 0, s("file.c"), 12, 19),
            ("Region", R_KERNEL, s("kernel\x1b[31m"), s("work"), 0, 1, CUDA, 0, NONE, 0, 0),
            ("Region", R_IDLE, s("GPU IDLE"), s("GPU IDLE"), 0, 31, CUDA, 0, NONE, 0, 0),
            ("Region", R_LOCK, s("pthread_mutex_lock"), s("work"), 0, 1, PTHREAD, 0, NONE, 0, 0),
            ("Group", 0, s(""), 4, MPI, 0, [MAIN, RANK1]),
            ("Group", 1, s("MPI_COMM_WORLD"), 5, MPI, 0, [0, 1]),
            ("Group", 2, s(""), 4, CUDA, 0, [MAIN, STREAM]),
            ("Group", 3, s("GPU_COMM_GLOBAL"), 5, CUDA, 0, [0, 1]),
            ("Group", 4, s(""), 4, PTHREAD, 0, [MAIN, WORKER]),
            ("Group", 5, s("PTHREADS"), 5, PTHREAD, 0, [0, 1]),
            ("MetricMember", 0, s("cycles"), 0, 0, 0, UINT64, 1, 0, s("bytes")),
            ("MetricClass", 0, [0], 1, 0),
            ("Comm", WORLD, s("MPI_COMM_WORLD"), 1, NONE, 0),
            ("Comm", GPU, s("GPU_COMM_GLOBAL"), 3, NONE, 0),
            ("Comm", THREADS, s("PTHREADS"), 5, NONE, 0),
            ("Parameter", 0, s("bytes"), 2),
        ]
        self.events = {
            MAIN: [
                (0, "ProgramBegin", s("prog"), [s("-x")]),
                (0, "Enter", R_MAIN),
                (10, "ThreadCreate", THREADS, 1),
                (100, "MpiSend", 1, WORLD, 7, 512),
                (110, "Enter", R_LOCK),
                (115, "ThreadAcquireLock", PTHREAD, 5, 1),
                (120, "Leave", R_LOCK),
                (125, "ThreadReleaseLock", PTHREAD, 5, 1),
                (130, "Metric", 0, [UINT64], [77]),
                (131, "ParameterUnsignedInt", 0, 42),
                (140, "MpiCollectiveBegin",),
                (150, "MpiCollectiveEnd", BARRIER, WORLD, NONE, 0, 0),
                (160, "MpiCollectiveBegin",),
                (170, "MpiCollectiveEnd", BCAST, WORLD, 0, 8, 8),
                (180, "MpiSend", 1, GPU, 0, 4096),
                (190, "ThreadAcquireLock", PTHREAD, 5, 4),
                (195, "ThreadReleaseLock", PTHREAD, 5, 4),
                (900, "ThreadWait", THREADS, 1),
                (990, "Leave", R_MAIN),
                (1000, "ProgramEnd", 0),
            ],
            WORKER: [
                (20, "ThreadBegin", THREADS, 1),
                (30, "Enter", R_WORK),
                (140, "ThreadAcquireLock", PTHREAD, 5, 3),
                (150, "ThreadReleaseLock", PTHREAD, 5, 3),
                (300, "Enter", R_WORK),
                (400, "Leave", R_WORK),
                (800, "Leave", R_WORK),
                (850, "ThreadEnd", THREADS, 1),
            ],
            STREAM: [
                (200, "Enter", R_IDLE),
                (205, "MpiRecv", 0, GPU, 0, 4096),
                (210, "Leave", R_IDLE),
                (210, "Enter", R_KERNEL),
                (300, "Leave", R_KERNEL),
                (310, "Enter", R_KERNEL),
                (400, "Leave", R_KERNEL),
            ],
            RANK1: [
                (0, "ProgramBegin", s("prog"), []),
                (0, "Enter", R_MAIN),
                (105, "MpiRecv", 0, WORLD, 7, 512),
                (141, "MpiCollectiveBegin",),
                (151, "MpiCollectiveEnd", BARRIER, WORLD, NONE, 0, 0),
                (161, "MpiCollectiveBegin",),
                (171, "MpiCollectiveEnd", BCAST, WORLD, 0, 8, 8),
                (990, "Leave", R_MAIN),
                (1000, "ProgramEnd", 0),
            ],
        }
        self.attributes = {(MAIN, 1): (0, UINT64, 4711)}
        self.markers = [(500, 0, 0, 1, WORKER, "here")]
        self.declared = {}
        self.after = None

    def find(self, kind, number):
        """Index of a definition."""
        for i, definition in enumerate(self.definitions):
            if definition[:2] == (kind, number):
                return i
        raise KeyError(kind)

    def event(self, location, time, kind):
        """Index of an event."""
        for i, event in enumerate(self.events[location]):
            if event[:2] == (time, kind):
                return i
        raise KeyError(kind)

    def change(self, location, time, kind, *new):
        """Another event in its place; without one it is removed."""
        self.events[location][self.event(location, time, kind):][:1] = []
        i = self.event(location, time, kind)
        self.events[location][i:i + 1] = [new] if new else []

    def insert(self, location, before, *event):
        """An event before the first with that time."""
        times = [e[0] for e in self.events[location]]
        self.events[location].insert(times.index(before), event)

    def redefine(self, kind, number, *new):
        """Other fields for a definition; without them it is removed."""
        i = self.find(kind, number)
        self.definitions[i:i + 1] = [(kind, number) + new] if new else []

    # ---- writing ------------------------------------------------------------------------

    def write(self, path):
        """Writes the archive into a new directory."""
        def pre_flush(*_):
            return _otf2.FLUSH

        archive = _otf2.Archive_Open(path, "traces", _otf2.FILEMODE_WRITE, 1024 * 1024,
                                     4 * 1024 * 1024, _otf2.SUBSTRATE_POSIX,
                                     _otf2.COMPRESSION_NONE)
        callbacks = _otf2.FlushCallbacks(pre_flush=pre_flush, post_flush=None)
        _otf2.Archive_SetFlushCallbacks(archive, callbacks, None)
        _otf2.Archive_SetSerialCollectiveCallbacks(archive)
        _otf2.Archive_SetCreator(archive, "traces.py")
        for name, value in self.properties.items():
            _otf2.Archive_SetProperty(archive, name, value, True)
        _otf2.Archive_OpenDefFiles(archive)
        _otf2.Archive_OpenEvtFiles(archive)
        for location, events in self.events.items():
            self.write_events(archive, location, events)
        _otf2.Archive_CloseEvtFiles(archive)
        _otf2.Archive_CloseDefFiles(archive)
        self.write_definitions(archive)
        self.write_markers(archive)
        _otf2.Archive_Close(archive)
        if self.after:
            self.after(path)

    def write_events(self, archive, location, events):
        """One location's file."""
        defs = _otf2.Archive_GetDefWriter(archive, location)
        writer = _otf2.Archive_GetEvtWriter(archive, location)
        for i, (time, kind, *args) in enumerate(events):
            attributes = None
            if (location, i) in self.attributes:
                attributes = _otf2.AttributeList_New()
                several = self.attributes[(location, i)]
                for number, kind_of_value, value in several if isinstance(several, list) else [several]:
                    union = _otf2.AttributeValue()
                    union.uint64 = value
                    _otf2.AttributeList_AddAttribute(attributes, number, kind_of_value, union)
            if kind == "Metric":
                values = []
                for type_of_value, value in zip(args[1], args[2]):
                    union = _otf2.MetricValue()
                    if type_of_value == DOUBLE:
                        union.floating_point = value
                    else:
                        union.unsigned_int = value % (1 << 64)
                    values.append(union)
                args[2] = values
            getattr(_otf2, "EvtWriter_" + kind)(writer, attributes, T0 + time, *args)
        _otf2.Archive_CloseEvtWriter(archive, writer)
        _otf2.Archive_CloseDefWriter(archive, defs)

    def write_definitions(self, archive):
        """The global definitions, in the order of the list."""
        writer = _otf2.Archive_GetGlobalDefWriter(archive)
        if self.clock:
            _otf2.GlobalDefWriter_WriteClockProperties(writer, *self.clock)
        for kind, *args in self.definitions:
            if kind == "Location":
                args[3] = self.declared.get(args[0], len(self.events.get(args[0], [])))
            getattr(_otf2, "GlobalDefWriter_Write" + kind)(writer, *args)
        _otf2.Archive_CloseGlobalDefWriter(archive, writer)

    def write_markers(self, archive):
        """One kind of marker, and the markers."""
        if not self.markers:
            return
        writer = _otf2.Archive_GetMarkerWriter(archive)
        _otf2.MarkerWriter_WriteDefMarker(writer, 0, "group", "note", 1)
        for time, duration, kind, scope, number, text in self.markers:
            _otf2.MarkerWriter_WriteMarker(writer, T0 + time, duration, kind, scope, number, text)
        _otf2.Archive_CloseMarkerWriter(archive, writer)
