#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes archives with calls, messages, requests, collectives, locks, counters and launches at random.

  archives.py SEED STEPS DIR [hostile]      the archive of this seed in the new directory DIR

hostile: with names that look like markup, lead from right to left, and are 4 kB long.

Two ranks with a thread more each, and a GPU stream. The archive is well-formed; the second worker is killed inside
of its regions if the seed is odd.

Limits: uses the definitions of test/check/goodtrace.py.
"""
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))

from goodtrace import (BARRIER, CUDA, GPU, MAIN, MPI, NONE, PTHREAD, RANK1, R_KERNEL, R_LOCK, R_MAIN, R_WORK, STREAM, STRINGS,
                       THREADS, Trace, UINT64, WORKER, WORLD, s)

WORKER1 = 4
HOSTILE = ["<script>alert('\"&amp;')</script>", "</script></title>]]>&<b>\u202egnol\u202c\x07", "x" * 4096, "<img src=x onerror=alert(1)>",
           "\u05e9\u05dc\u05d5\u05dd & \U0001f600"]


class Random(Trace):
    """Steps at random; each adds events at a time that grows."""

    def __init__(self, seed, steps):
        super().__init__()
        self.dice = random.Random(seed)
        self.now = 1
        self.events = {location: [] for location in (MAIN, WORKER, STREAM, RANK1, WORKER1)}
        self.attributes = {}
        self.depth = {location: [] for location in self.events}
        self.sent = {MAIN: [], RANK1: []}
        self.posted = {MAIN: [], RANK1: []}
        self.open = {MAIN: [], RANK1: []}
        self.request = self.correlation = self.order = 0
        self.stream = 2
        i = self.find("Location", RANK1)
        self.definitions[i + 1:i + 1] = [("Location", WORKER1, s("worker"), 1, None, 2)]
        self.redefine("Group", 4, s(""), 4, PTHREAD, 0, [MAIN, WORKER, RANK1, WORKER1])
        self.redefine("Group", 5, s("PTHREADS"), 5, PTHREAD, 0, [0, 1, 2, 3])
        self.run(steps, seed % 2)

    def add(self, location, *event, attribute=None):
        """An event now."""
        self.now += self.dice.randrange(3)
        if attribute:
            self.attributes[(location, len(self.events[location]))] = attribute
        self.events[location].append((self.now,) + event)

    def enter(self, location, region, **more):
        self.add(location, "Enter", region, **more)
        self.depth[location].append(region)

    def leave(self, location):
        self.add(location, "Leave", self.depth[location].pop())

    def run(self, steps, killed):
        """All of it."""
        for location, other in ((MAIN, WORKER), (RANK1, WORKER1)):
            self.add(location, "ProgramBegin", s("prog"), [])
            self.enter(location, R_MAIN)
            self.add(location, "ThreadCreate", THREADS, other)
            self.add(other, "ThreadBegin", THREADS, other)
            self.enter(other, R_WORK)
        for _ in range(steps):
            self.now += self.dice.randrange(20)
            self.dice.choice([self.call, self.call, self.call, self.send, self.receive, self.receive, self.post, self.launch,
                              self.value, self.lock, self.barrier])()
        self.finish(killed)
        self.clock[2] = max(self.now, self.stream) + 1
        self.declared = {location: len(events) for location, events in self.events.items()}

    def call(self):
        """Enters or leaves."""
        location = self.dice.choice([MAIN, WORKER, RANK1, WORKER1])
        if len(self.depth[location]) > 1 and self.dice.random() < 0.5:
            self.leave(location)
        elif len(self.depth[location]) < 9:
            self.enter(location, self.dice.choice([R_WORK, R_LOCK]))

    def send(self):
        location = self.dice.choice([MAIN, RANK1])
        tag, length = self.dice.randrange(3), self.dice.randrange(1000)
        message = [1 if location == MAIN else 0, WORLD, tag, length]
        if self.dice.random() < 0.5:
            self.add(location, "MpiSend", *message)
        else:
            self.request += 1
            self.add(location, "MpiIsend", *message, self.request)
            self.open[location].append(self.request)
        self.sent[MAIN if location == RANK1 else RANK1].append((tag, length))

    def post(self):
        """A request for a receive, or the end of one for a send."""
        location = self.dice.choice([MAIN, RANK1])
        if self.open[location]:
            self.add(location, "MpiIsendComplete", self.open[location].pop(0))
        if not self.posted[location]:
            self.request += 1
            self.add(location, "MpiIrecvRequest", self.request)
            self.posted[location].append(self.request)

    def receive(self):
        location = self.dice.choice([MAIN, RANK1])
        if not self.sent[location]:
            return
        tag, length = self.sent[location].pop(0)
        message = [1 if location == MAIN else 0, WORLD, tag, length]
        if self.posted[location]:
            self.add(location, "MpiIrecv", *message, self.posted[location].pop())
        else:
            self.add(location, "MpiRecv", *message)

    def launch(self):
        """A call, and what it makes the GPU do later."""
        self.correlation += 1
        tie = (1, UINT64, self.correlation)
        self.enter(MAIN, R_WORK, attribute=tie)
        begun = self.now
        self.leave(MAIN)
        self.stream = max(self.stream, begun) + self.dice.randrange(30)
        self.attributes[(STREAM, len(self.events[STREAM]))] = tie
        self.events[STREAM].append((self.stream, "Enter", R_KERNEL))
        self.stream += self.dice.randrange(40)
        self.events[STREAM].append((self.stream, "Leave", R_KERNEL))

    def value(self):
        location = self.dice.choice([MAIN, WORKER, RANK1])
        self.add(location, "Metric", 0, [UINT64], [self.dice.randrange(1 << 40)])
        self.add(location, "ParameterUnsignedInt", 0, self.dice.randrange(1 << 40))

    def lock(self):
        location = self.dice.choice([MAIN, WORKER])
        self.order += 1
        self.add(location, "ThreadAcquireLock", PTHREAD, 5, self.order)
        self.add(location, "ThreadReleaseLock", PTHREAD, 5, self.order)

    def barrier(self):
        for event in (("MpiCollectiveBegin",), ("MpiCollectiveEnd", BARRIER, WORLD, NONE, 0, 0)):
            for location in (MAIN, RANK1):
                self.add(location, *event)

    def finish(self, killed):
        """What is open is closed, but for one who is killed."""
        for location in (MAIN, RANK1):
            while self.sent[location]:
                tag, length = self.sent[location].pop(0)
                self.add(location, "MpiRecv", 1 if location == MAIN else 0, WORLD, tag, length)
        for location, other in ((MAIN, WORKER), (RANK1, WORKER1)):
            if other == WORKER1 and killed:
                self.properties["GPUTRACE::PROCESSES_KILLED"] = "1"
                self.depth[other] = []
            while self.depth[other]:
                self.leave(other)
            if not (other == WORKER1 and killed):
                self.add(other, "ThreadEnd", THREADS, other)
                self.add(location, "ThreadWait", THREADS, other)
            while self.depth[location]:
                self.leave(location)
            self.add(location, "ProgramEnd", 0)


if __name__ == "__main__":
    archive = Random(int(sys.argv[1]), int(sys.argv[2]))
    for place, name in enumerate(["main", "work", "worker", "CUDA[0:7]", "Process 0"]) if "hostile" in sys.argv else []:
        archive.redefine("String", s(name), HOSTILE[place])
    archive.write(sys.argv[3])
