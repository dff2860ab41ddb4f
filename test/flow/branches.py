#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes an archive of one process at random: a thread that launches kernels on streams, waits for them, and makes teams.

  branches.py SEED DIR [FROM:TO [STEPS]]    prints what gputrace flow has to find, as JSON: how often something leads from a state to
                                    another one, how often each region is called, and how long each location does something;
                                    of FROM:TO (ns) alone

With STEPS (many) calls also wait again for what has been waited for, and there are 600 locations without events: of so many
flow keeps few waits each.

Odd seeds say which stream a call waits for, as CUPTI does. Times are even, so that an odd window cuts no event.
"""
import collections
import json
import random
import sys

import otf2

seed, folder = int(sys.argv[1]), sys.argv[2]
window = [int(x) for x in sys.argv[3].split(":")] if len(sys.argv) > 3 and sys.argv[3] else [0, 1 << 60]
many = int(sys.argv[4]) if len(sys.argv) > 4 else 0
dice = random.Random(seed)
said, STREAMS, WORKERS = seed % 2, dice.randrange(1, 6), 2
CUDA, OPENMP, PARALLEL = otf2.Paradigm.CUDA, otf2.Paradigm.OPENMP, otf2.RegionRole.PARALLEL
branches, calls, busy = collections.Counter(), collections.Counter(), collections.Counter()


class Location:
    """Events of one location, and what they mean."""

    def __init__(self, name, writer):
        self.name, self.writer, self.open, self.last = name, writer, [], 0
        self.first = None

    def enter(self, time, region, **attributes):
        self.first = time if self.first is None else self.first
        self.writer.enter(time, region, attributes={named[k]: v for k, v in attributes.items()})
        self.open.append((region, time))

    def leave(self, time):
        region, begin = self.open.pop()
        self.writer.leave(time, region)
        if begin < window[1] and time > window[0]:
            calls[region.name] += 1
        self.last = time

    def called(self, begin, end, region):
        self.enter(begin, region)
        self.leave(end)


def inside(time):
    return window[0] <= time < window[1]


with otf2.writer.open(folder, timer_resolution=10**9) as trace:
    defs = trace.definitions
    node = defs.system_tree_node("root")
    named = {name: defs.attribute(name, type=otf2.Type.UINT64) for name in ("CORRELATION_ID", "CUDA_STREAM")}
    group = defs.location_group("P0", system_tree_parent=node)
    device = defs.location_group("CUDA Context 1 on device 0", system_tree_parent=node, creating_location_group=group,
                                 location_group_type=otf2.LocationGroupType.ACCELERATOR)
    threads = [defs.location(f"thread {i}", group=group) for i in range(1 + WORKERS)]
    host, *workers = [Location(t.name, trace.event_writer_from_location(t)) for t in threads]
    streams = []
    for i in range(STREAMS):
        where = defs.location(f"CUDA[0:{7 + i}]", group=device, type=otf2.LocationType.ACCELERATOR_STREAM)
        streams.append(Location(where.name, trace.event_writer_from_location(where)))
        streams[-1].free, streams[-1].work = 0, []
        streams[-1].kernels = [defs.region(f"kernel {k} of {i}", description="CUDA_KERNEL", paradigm=CUDA) for k in range(2)]
    kept = {"paradigm": OPENMP, "group_flags": otf2.GroupFlag.NONE, "members": threads}
    defs.group("threads", group_type=otf2.GroupType.COMM_LOCATIONS, **kept)
    members = defs.comm("team", group=defs.group("members", group_type=otf2.GroupType.COMM_GROUP, **kept))
    for i in range(600 if many else 0):
        defs.location(f"idle {i}", group=group)
    main, step, launch = defs.region("main"), defs.region("step"), defs.region("cudaLaunchKernel", paradigm=CUDA)
    waits = {name: defs.region(name, paradigm=CUDA) for name in ("cudaDeviceSynchronize", "cuCtxSynchronize",
                                                                 "cudaStreamSynchronize", "STREAM SYNCHRONIZE")}
    teams = [defs.region(f"parallel {i}", region_role=PARALLEL, paradigm=OPENMP) for i in range(2)]
    now, number = 0, 0
    host.enter(now, main)

    def wait(stream):
        """For a stream, or all."""
        global now
        begin, now = now + 100, now + 120
        region = waits["cudaStreamSynchronize" if stream else "cudaDeviceSynchronize"]
        host.enter(begin, region)
        inner = waits["STREAM SYNCHRONIZE" if stream else "cuCtxSynchronize"]
        host.enter(begin + 10, inner, **({"CUDA_STREAM": 7 + streams.index(stream)} if stream and said else {}))
        now = max([now] + [s.free for s in ([stream] if stream else streams)]) + 4
        host.leave(now)
        host.leave(now + 10)
        now += 10
        done = {s: [w for w in s.work if w[0] <= now and inside(w[0])] for s in streams}
        last = max((s for s in streams if done[s]), key=lambda s: done[s][-1][0], default=None)
        if stream and said:
            joined = [stream]
        elif stream:
            joined = [last] if last and (len(streams) == 1 or done[last][-1][0] >= begin) else []
        else:
            joined = streams
        for s in joined:
            if done[s] and inside(now):
                branches[f"synchronize: {done[s][-1][1]} > {region.name}"] += 1
        for s in joined:
            s.work = [w for w in s.work if w not in done[s]] if inside(now) else s.work

    def kernel(stream):
        global now, number
        what, number = dice.choice(stream.kernels), number + 1
        host.enter(now + 20, launch, CORRELATION_ID=number)
        host.leave(now + 60)
        begin = max(now + 200, stream.free + 2)
        stream.free = begin + 2 * dice.randrange(200, 20000)
        stream.enter(begin, what, CORRELATION_ID=number)
        stream.leave(stream.free)
        stream.work.append((stream.free, what.name))
        busy[stream.name] += max(0, min(stream.free, window[1]) - max(begin, window[0]))
        if inside(begin) and inside(now + 20):
            branches[f"launch: cudaLaunchKernel > {what.name}"] += 1
        now += 60

    def team():
        """Some have the team begin before its region, some behind."""
        global now
        region, before = dice.choice(teams), dice.randrange(2)
        host.writer.thread_fork(now + 2, OPENMP, 1 + WORKERS)
        begin, end = now + 10, now + 10 + 2 * dice.randrange(500, 5000)
        for i, one in enumerate([host] + workers):
            if before or i:
                one.writer.thread_team_begin(begin + 4 * i, members)
            one.enter(begin + 4 * i, region)
            if not before and not i:
                one.writer.thread_team_begin(begin, members)
            one.called(begin + 4 * i + 10, end - 20, step)
            if not before and not i:
                one.writer.thread_team_end(end, members)
            one.leave(end + 4 * i)
            if before or i:
                one.writer.thread_team_end(end + 4 * i, members)
            if i and inside(begin + 4 * i) and inside(begin):
                branches[f"create: {region.name} > {region.name}"] += 1
            if i and inside(end + 4 * i) and inside(end):
                branches[f"join: {region.name} > {region.name}"] += 1
        now = end + 4 * WORKERS + 2
        host.writer.thread_join(now, OPENMP)

    for _ in range(many or dice.randrange(5, 80)):
        what = dice.randrange(8)
        if what < 4:
            kernel(dice.choice(streams))
        elif what == 4:
            for _ in range(dice.choice((1, 1, 4)) if many else 1):
                wait(None)
        elif what == 5:
            stream = dice.choice(streams)
            for _ in range(dice.choice((1, 1, 4)) if many else 1):
                wait(stream)
        elif what == 6:
            team()
        else:
            host.called(now + 10, now + 200, step)
            now += 200
        now += 2 * dice.randrange(1, 50)
    host.leave(now + 10)
for one in [host] + workers:
    if one.first is not None:
        length = min(one.last, window[1]) - max(one.first, window[0])
        if length > 0:
            busy[one.name] = length
print(json.dumps({"branches": branches, "calls": calls, "busy": busy}))
