# SPDX-License-Identifier: BSD-3-Clause
"""What planted.py has its archives made of: the table of them, and what several begin with.

Limits: as planted.py.
"""
from made import Made

SECOND = 1000000000
CASES = {}


def case(function):
    """A function of `bad`: True makes the planted archive, False the clean one."""
    CASES[function.__name__.replace("_", "-")] = function
    return function


def ranks(count):
    m = Made(length=SECOND)
    threads = [m.thread(m.process(f"MPI Rank {n}")) for n in range(count)]
    return m, threads, m.world(threads)


def host():
    m = Made(length=SECOND)
    process = m.process("Process 0")
    return m, process, m.thread(process)


def gpu():
    m, process, thread = host()
    return m, process, thread, m.stream(process, m.device("GPU A"), "CUDA[0:7]")
