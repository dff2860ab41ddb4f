#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plays a random script in Python: functions, generators, coroutines, exceptions, threads, children and ends.

  play.py SCRIPT TRUTH     does what the lines of SCRIPT say (as play.c), and counts itself in TRUTH (truth.h)

soak.py takes script() from here. Each function counts itself; what is traced beside them is not compared.

Limits: names are those of functions of __main__, as VT_PYTHON=yes has them.
"""
import asyncio
import contextlib
import ctypes
import mmap
import os
import random
import signal
import sys
import threading

NAMES = [f"g{i}" for i in range(6)] + ["maker", "waiter", "raiser", "catcher", "sorter", "Thing.method", "Thing.make",
                                       "recurse"]


class Truth(ctypes.Structure):
    """struct truth."""

    class Of(ctypes.Structure):
        """Of a name."""

        _fields_ = [("name", ctypes.c_char * 24), ("on", ctypes.c_uint64), ("off", ctypes.c_uint64),
                    ("may", ctypes.c_uint64)]

    _fields_ = [("of", Of * 64)] + [(n, ctypes.c_uint64) for n in (
        "depth", "depth_bad", "slack", "late", "values", "sends", "receives", "markers", "collectives", "messages",
        "processes")]


TRUTH, LOCK, PLACE = None, threading.Lock(), {name: i for i, name in enumerate(NAMES)}


def hit(name):
    """Counts. Processes do not run at the same time here, threads do."""
    with LOCK:
        TRUTH.of[PLACE[name]].on += 1


def say(*words):
    """In one write: threads."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def g0(depth):
    hit("g0")
    return below(depth)


def g1(depth):
    hit("g1")
    below(depth)
    return below(depth)


def g2(depth, *more, **named):
    hit("g2")
    return below(depth) if depth % 2 else len(more) + len(named)


def g3(depth):
    hit("g3")
    return sum(below(depth - i) for i in range(2))


def g4(depth):
    hit("g4")
    with contextlib.suppress(ValueError):
        raiser(depth)
    return depth


def g5(depth):
    hit("g5")
    return sorted([3, 1, depth], key=sorter)


def sorter(value):
    hit("sorter")
    return -value


def raiser(depth):
    hit("raiser")
    if depth > 0:
        raiser(depth - 1)
    raise ValueError(depth)


def catcher(depth):
    hit("catcher")
    try:
        raiser(depth)
    except ValueError:
        return below(2)
    finally:
        g0(1)


def recurse(depth):
    hit("recurse")
    return recurse(depth + 1) + 1


def maker(n):
    hit("maker")
    try:
        for i in range(n):
            g0(1)
            yield i
            hit("maker")  # going on is a call, too
    except GeneratorExit:  # Python 3.13 enters a generator to close it only if it catches this
        hit("maker")
        raise


async def waiter(n):
    hit("waiter")
    if n:
        await waiter(n - 1)
        for _ in range(n):  # so often it has gone on
            hit("waiter")
    await asyncio.sleep(0)
    hit("waiter")
    return n


class Thing:
    """Methods."""

    def method(self, depth):
        hit("Thing.method")
        return below(depth)

    @staticmethod
    def make(depth):
        hit("Thing.make")
        return Thing().method(depth)


def below(depth):
    """Another call, at random."""
    if depth <= 0:
        return 0
    here = threading.current_thread()
    here.draw = getattr(here, "draw", None) or random.Random(here.name)
    function = here.draw.choice([g0, g1, g2, g3, g4, g5, catcher, Thing.make])
    function(depth - 1)
    return depth


class Player:
    """Does what the script says."""

    def __init__(self, lines):
        self.steps = [(int(depth), name, int(a), int(b)) for depth, name, a, b in map(str.split, lines)]

    def inner(self, at):
        """Steps inside of this one."""
        depth = self.steps[at][0] if at >= 0 else -1
        for i in range(at + 1, len(self.steps)):
            if self.steps[i][0] <= depth:
                return
            if self.steps[i][0] == depth + 1:
                getattr(self, "act_" + self.steps[i][1])(i, *self.steps[i][2:])

    def act_calls(self, _, a, b):
        for _ in range(a):
            below(b)

    def act_generate(self, _, a, b):
        say("generated", sum(maker(a)))
        half = maker(b + 2)
        next(half)
        half.close()

    def act_wait(self, _, a, b):
        async def all_of():
            return await asyncio.gather(*[waiter(b) for _ in range(a)])
        say("waited", sum(asyncio.run(all_of())))

    def act_recurse(self, *_):
        try:
            recurse(0)
        except RecursionError:
            TRUTH.slack += 1  # the last call may end between its enter and its being counted
            say("too deep")

    def act_threads(self, at, a, _):
        threads = [threading.Thread(target=self.inner, args=(at,), name=f"t{i}") for i in range(a)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def act_fork(self, at, a, b):
        pid = os.fork()
        if not pid:
            self.inner(at)
            self.act_end(at, a, b)
        say("fork", hex(os.waitpid(pid, 0)[1]))

    def act_signal(self, _, a, b):
        signal.signal(signal.SIGUSR1, lambda *_: g0(b))
        for _ in range(a):
            os.kill(os.getpid(), signal.SIGUSR1)

    def act_end(self, _, kind, value):
        if kind == 1:
            sys.stdout.flush()
            os._exit(value)
        if kind == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == 3:
            raise SystemExit(value)
        if kind == 4:
            raiser(3)
        if kind == 5:
            os.abort()
        sys.exit(value)


def script(draw):
    """The lines of a random script."""
    lines = []

    def act(depth, threads, level):
        names = ["calls"] * 4 + ["generate", "wait", "recurse"] + (["threads"] if not threads else [])
        names += ["fork", "signal"] if not threads and level < 2 else []
        name = draw.choice(names)
        a, b = draw.randint(1, 6), draw.randint(0, 6)
        if name == "fork":
            a, b = draw.choice([0, 1, 1, 2, 3, 5]), draw.randint(0, 99)
        lines.append(f"{depth} {name} {a} {b}")
        if name in ("threads", "fork"):
            for _ in range(draw.randint(1, 3)):
                act(depth + 1, threads + (name == "threads"), level + (name == "fork"))

    for _ in range(draw.randint(2, 8)):
        act(0, 0, 0)
    lines.append(f"0 end {draw.choice([0, 0, 0, 1, 2, 3, 4, 5])} {draw.randint(0, 99)}")
    return lines


def main():
    """The program."""
    global TRUTH
    with open(sys.argv[2], "r+b") as f:
        TRUTH = Truth.from_buffer(mmap.mmap(f.fileno(), 0))
    for i, name in enumerate(NAMES):
        TRUTH.of[i].name = name.encode()
    with open(sys.argv[1], encoding="utf-8") as f:
        Player(f.read().splitlines()).inner(-1)


if __name__ == "__main__":
    main()
