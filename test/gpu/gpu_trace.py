# SPDX-License-Identifier: BSD-3-Clause
"""Reading an archive through otf2-print, for the comparisons of test/gpu.

Limits: what the suite needs: the system tree, locations, regions with their groups, region spans with
attributes and parameters, messages, metrics, properties. Everything is kept in memory.
"""
import re
import subprocess
from collections import defaultdict

ID = re.compile(r'" <(\d+)>')


class Span:
    """A region's time on one location."""
    __slots__ = ("name", "region", "location", "start", "end", "depth", "attributes", "parameters")

    def __init__(self, name, region, location, start, depth, attributes):
        self.name, self.region, self.location = name, region, location
        self.start, self.end, self.depth, self.attributes = start, None, depth, attributes
        self.parameters = {}

    @property
    def time(self):
        return self.end - self.start

    @property
    def correlation(self):
        return self.attributes.get("CORRELATION_ID")


class Trace:
    def __init__(self, directory):
        self.directory = str(directory)
        self.locations = {}   # id -> (name, type, group id)
        self.groups = {}      # location groups: id -> (name, type, creator id or None)
        self.regions = {}     # id -> (name, set of groups, role)
        self.properties = defaultdict(dict)  # location group name -> {key: value}
        self.nodes = {}       # of the system tree: id -> (name, class)
        self.node_properties = defaultdict(dict)
        self.parents = {}     # location group -> node
        self.metrics = []     # (name, location, time, value)
        self.spans = []       # in order of their starts on each location
        self.messages = []    # (kind, location, time, peer location, tag, bytes, communicator)
        self.markers = 0
        self.resolution = 1000000000
        self.read_definitions()
        self.read_events()

    def run(self, *options):
        process = subprocess.Popen(["otf2-print", *options, self.directory + "/traces.otf2"],
                                   stdout=subprocess.PIPE, text=True, errors="replace")
        yield from process.stdout
        if process.wait():
            raise RuntimeError(f"otf2-print {' '.join(options)} failed")

    def read_definitions(self):
        for line in self.run("-G"):
            word = line.split(None, 1)[0] if line.strip() else ""
            if word == "LOCATION":
                m = re.match(r'LOCATION +(\d+) +Name: "(.*)" <\d+>, Type: (\w+), .*'
                             r'Group: ".*" <(\d+)>', line)
                self.locations[int(m[1])] = (m[2], m[3], int(m[4]))
            elif word == "LOCATION_GROUP":
                m = re.match(r'LOCATION_GROUP +(\d+) +Name: "(.*)" <\d+>, Type: (\w+), '
                             r'Parent: ".*" <(\d+)>, Creator: (?:UNDEFINED|".*" <(\d+)>)', line)
                self.groups[int(m[1])] = (m[2], m[3], int(m[5]) if m[5] else None)
                self.parents[int(m[1])] = int(m[4])
            elif word == "SYSTEM_TREE_NODE":
                m = re.match(r'SYSTEM_TREE_NODE +(\d+) +Name: "(.*?)" <\d+>, Class: "(.*?)"', line)
                self.nodes[int(m[1])] = (m[2], m[3])
            elif word == "SYSTEM_TREE_NODE_PROPERTY":
                m = re.search(r'Node: ".*?" <(\d+)>, Name: "GPUTRACE::(.*?)" <\d+>, .*Value: "(.*?)"',
                              line)
                self.node_properties[int(m[1])][m[2]] = m[3]
            elif word == "REGION":
                m = re.match(r'REGION +(\d+) +Name: "(.*?)" <\d+> .*Role: (\w+)', line)
                self.regions[int(m[1])] = (m[2], set(), m[3])
            elif word == "GROUP" and "Type: REGIONS" in line:
                name = re.search(r'Name: "(.*?)" <', line)[1]
                members = line.split("Member", 1)[-1]
                for region in ID.findall(members):
                    self.regions[int(region)][1].add(name)
            elif word == "LOCATION_GROUP_PROPERTY":
                m = re.search(r'Location Group: ".*?" <(\d+)>, Name: "GPUTRACE::(.*?)" <\d+>, '
                              r'Type: STRING, Value: "(.*)" <', line)
                if m:
                    self.properties[int(m[1])][m[2]] = m[3]

    def read_events(self):
        stacks = defaultdict(list)
        last = None           # the span or message that further attributes belong to
        for line in self.run():
            if line.startswith(" "):
                if last is not None and "ADDITIONAL ATTRIBUTES" in line:
                    for name, kind, value in re.findall(r'\("(.*?)" <\d+>; (\w+); (.*?)\)', line):
                        last[name] = int(value) if kind in ("UINT64", "INT64") else value
                continue
            field = line.split(None, 3)
            last = None
            if len(field) < 3 or not field[1].isdigit():
                continue
            what, location, time = field[0], int(field[1]), int(field[2])
            if what == "ENTER":
                region = int(line.rsplit("<", 1)[1].split(">")[0])
                stack = stacks[location]
                last = {}
                span = Span(self.regions[region][0], region, location, time, len(stack), last)
                stack.append(span)
                self.spans.append(span)
            elif what == "LEAVE":
                span = stacks[location].pop()
                span.end = time
                last = span.attributes  # of a call, its number is known at its end
            elif what.startswith("PARAMETER_"):
                m = re.search(r'Parameter: "(.*?)" <\d+>, Value: (?:"(.*)" <\d+>|(-?\d+))', line)
                if m and stacks[location]:
                    stacks[location][-1].parameters[m[1]] = m[2] if m[3] is None else int(m[3])
            elif what == "METRIC":
                for name, value in re.findall(r'\("(.*?)" <\d+>; \w+; (-?[0-9.e+-]+)\)', line):
                    self.metrics.append((name, location, time, float(value)))
            elif what in ("MPI_SEND", "MPI_RECV"):
                m = re.search(r'(?:Receiver|Sender): \d+ \(".*?" <(\d+)>\), Communicator: "(.*?)" '
                              r'<\d+>, Tag: (\d+), Length: (\d+)', line)
                self.messages.append((what[4:], location, time, int(m[1]), int(m[3]), int(m[4]),
                                      m[2]))

    # ---- what the tests ask for ----------------------------------------------------------------

    def streams(self):
        return {i for i, l in self.locations.items() if l[1] == "ACCELERATOR_STREAM"}

    def in_group(self, span, group):
        return group in self.regions[span.region][1]

    def device(self, group):
        streams = self.streams()
        return [s for s in self.spans if s.location in streams and self.in_group(s, group)]

    def activities(self):
        return [s for s in self.spans if self.locations[s.location][1] == "ACCELERATOR_STREAM" and
                self.regions[s.region][2] != "ARTIFICIAL"]

    def kernels(self):
        return self.device("CUDA_KERNEL")

    def sets(self):
        return self.device("CUDA_MEMSET")

    def copies(self, word=""):
        return [s for s in self.device("CUDA_MEMCPY") if word in s.name]

    def process_of(self, location):
        group = self.locations[location][2]
        creator = self.groups[group][2]
        return group if creator is None else creator

    def calls(self, name=None):
        """API calls on host threads, by name without its version."""
        return [s for s in self.spans if self.locations[s.location][1] == "CPU_THREAD" and
                (self.in_group(s, "CUDART_API") or self.in_group(s, "CUDRV_API")) and
                (name is None or s.name == name)]

    def property(self, key):
        """The sum of a number over all processes."""
        return sum(int(p.get(key, 0)) for p in self.properties.values())

    def devices(self):
        """{node: number of its contexts}, of the devices."""
        found = {node: 0 for node, (_, kind) in self.nodes.items() if kind == "CUDA Device"}
        for group, node in self.parents.items():
            if node in found:
                found[node] += self.groups[group][1] == "ACCELERATOR"
        return found

    # ---- rules ---------------------------------------------------------------------------------

    def order_violations(self):
        """(activities before their call, after the wait that covers them, with a known call)."""
        calls = defaultdict(list)
        waits = defaultdict(list)
        for s in self.calls():
            process = self.process_of(s.location)
            if s.correlation is not None:
                calls[process, s.correlation].append(s)
            if s.name.startswith(("cudaDeviceSynchronize", "cuCtxSynchronize")):
                waits[process].append(s)
        early = late = known = 0
        launched = defaultdict(list)  # (launch's end, end on the device)
        for s in self.spans:
            if self.locations[s.location][1] != "ACCELERATOR_STREAM" or s.correlation is None:
                continue
            process = self.process_of(s.location)
            own = calls.get((process, s.correlation))
            if not own:
                continue
            known += 1
            early += s.start < min(c.start for c in own)
            launched[process].append((max(c.end for c in own), s.end,
                                      self.locations[s.location][2]))
        for process, spans in launched.items():
            contexts = {context for _, _, context in spans}
            if len(contexts) != 1:    # a wait is for one context, and the trace does not say which
                continue
            spans.sort()
            latest, at = 0, 0
            for wait in sorted(waits[process], key=lambda w: w.start):
                while at < len(spans) and spans[at][0] <= wait.start:
                    latest = max(latest, spans[at][1])
                    at += 1
                late += latest > wait.end
        return early, late, known

    def overlaps(self):
        count, last = 0, {}
        for s in self.spans:
            if (self.locations[s.location][1] != "ACCELERATOR_STREAM" or s.depth or
                    self.regions[s.region][2] == "ARTIFICIAL"):
                continue
            count += s.start < last.get(s.location, 0)
            last[s.location] = max(s.end, last.get(s.location, 0))
        return count
