# SPDX-License-Identifier: BSD-3-Clause
"""Archives made by hand: definitions are made as they are named, events as they are put.

    m = Made()
    main = m.thread(m.process("MPI Rank 0"))
    m.call(main, m.region("work", USER), 10, 500)        # from and to, in ns
    m.write(path)

Limits: how an archive is written is in ../check/goodtrace.py.
"""
import os
import sys

sys.dont_write_bytecode = True # beside the source
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))

from goodtrace import CUDA, DOUBLE, INT64, MPI, NONE, PTHREAD, T0, Trace, UINT64, _otf2 # noqa: E402

USER, COMPILER, OPENMP, MEASUREMENT = 1, 2, 3, 6
FUNCTION = 1
NAMES = [CUDA, DOUBLE, INT64, MPI, NONE, PTHREAD, T0, UINT64]


class Made(Trace):
    """Starts without anything."""

    def __init__(self, length=1000000):
        super().__init__()
        self.texts = {"": 0}
        self.later = []
        self.numbers = {}
        self.known = {}
        self.length = length
        self.resolution = 1000000000
        self.events = {}
        self.attributes = {}
        self.markers = []
        self.ranks = []
        self.define("SystemTreeNode", self.s("host"), self.s("machine"), NONE)
        self.node = self.define("SystemTreeNode", self.s("node1"), self.s("node"), 0)

    def s(self, text):
        return self.texts.setdefault(text, len(self.texts))

    def define(self, kind, *fields):
        number = self.numbers.get(kind, 0)
        self.numbers[kind] = number + 1
        self.later.append((kind, number) + fields)
        return number

    def once(self, key, make):
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def process(self, name):
        return self.define("LocationGroup", self.s(name), 1, self.node, NONE)

    def property(self, owner, name, text, kind="LocationGroupProperty"):
        value = _otf2.AttributeValue()
        value.stringRef = self.s(text)
        self.later.append((kind, owner, self.s(name), 11, value))

    def states(self, thread, **ns):
        """What the scheduler did with it: lifetime=, running=, ready=, blocked=, unknown=."""
        for name, value in ns.items():
            self.property(thread, f"GPUTRACE::{name.upper()}_NS", str(value), "LocationProperty")

    def thread(self, process, name="Master thread"):
        location = self.define("Location", self.s(name), 1, None, process)
        self.events[location] = []
        return location

    def device(self, name):
        return self.define("SystemTreeNode", self.s(name), self.s("CUDA Device"), self.node)

    def stream(self, process, device, name):
        group = self.define("LocationGroup", self.s("CUDA Context"), 2, device, process)
        location = self.define("Location", self.s(name), 2, None, group)
        self.events[location] = []
        return location

    def region(self, name, paradigm=COMPILER, group=None, role=FUNCTION, file=None, line=0, again=None):
        """`again`: another definition for each value of it."""
        def make():
            return self.define("Region", self.s(name), self.s(name), self.s(group or ""), role, paradigm, 0,
                               self.s(file) if file else NONE, line, 0)
        return self.once(("region", name, again), make)

    def mpi(self, name):
        return self.region(name, MPI)

    def world(self, locations, name="MPI_COMM_WORLD"):
        """A communicator of these locations, by their rank in it; the first one has all."""
        if not self.ranks:
            self.ranks = list(locations)
            self.define("Group", self.s("MPI"), 4, MPI, 0, self.ranks)
        group = self.define("Group", self.s(""), 5, MPI, 0, [self.ranks.index(n) for n in locations])
        return self.define("Comm", self.s(name), group, NONE, 0)

    def put(self, location, time, *event):
        self.events[location].append((time,) + event)

    def attribute(self, location, name, value, kind=UINT64):
        """Of the event that was put last."""
        number = self.once(("attribute", name),
                           lambda: self.define("Attribute", self.s(name), self.s(""), kind))
        self.attributes.setdefault((location, len(self.events[location]) - 1), []).append((number, kind, value))

    def call(self, location, region, begin, end, correlation=0):
        self.put(location, begin, "Enter", region)
        if correlation:
            self.attribute(location, "CORRELATION_ID", correlation)
        self.put(location, end, "Leave", region)

    def parameter(self, location, time, name, value):
        number = self.once(("parameter", name), lambda: self.define("Parameter", self.s(name), 2))
        self.put(location, time, "ParameterUnsignedInt", number, value)

    def shape(self, location, time, name, value):
        """As gputrace writes it: three numbers in a string."""
        number = self.once(("parameter", name), lambda: self.define("Parameter", self.s(name), 0))
        self.put(location, time, "ParameterString", number, self.s(f"({value},1,1)"))

    def kernel(self, stream, name, begin, end, grid=1, block=1, correlation=0):
        region = self.region(name, CUDA, "CUDA_KERNEL")
        self.put(stream, begin, "Enter", region)
        if correlation:
            self.attribute(stream, "CORRELATION_ID", correlation)
        self.shape(stream, begin, "grid", grid)
        self.parameter(stream, begin, "threads per block", block)
        self.put(stream, end, "Leave", region)

    def copy(self, stream, name, begin, end, size, correlation=0):
        region = self.region(name, CUDA, "CUDA_MEMCPY")
        self.put(stream, begin, "Enter", region)
        self.attribute(stream, "BYTES", size)
        if correlation:
            self.attribute(stream, "CORRELATION_ID", correlation)
        self.put(stream, end, "Leave", region)

    def collective(self, location, region, begin, end, operation, comm, root=NONE, sent=0, received=0):
        self.put(location, begin, "Enter", region)
        self.put(location, begin, "MpiCollectiveBegin")
        self.put(location, end, "MpiCollectiveEnd", operation, comm, root, sent, received)
        self.put(location, end, "Leave", region)

    def write(self, path):
        order = ["Attribute", "SystemTreeNode", "LocationGroup", "Location", "Region", "Group", "Comm",
                 "RmaWin", "MetricMember", "MetricClass", "Parameter", "IoParadigm", "IoRegularFile", "IoHandle",
                 "LocationGroupProperty", "LocationProperty", "SourceCodeLocation", "CallingContext",
                 "CallingContextProperty", "InterruptGenerator"]
        self.clock = [self.resolution, T0, self.length, 0]
        self.definitions = [("String", n, text) for text, n in self.texts.items()]
        for kind in order:
            self.definitions += [d for d in self.later if d[0] == kind]
        super().write(path)


def write_cases(cases):
    """The one that is named on the command line into a folder, or --all."""
    what, folder = sys.argv[1:]
    for name in cases if what == "--all" else [what]:
        cases[name]().write(os.path.join(folder, name) if what == "--all" else folder)
