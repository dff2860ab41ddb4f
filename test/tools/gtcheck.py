#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""An independent reader and checker of OTF2 archives for the end-to-end tests.

Reads an archive with the OTF2 Python bindings (nothing of gputrace) and prints one JSON object.

  gtcheck.py [--fields LIST] [--json FILE] DIR|ANCHOR

With --json the object goes to FILE, and what is wrong is printed as text on stderr.

Exit status: 0 the trace is sound, 1 it is not (see "errors"), 2 it cannot be read.

The JSON object:
  ok, errors        true and [] if every rule holds; else up to 50 sentences
  error_count       how many there were
  archive           creator, description, machine, version, trace_id, locations, definitions
  properties        {name: value} of the archive
  clock             resolution, offset, length, realtime
  events            number of all events that were read
  event_types       {"Enter": n, "ThreadCreate": n, ...}
  regions           {name: {enter, leave, inclusive, exclusive, depth, canonical, file, line,
                     role, paradigm, flags, description, definitions}}; regions of one name are
                     added up, `definitions` says how many there are, `files` where they are;
                     times are in ticks, inclusive counts recursion once
  locations         [{id, name, type, group, events, declared, first, last, max_depth, open,
                     regions: {name: enters}, properties}]
  location_groups   [{id, name, type, parent, creator, locations, properties}]
  system            [{id, name, class, parent, domains, properties}]
  groups            [{id, name, type, paradigm, members}]: members are names
  comms             [{id, name, group, parent}]
  messages          {sends, receives, bytes_sent, bytes_received, pairs: {"comm:src->dst:tag":
                     [sends, receives]}}
  metrics           {name: {unit, count, first, last, min, max, sum, mode, type}}
  parameters        {name: {count, values: the first 20}}
  attributes        {name: how often an event carries it}
  markers           [{time, group, category, severity, scope, scope_ref, text}]
  threads           {create, begin, end, wait}
  locks             {acquire, release, ids}
  programs          [{location, begin, name, arguments, end, status}]

Limits: needs memory for one small record per lock, message pair and region, none per event.
Rules checked: time order, balance, declared counts, clock range, messages in pairs, locks in
order. Undefined references surface as unreadable, because the bindings refuse them.
"""
import argparse
import ctypes
import json
import os
import sys
from collections import Counter, defaultdict

import otf2
import _otf2
from otf2 import attribute_value

MAX_ERRORS = 50


def plain(value):
    """A value that JSON can hold."""
    if isinstance(value, (int, float, str, bool)) or value is None:
        return value
    if hasattr(value, "name"):
        return value.name
    return str(value)


def enum_name(value):
    """ROLE from RegionRole.ROLE, whatever the bindings make of it."""
    return str(value).rsplit(".", 1)[-1]


def text_of(raw):
    """A string of the library."""
    return (raw or b"").decode("utf-8", "backslashreplace")


def properties_of(definition):
    return {key: plain(prop.value) for key, prop in definition._properties.items()}


class Trace:
    def __init__(self, path):
        self.errors = []
        self.error_count = 0
        self.path = path
        self.reader = otf2.reader.Reader(path)
        self.defs = self.reader.definitions
        self.handle = self.reader.handle
        self.types = Counter()
        self.attributes = Counter()
        self.messages = defaultdict(lambda: [0, 0])
        self.bytes = [0, 0]
        self.parameters = {}
        self.metrics = {}
        self.locks = {}
        self.lock_events = []
        self.programs = []
        self.threads = Counter()
        self.enters = Counter()
        self.leaves = Counter()
        self.inclusive = Counter()
        self.exclusive = Counter()
        self.max_depth = Counter()
        self.ranks = {}
        clock = self.defs.clock_properties
        self.begin = clock.global_offset
        self.end = clock.global_offset + clock.trace_length

    def error(self, *words):
        self.error_count += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(" ".join(str(w) for w in words))

    # ---- events -------------------------------------------------------------------------

    def read_location(self, location):
        """Reads all events of one location; returns its entry of "locations"."""
        h, ref = self.handle, location._ref
        state = {"n": 0, "first": None, "last": None, "stack": [], "depth": 0, "program": None,
                 "sends": {}, "failed": False, "sent": None}
        active = Counter()
        regions = Counter()
        name = location.name

        def tick(time, attributes):
            state["n"] += 1
            if state["first"] is None:
                state["first"] = time
            elif time < state["last"]:
                self.error("location", repr(name), "event", state["n"], "goes back from",
                           state["last"], "to", time)
            state["last"] = time
            if not self.begin <= time <= self.end:
                self.error("location", repr(name), "event", state["n"], "at", time,
                           "lies outside the clock range", self.begin, self.end)
            state["failed"] = False
            if attributes:
                for i in range(_otf2.AttributeList_GetNumberOfElements(attributes)):
                    key = _otf2.AttributeList_GetAttributeByIndex(attributes, i)[0]
                    self.attributes[self.defs.attributes[key].name] += 1
                    state["failed"] |= self.defs.attributes[key].name == "MPI_ERROR"

        def enter(_, time, pos, data, attributes, region):
            tick(time, attributes)
            state["sent"] = None
            self.enters[region] += 1
            regions[region] += 1
            active[region] += 1
            self.max_depth[region] = max(self.max_depth[region], active[region])
            state["stack"].append([region, time, 0])
            state["depth"] = max(state["depth"], len(state["stack"]))

        def leave(_, time, pos, data, attributes, region):
            tick(time, attributes)
            if state["failed"]:
                self.retract(state["sent"])
            state["sent"] = None
            self.leaves[region] += 1
            stack = state["stack"]
            if not stack:
                self.error("location", repr(name), "event", state["n"],
                           "leaves", self.region_name(region), "but none is open")
                return
            if stack[-1][0] != region:
                self.error("location", repr(name), "event", state["n"], "leaves",
                           self.region_name(region), "inside", self.region_name(stack[-1][0]))
            top, start, inner = stack.pop()
            active[top] -= 1
            span = time - start
            self.exclusive[top] += span - inner
            if not active[top]:
                self.inclusive[top] += span
            if stack:
                stack[-1][2] += span

        def other(event):
            def callback(_, time, pos, data, attributes, *args):
                tick(time, attributes)
                self.types[event] += 1
                handler = getattr(self, "on_" + event, None)
                if handler:
                    handler(location, state, time, *args)
            return callback

        callbacks = _otf2.EvtReaderCallbacks_New()
        keep = [enter, leave]
        prefix, suffix = "EvtReaderCallbacks_Set", "Callback"
        for setter in dir(_otf2):
            if not (setter.startswith(prefix) and setter.endswith(suffix)):
                continue
            event = setter[len(prefix):-len(suffix)]
            function = {"Enter": enter, "Leave": leave}.get(event) or other(event)
            keep.append(function)
            getattr(_otf2, setter)(callbacks, function)
        evt_reader = _otf2.Reader_GetEvtReader(h, ref)
        _otf2.EvtReader_SetCallbacks(evt_reader, callbacks, None)
        _otf2.EvtReaderCallbacks_Delete(callbacks)
        _otf2.Reader_ReadAllLocalEvents(h, evt_reader)
        _otf2.Reader_CloseEvtReader(h, evt_reader)

        self.types["Enter"] += sum(regions.values())
        if state["stack"]:
            self.error("location", repr(name), "ends inside",
                       ", ".join(self.region_name(f[0]) for f in state["stack"][:5]))
        if state["n"] != location.number_of_events:
            self.error("location", repr(name), "declares", location.number_of_events,
                       "events but holds", state["n"])
        entered = Counter()
        for region, count in regions.items():
            entered[self.region_name(region)] += count
        return {"id": ref, "name": name, "type": enum_name(location.type),
                "group": location.group.name, "group_id": location.group._ref,
                "events": state["n"], "declared": location.number_of_events,
                "first": state["first"], "last": state["last"],
                "max_depth": state["depth"], "open": len(state["stack"]),
                "regions": dict(entered), "properties": properties_of(location)}

    def region_name(self, ref):
        return self.defs.regions[ref].name

    def rank(self, comm, location):
        """The rank of a location, or else of its process, in a communicator, or None."""
        if enum_name(self.defs.comms[comm].group.group_type) == "COMM_SELF":
            return 0
        if comm not in self.ranks:
            members = self.defs.comms[comm].group.members
            self.ranks[comm] = ({m._ref: i for i, m in enumerate(members)},
                                {m.group._ref: i for i, m in enumerate(members)})
        locations, processes = self.ranks[comm]
        return locations.get(location._ref, processes.get(location.group._ref))

    def message(self, location, comm, peer, tag, size, receive):
        own = self.rank(comm, location)
        if own is None:
            self.error("location", repr(location.name), "is no member of communicator", comm)
            return None
        pair = (peer, own) if receive else (own, peer)
        key = (comm, pair[0], pair[1], tag)
        self.messages[key][receive] += 1
        self.bytes[receive] += size
        return key, size

    def on_MpiSend(self, location, state, time, peer, comm, tag, size):
        state["sent"] = self.message(location, comm, peer, tag, size, 0)

    def on_MpiIsend(self, location, state, time, peer, comm, tag, size, request):
        state["sends"][request] = self.message(location, comm, peer, tag, size, 0)

    def on_MpiIsendComplete(self, location, state, time, request):
        state["sends"].pop(request, None)

    def on_MpiRequestCancelled(self, location, state, time, request):
        self.retract(state["sends"].pop(request, None))

    def retract(self, sent):
        if sent:
            self.messages[sent[0]][0] -= 1
            self.bytes[0] -= sent[1]

    def on_MpiRecv(self, location, state, time, peer, comm, tag, size):
        if state["failed"]:  # cut: not what the call sent itself
            state["sent"] = None
        self.message(location, comm, peer, tag, size, 1)

    def on_MpiIrecv(self, location, state, time, peer, comm, tag, size, request):
        self.message(location, comm, peer, tag, size, 1)

    def on_ThreadCreate(self, *_):
        self.threads["create"] += 1

    def on_ThreadBegin(self, *_):
        self.threads["begin"] += 1

    def on_ThreadEnd(self, *_):
        self.threads["end"] += 1

    def on_ThreadWait(self, *_):
        self.threads["wait"] += 1

    def lock(self, location, state, lock, order, release):
        group = location.group._ref
        entry = self.locks.setdefault((group, lock), {"acquire": 0, "release": 0, "orders": {}})
        if not release:
            entry["acquire"] += 1
            if order in entry["orders"]:
                self.error("lock", lock, "order", order, "is acquired twice")
            entry["orders"][order] = location._ref
        else:
            entry["release"] += 1
            if entry["orders"].pop(order, None) != location._ref:
                self.error("lock", lock, "order", order, "is released by", repr(location.name),
                           "event", state["n"], "which does not hold it")

    def on_ThreadAcquireLock(self, location, state, time, model, lock, order):
        self.lock(location, state, lock, order, False)

    def on_ThreadReleaseLock(self, location, state, time, model, lock, order):
        self.lock(location, state, lock, order, True)

    def on_ProgramBegin(self, location, state, time, name, arguments):
        state["program"] = {"location": location.name, "begin": time,
                            "name": self.defs.strings[name],
                            "arguments": [self.defs.strings[a] for a in arguments],
                            "end": None, "status": None}
        self.programs.append(state["program"])

    def on_ProgramEnd(self, location, state, time, status):
        if state["program"] is None:
            self.error("location", repr(location.name), "ends a program that never began")
            return
        state["program"]["end"] = time
        state["program"]["status"] = status

    def parameter(self, ref, value):
        entry = self.parameters.setdefault(self.defs.parameters[ref].name,
                                           {"count": 0, "values": []})
        entry["count"] += 1
        if len(entry["values"]) < 20:
            entry["values"].append(value)

    def on_ParameterString(self, location, state, time, ref, string):
        self.parameter(ref, self.defs.strings[string])

    def on_ParameterInt(self, location, state, time, ref, value):
        self.parameter(ref, value)

    def on_ParameterUnsignedInt(self, location, state, time, ref, value):
        self.parameter(ref, value)

    def on_Metric(self, location, state, time, ref, types, values):
        metric = self.defs.metrics[ref]
        members = getattr(metric, "members", None) or metric.metric_class.members
        for member, value in zip(members, values):
            number = member._convert_union(value)
            entry = self.metrics.setdefault(member.name, {
                "unit": member.unit, "description": member.description,
                "mode": enum_name(member.metric_mode), "type": enum_name(member.value_type),
                "count": 0, "first": number, "min": number, "max": number, "sum": 0})
            entry["count"] += 1
            entry["last"] = number
            entry["min"] = min(entry["min"], number)
            entry["max"] = max(entry["max"], number)
            entry["sum"] += number

    def read_events(self):
        locations = list(self.defs.locations)
        for location in locations:
            _otf2.Reader_SelectLocation(self.handle, location._ref)
        local = True
        try:
            _otf2.Reader_OpenDefFiles(self.handle)
        except _otf2.Error:
            local = False
        _otf2.Reader_OpenEvtFiles(self.handle)
        result = []
        for location in locations:
            if local:
                reader = _otf2.Reader_GetDefReader(self.handle, location._ref)
                if reader:
                    _otf2.Reader_ReadAllLocalDefinitions(self.handle, reader)
                    _otf2.Reader_CloseDefReader(self.handle, reader)
            result.append(self.read_location(location))
        if local:
            _otf2.Reader_CloseDefFiles(self.handle)
        _otf2.Reader_CloseEvtFiles(self.handle)
        self.types["Leave"] = sum(self.leaves.values())
        for (comm, src, dst, tag), (sends, receives) in sorted(self.messages.items()):
            if sends != receives:
                self.error("communicator", comm, "from", src, "to", dst, "tag", tag, "has", sends,
                           "sends but", receives, "receives")
        return result

    def read_markers(self):
        names, markers = {}, []

        def define(_, ref, group, category, severity):
            names[ref] = (text_of(group), text_of(category), severity)
            return 0

        def mark(_, time, duration, ref, scope, scope_ref, text):
            group, category, severity = names.get(ref, (None, None, None))
            if group is None:
                self.error("marker", ref, "is not defined")
            if not self.begin <= time <= self.end:
                self.error("marker at", time, "lies outside the clock range")
            markers.append({"time": time, "duration": duration, "group": group,
                            "category": category, "severity": severity, "scope": scope,
                            "scope_ref": scope_ref, "text": text_of(text)})
            return 0

        if not os.path.exists(os.path.splitext(self.path)[0] + ".marker"):
            return markers
        # By hand: the bindings' wrappers of these callbacks and of ReadAllMarkers are broken.
        c = ctypes
        lib = c.CDLL(_otf2.Config.lib_path())
        define_type = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_uint32, c.c_char_p, c.c_char_p,
                                  c.c_uint8)
        mark_type = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_uint64, c.c_uint64, c.c_uint32,
                                c.c_uint8, c.c_uint64, c.c_char_p)
        keep = define_type(define), mark_type(mark)
        new = lib.OTF2_MarkerReaderCallbacks_New
        new.restype = c.c_void_p
        callbacks = c.c_void_p(new())
        lib.OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks, keep[0])
        lib.OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, keep[1])
        reader = _otf2.Reader_GetMarkerReader(self.handle)
        lib.OTF2_MarkerReader_SetCallbacks(reader, callbacks, None)
        lib.OTF2_MarkerReaderCallbacks_Delete(callbacks)
        while _otf2.MarkerReader_ReadMarkers(reader, 1000) == 1000:
            pass
        _otf2.Reader_CloseMarkerReader(self.handle, reader)
        return markers

    # ---- result -------------------------------------------------------------------------

    def region_table(self):
        table = {}
        for region in self.defs.regions:
            ref = region._ref
            row = table.setdefault(region.name, {
                "enter": 0, "leave": 0, "inclusive": 0, "exclusive": 0, "depth": 0,
                "canonical": region.canonical_name, "file": region.source_file,
                "line": region.begin_line_number, "role": enum_name(region.region_role),
                "paradigm": enum_name(region.paradigm), "flags": plain(region.region_flags.value),
                "description": region.description, "definitions": 0, "files": []})
            row["enter"] += self.enters[ref]
            row["leave"] += self.leaves[ref]
            row["inclusive"] += self.inclusive[ref]
            row["exclusive"] += self.exclusive[ref]
            row["depth"] = max(row["depth"], self.max_depth[ref])
            row["definitions"] += 1
            row["files"].append(region.source_file)
        return table

    def summary(self):
        h, defs = self.handle, self.defs
        locations = self.read_events()
        markers = self.read_markers()
        clock = defs.clock_properties
        domains = defaultdict(list)
        for domain in defs.system_tree_node_domains:
            domains[domain.system_tree_node._ref].append(enum_name(domain.system_tree_node_domain))
        return {
            "ok": not self.error_count,
            "errors": self.errors,
            "error_count": self.error_count,
            "archive": {"creator": _otf2.Reader_GetCreator(h),
                        "description": _otf2.Reader_GetDescription(h),
                        "machine": _otf2.Reader_GetMachineName(h),
                        "version": list(_otf2.Reader_GetVersion(h)),
                        "trace_id": _otf2.Reader_GetTraceId(h),
                        "locations": _otf2.Reader_GetNumberOfLocations(h),
                        "definitions": _otf2.Reader_GetNumberOfGlobalDefinitions(h)},
            "properties": {key: _otf2.Reader_GetProperty(h, key)
                           for key in _otf2.Reader_GetPropertyNames(h)},
            "clock": {"resolution": clock.timer_resolution, "offset": clock.global_offset,
                      "length": clock.trace_length, "realtime": clock.realtime_timestamp},
            "events": sum(entry["events"] for entry in locations),
            "event_types": dict(+self.types),
            "regions": self.region_table(),
            "locations": locations,
            "location_groups": [
                {"id": g._ref, "name": g.name, "type": enum_name(g.location_group_type),
                 "parent": g.system_tree_parent.name if g.system_tree_parent else None,
                 "creator": g.creating_location_group.name if g.creating_location_group else None,
                 "locations": [e["name"] for e in locations if e["group_id"] == g._ref],
                 "properties": properties_of(g)} for g in defs.location_groups],
            "system": [{"id": n._ref, "name": n.name, "class": n.class_name,
                        "parent": n.parent.name if n.parent else None,
                        "domains": domains[n._ref], "properties": properties_of(n)}
                       for n in defs.system_tree_nodes],
            "groups": [{"id": g._ref, "name": g.name, "type": enum_name(g.group_type),
                        "paradigm": enum_name(g.paradigm),
                        "members": [plain(m) for m in g.members]} for g in defs.groups],
            "comms": [{"id": c._ref, "name": c.name,
                       "group": c.group.name if getattr(c, "group", None) else None,
                       "parent": c.parent.name if getattr(c, "parent", None) else None}
                      for c in defs.comms],
            "messages": {"sends": sum(p[0] for p in self.messages.values()),
                         "receives": sum(p[1] for p in self.messages.values()),
                         "bytes_sent": self.bytes[0], "bytes_received": self.bytes[1],
                         "pairs": {"%s:%d->%d:%d" % (defs.comms[k[0]].name, k[1], k[2], k[3]): v
                                   for k, v in sorted(self.messages.items())}},
            "metrics": self.metrics,
            "parameters": self.parameters,
            "attributes": dict(self.attributes),
            "markers": markers,
            "threads": {key: self.threads[key] for key in ("create", "begin", "end", "wait")},
            "locks": {"acquire": sum(e["acquire"] for e in self.locks.values()),
                      "release": sum(e["release"] for e in self.locks.values()),
                      "ids": len(self.locks),
                      "held": sum(len(e["orders"]) for e in self.locks.values())},
            "programs": self.programs,
        }


def main():
    parser = argparse.ArgumentParser(description="Checks an OTF2 archive, prints JSON.")
    parser.add_argument("--fields", help="print these keys only, separated by commas")
    parser.add_argument("--json", metavar="FILE", help="write the JSON there")
    parser.add_argument("trace", help="archive directory or anchor file (.otf2)")
    args = parser.parse_args()
    path = args.trace
    if os.path.isdir(path):
        path = os.path.join(path, "traces.otf2")
    status = 0
    try:
        result = Trace(path).summary()
        if result["error_count"]:
            status = 1
    except Exception as problem:  # the bindings raise many kinds; all mean the same here
        result = {"ok": False, "error_count": 1,
                  "errors": ["%s: %s" % (type(problem).__name__, problem)]}
        status = 2
    chosen = args.fields.split(",") if args.fields else list(result)
    text = json.dumps({key: result[key] for key in chosen if key in result}, indent=1,
                      default=plain)
    if not args.json:
        print(text)
        return status
    with open(args.json, "w", encoding="utf-8") as out:
        out.write(text + "\n")
    for sentence in result["errors"]:
        print(sentence, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
