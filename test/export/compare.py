#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares an export with its archive, as python3-otf2 reads it.

  compare.py ANCHOR FORMAT EXPORT [FROM TO [NAME]]      FROM, TO: ns; NAME: of the only location

Every call, message, value and launch must be there, with the same times; and nothing else.

Limits: archives whose clock ticks in nanoseconds; messages by their order.
"""
import csv
import json
import os
import sqlite3
import sys
from collections import Counter, defaultdict
from decimal import Decimal

import otf2
from otf2 import events as E


class Archive:
    """What is in the window of the archive."""

    def __init__(self, anchor, begin, end, only):
        self.calls, self.values, self.parameters, self.collectives = Counter(), Counter(), Counter(), Counter()
        self.folded = Counter()
        self.begin, self.end, self.only = begin, end, only
        self.sends, self.receives = defaultdict(list), defaultdict(list)
        self.ties = defaultdict(list)
        stacks = defaultdict(list)
        with otf2.reader.open(anchor) as trace:
            clock = trace.definitions.clock_properties
            assert clock.timer_resolution == 10 ** 9
            self.duration = clock.trace_length
            posted = {}
            last = {}
            for location, event in trace.events:
                time = event.time - clock.global_offset
                last[location] = time
                self.take(location, event, time, stacks[location], posted)
            for location, stack in stacks.items():
                while stack:
                    self.leave(location, stack, last[location], False)

    @staticmethod
    def process(location):
        """Of an accelerator with the name of the process that it belongs to: all ranks have a GPU 0."""
        creator = location.group.creating_location_group
        return (creator.name + ": " if creator else "") + location.group.name

    def name(self, location):
        return self.process(location) + "/" + location.name

    def inside(self, location, *times):
        return all(self.begin <= t < self.end for t in times) and self.only in (None, location.name)

    def leave(self, location, stack, time, whole):
        """A call ends: what of it is in the window."""
        region, begin = stack[-1]
        path = ";".join([self.process(location), location.name] + [f[0].name for f in stack]).replace("\x1b", "\\x1b")
        stack.pop()
        if time < self.begin or begin >= self.end or self.only not in (None, location.name):
            return
        left, right = max(begin, self.begin), min(time, self.end)
        self.calls[self.name(location), region.name, left, right, len(stack) + 1,
                   int(whole and begin >= self.begin and time < self.end)] += 1
        self.folded[path] += right - left
        if stack:
            self.folded[path.rsplit(";", 1)[0]] -= right - left

    def take(self, location, event, time, stack, posted):
        """One event."""
        if isinstance(event, E.Enter):
            stack.append((event.region, time))
            for attribute, value in (event.attributes or {}).items():
                if attribute.name == "CORRELATION_ID":
                    self.ties[value].append((location, time, event.region.name))
        elif isinstance(event, E.Leave):
            self.leave(location, stack, time, True)
        elif isinstance(event, (E.MpiSend, E.MpiIsend)):
            # Members of both communicators of these archives are numbered as their groups have them.
            self.sends[event.communicator.name, event.msg_tag, location, event.receiver].append((time, event.msg_length))
        elif isinstance(event, E.MpiIrecvRequest):
            posted[location, event.request_id] = time
        elif isinstance(event, (E.MpiRecv, E.MpiIrecv)):
            order = posted.get((location, getattr(event, "request_id", None)), time)
            self.receives[event.communicator.name, event.msg_tag, location, event.sender].append(
                (order, time, event.msg_length))
        elif isinstance(event, E.Metric) and self.inside(location, time):
            for member, value in zip(event.metric.members, event.values):
                self.values[self.name(location), member.name, time, value] += 1
        elif isinstance(event, E.ParameterUnsignedInt) and self.inside(location, time):
            self.parameters[self.name(location), event.parameter.name, time, str(event.value)] += 1
        elif isinstance(event, E.MpiCollectiveEnd) and self.inside(location, time):
            self.collectives[self.name(location), time, event.communicator.name] += 1

    def messages(self):
        """Sender, receiver, times and lengths."""
        found = Counter()
        for (comm, tag, to, _), receives in self.receives.items():
            sends = [(k, v) for k, v in self.sends.items() if k[0] == comm and k[1] == tag and k[2] is not to]
            assert len(sends) == 1
            key, sent = sends[0]
            assert len(sent) == len(receives)
            for (begin, length), (_, end, got) in zip(sent, sorted(receives)):
                assert length == got
                if self.inside(key[2], begin) and self.inside(to, end):
                    found[self.name(key[2]), self.name(to), begin, end, tag, length] += 1
        return found

    def launches(self):
        """Time of the call, and of what it made the device do."""
        found = Counter()
        for ends in self.ties.values():
            calls = [e for e in ends if e[0].type != otf2.LocationType.ACCELERATOR_STREAM]
            for end in ends:
                if end not in calls and self.inside(end[0], end[1]) and self.inside(calls[0][0], calls[0][1]):
                    found[calls[0][1], end[1]] += 1
        return found


def same(what, got, want):
    if got == want:
        return
    print("%s differ: %d, should be %d" % (what, sum(got.values()), sum(want.values())))
    print("  too many:", list((got - want).items())[:5])
    print("  missing: ", list((want - got).items())[:5])
    sys.exit(1)


def sum_of(pairs):
    total = Counter()
    for key, n in pairs:
        total[key] += n
    return total


def check_chrome(archive, path):
    """Complete events, flow events by number, counters."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f, parse_float=Decimal)["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}

    def who(event):
        return processes[event["pid"]] + "/" + names[event["tid"]]

    def ns(time):
        time *= 1000
        assert time == int(time)
        return int(time)

    same("calls", sum_of(((who(e), e["name"], ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e.get("args", {}).get("whole", True)), 1)
                         for e in events if e["ph"] == "X"),
         sum_of((k[:4] + (bool(k[5]),), n) for k, n in archive.calls.items()))
    same("values", sum_of(((who(e), e["name"], ns(e["ts"]), e["args"]["value"]), 1) for e in events if e["ph"] == "C"),
         archive.values)
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert begins.keys() == ends.keys()
    same("messages", sum_of(((who(b), who(ends[i]), ns(b["ts"]), ns(ends[i]["ts"]), b["args"]["tag"], b["args"]["bytes"]), 1)
                            for i, b in begins.items() if b["cat"] == "message"), archive.messages())
    same("launches", sum_of(((ns(b["ts"]), ns(ends[i]["ts"])), 1) for i, b in begins.items() if b["cat"] == "launch"),
         archive.launches())
    assert {e["ph"] for e in events} <= set("MXCsf")


def check_speedscope(archive, path):
    """Profiles are replayed."""
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert all(isinstance(f["name"], str) for f in frames)
    assert all(f.get("line", 1) >= 1 for f in frames)
    calls = Counter()
    for profile in document["profiles"]:
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds"
        stack, before = [], profile["startValue"]
        for event in profile["events"]:
            assert before <= event["at"] <= profile["endValue"]
            before = event["at"]
            if event["type"] == "O":
                stack.append(event)
                continue
            assert event["type"] == "C" and event["frame"] == stack[-1]["frame"]
            begin = stack.pop()["at"]
            calls[profile["name"], frames[event["frame"]]["name"], begin, event["at"], len(stack) + 1] += 1
        assert not stack
    same("calls", calls, sum_of((k[:5], n) for k, n in archive.calls.items()))


def check_folded(archive, path):
    """Time in each call path itself."""
    got = Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            stack, time = line.rstrip("\n").rsplit(" ", 1)
            got[stack] += int(time)
    same("call paths", got, Counter({k: n for k, n in archive.folded.items() if n}))


def check_perfetto(archive, path):
    """Packets are replayed, by the classes that protoc made of packets.proto."""
    sys.path.insert(0, os.environ["PACKETS"])
    import packets_pb2
    with open(path, "rb") as f:
        everything = packets_pb2.All.FromString(f.read())
    processes, who, counters, names = {}, {}, {}, defaultdict(dict)
    calls, values, begins, ends = Counter(), Counter(), {}, {}
    stacks = defaultdict(list)
    for packet in everything.packet:
        assert not packet.UnknownFields() if hasattr(packet, "UnknownFields") else True
        if packet.sequence_flags & 1:
            names[packet.trusted_packet_sequence_id] = {}
        for name in packet.interned_data.event_names:
            names[packet.trusted_packet_sequence_id][name.iid] = name.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.HasField("process"):
                processes[track.process.pid] = track.process.process_name
            elif track.HasField("thread"):
                who[track.uuid] = processes[track.thread.pid] + "/" + track.thread.thread_name
            else:
                counters[track.uuid] = (who[track.parent_uuid], track.name)
            continue
        event, time = packet.track_event, packet.timestamp
        if event.type == 1:
            assert packet.sequence_flags & 2
            stacks[event.track_uuid].append((names[packet.trusted_packet_sequence_id][event.name_iid], time))
        elif event.type == 2:
            stack = stacks[event.track_uuid]
            name, begin = stack.pop()
            calls[who[event.track_uuid], name, begin, time, len(stack) + 1] += 1
        elif event.type == 4:
            values[counters[event.track_uuid] + (time, event.counter_value)] += 1
        else:
            assert event.type == 3
            for flow in event.flow_ids:
                begins[flow] = (event.name, who[event.track_uuid], time, [a.uint_value for a in event.debug_annotations])
            for flow in event.terminating_flow_ids:
                ends[flow] = (who[event.track_uuid], time)
    assert not any(stacks.values()) and begins.keys() == ends.keys()
    same("calls", calls, sum_of((k[:5], n) for k, n in archive.calls.items()))
    same("values", values, archive.values)
    same("messages", sum_of(((b[1], ends[i][0], b[2], ends[i][1], b[3][0]), 1) for i, b in begins.items() if b[0] == "message"),
         sum_of((k[:4] + k[5:], n) for k, n in archive.messages().items()))
    same("launches", sum_of(((b[2], ends[i][1]), 1) for i, b in begins.items() if b[0] == "launch"), archive.launches())


def check_tables(archive, rows):
    """`rows` gives a table as dictionaries."""
    processes = {r["process"]: r for r in rows("processes")}
    creators = {p: processes[r["creator"]]["name"] + ": " if r["creator"] is not None else "" for p, r in processes.items()}
    who = {r["thread"]: creators[r["process"]] + processes[r["process"]]["name"] + "/" + r["name"] for r in rows("threads")}
    regions = {r["region"]: r["name"] for r in rows("regions")}
    metrics = {r["metric"]: r["name"] for r in rows("metrics")}
    comms = {r["communicator"]: r["name"] for r in rows("communicators")}
    calls = {r["call"]: r for r in rows("calls")}
    same("calls", sum_of(((who[r["thread"]], regions[r["region"]], r["begin_ns"], r["end_ns"], r["depth"], r["whole"]), 1)
                         for r in calls.values()), archive.calls)
    inside = Counter()
    for r in calls.values():
        if r["parent"] is not None:
            parent = calls[r["parent"]]
            assert parent["thread"] == r["thread"] and parent["depth"] == r["depth"] - 1
            inside[r["parent"]] += r["end_ns"] - r["begin_ns"]
    for number, r in calls.items():
        assert r["self_ns"] == r["end_ns"] - r["begin_ns"] - inside[number]
    same("values", sum_of(((who[r["thread"]], metrics[r["metric"]], r["time_ns"], r["value"]), 1)
                          for r in rows("metric_values")), archive.values)
    assert all(r["integer"] == r["value"] for r in rows("metric_values"))
    same("parameters", sum_of(((who[r["thread"]], r["name"], r["time_ns"], r["value"]), 1) for r in rows("parameters")),
         archive.parameters)
    same("collectives", sum_of(((who[r["thread"]], r["end_ns"], comms[r["communicator"]]), 1)
                               for r in rows("collectives")), archive.collectives)
    same("messages", sum_of(((who[r["sender"]], who[r["receiver"]], r["send_ns"], r["receive_ns"], r["tag"], r["bytes"]), 1)
                            for r in rows("messages")), archive.messages())
    same("launches", sum_of(((calls[r["call"]]["begin_ns"], calls[r["activity"]]["begin_ns"]), 1)
                            for r in rows("launches")), archive.launches())
    assert {r["name"]: r["value"] for r in rows("info")}["duration_ns"] == str(archive.duration)


def check_sqlite(archive, path):
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    check_tables(archive, lambda table: [dict(r) for r in database.execute("SELECT * FROM " + table)])


def check_csv(archive, path):
    texts = {"name", "kind", "canonical", "paradigm", "operation", "file", "unit", "description"}

    def value(table, column, text):
        if column in texts or (column == "value" and table != "metric_values"):
            return text
        return int(text) if text else None

    def rows(table):
        with open(os.path.join(path, table + ".csv"), newline="", encoding="utf-8") as f:
            return [{c: value(table, c, v) for c, v in r.items()} for r in csv.DictReader(f)]

    check_tables(archive, rows)


if __name__ == "__main__":
    window = [int(a) for a in sys.argv[4:6]] or [0, 1 << 63]
    wanted = Archive(sys.argv[1], *window, sys.argv[6] if len(sys.argv) > 6 else None)
    globals()["check_" + sys.argv[2]](wanted, sys.argv[3])
    print("%d calls, %d messages, %d launches" % (sum(wanted.calls.values()), sum(wanted.messages().values()),
                                                  sum(wanted.launches().values())))
