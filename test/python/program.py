# SPDX-License-Identifier: BSD-3-Clause
"""A program that counts its own functions, by the names that they have in a trace: "calls NAME N" on standard
error, at the end of each process. A function that is suspended is entered anew each time that it goes on.

usage: program.py PART...
"""
import asyncio
import multiprocessing
import os
import sys
import threading

QUALIFIED = sys.version_info >= (3, 11)
counts = {}
lock = threading.Lock()


def count(owner, name, times=1):
    key = ".".join([__name__] + ([owner] if owner and QUALIFIED else []) + [name])
    with lock:
        counts[key] = counts.get(key, 0) + times


class Fibonacci:
    def of(self, n):
        count("Fibonacci", "of")
        return n if n < 2 else self.of(n - 1) + self.of(n - 2)

    @staticmethod
    def still():
        count("Fibonacci", "still")

    @classmethod
    def whole(cls):
        count("Fibonacci", "whole")


def methods():
    count("", "methods")
    print(Fibonacci().of(12))
    Fibonacci.still()
    Fibonacci.whole()


def numbers(n):
    count("", "numbers", n + 1)  # the first time, and after each yield
    try:
        for i in range(n):
            yield i
    finally:
        pass  # so that closing has something to run, in all versions


def delegating(n):
    count("", "delegating", n + 1)
    yield from numbers(n)


def generators():
    count("", "generators")
    print(sum(numbers(100)), sum(delegating(50)))
    left = numbers(7)  # of which one is taken: the rest is never run
    next(left)
    count("", "numbers", -6)  # to the first yield, and to be closed
    left.close()


def fails(depth):
    count("", "fails")
    if depth:
        fails(depth - 1)
    raise KeyError(depth)


def exceptions():
    count("", "exceptions")
    for _ in range(10):
        try:
            fails(5)
        except KeyError as error:
            assert error.args == (0,)


async def waits(n):
    count("", "waits", n + 1)
    for _ in range(n):
        await asyncio.sleep(0)


async def together():
    count("", "together", 2)
    await asyncio.gather(*[waits(n) for n in range(20)])


def coroutines():
    count("", "coroutines")
    asyncio.run(together())


def in_thread(n, all_there):
    count("", "in_thread")
    all_there.wait()
    Fibonacci().of(n)


def threads():
    count("", "threads")
    all_there = threading.Barrier(8)
    several = [threading.Thread(target=in_thread, args=(n, all_there), name="number %d" % n) for n in range(8)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()


def report():
    # At once: processes write side by side.
    os.write(2, "".join("calls %s %d\n" % c for c in sorted(counts.items())).encode())


def in_process(n):
    counts.clear()  # what the parent had, if this is a fork of it
    count("", "in_process")
    Fibonacci().of(n)
    report()


def processes():
    count("", "processes")
    for how in "fork", "spawn":
        context = multiprocessing.get_context(how)
        several = [context.Process(target=in_process, args=(n,)) for n in range(3)]
        for process in several:
            process.start()
        for process in several:
            process.join()


def forks():
    count("", "forks")
    sys.stdout.flush()
    child = os.fork()
    if not child:
        in_process(6)
        os._exit(0)
    os.waitpid(child, 0)


def deep(n):
    count("", "deep")
    return deep(n - 1) if n else 0


def recursion():
    count("", "recursion")
    sys.setrecursionlimit(5000)
    deep(2000)


if __name__ == "__main__":
    for part in sys.argv[1:]:
        globals()[part]()
    report()
