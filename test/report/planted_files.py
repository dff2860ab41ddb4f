# SPDX-License-Identifier: BSD-3-Clause
"""Archives of planted.py with problems of files and pipes.

Limits: as planted.py.
"""
from made import USER, Made
from planting import SECOND, case, host


def written(size, count, each, paradigm="POSIX", file=0):
    m, _, main = host()
    m.define("IoParadigm", m.s(paradigm), m.s(paradigm), 0, 1, [], [], [])
    m.define("IoRegularFile", m.s("/tmp/out"), 0xffffffff)
    m.define("IoHandle", m.s("out" if file == 0 else "socket:[7]"), file, 0, 0, 0xffffffff, 0xffffffff)
    write = m.region("write", USER)
    for i in range(count):
        begin = i * (SECOND // count)
        m.put(main, begin, "Enter", write)
        m.put(main, begin, "IoOperationBegin", 0, 1, 0, size, i)
        m.put(main, begin + each, "IoOperationComplete", 0, size, i)
        m.put(main, begin + each, "Leave", write)
    m.call(main, m.region("work"), SECOND - 1, SECOND)
    return m


@case
def tiny_writes(bad):
    """5,000 writes of 10 bytes in a tenth of the time; or as many that stdio has a buffer for."""
    return written(10, 5000, 20000, "POSIX" if bad else "ISOC")


def pages():
    """As many of a database's pages, with a few smaller ones."""
    return written(4085, 5000, 20000)


def answers():
    """As many of them on a socket: answers to requests."""
    return written(10, 5000, 20000, file=0xffffffff)


def io(m, name):
    """A function of the I/O wrapper, as gputrace defines it."""
    region = m.region(name, USER)
    m.once(("io", name), lambda: m.define("Group", m.s("io"), 2, USER, 0, [region]))
    return region


@case
def late_peer(bad):
    """A process reads what its child writes after 45 of 50 ms, 20 times; or the child what the process does."""
    m = Made(length=SECOND)
    first, second = (m.thread(m.process(f"Process {n}")) for n in range(2))
    m.define("IoParadigm", m.s("POSIX"), m.s("POSIX"), 0, 1, [], [], [])
    m.define("IoHandle", m.s("pipe:[7]"), 0xffffffff, 0, 1, 0xffffffff, 0xffffffff)
    read, write, work, show = io(m, "read"), io(m, "write"), m.region("work"), m.region("show")
    late, waits = (second, first) if bad else (first, second)
    for i in range(20):
        begin, ms = i * 50000000, 1000000
        m.call(late, work, begin, begin + 45 * ms)
        for thread, call, at, mode in ((late, write, begin + 45 * ms, 1), (waits, read, begin, 0)):
            m.put(thread, at, "Enter", call)
            m.put(thread, at, "IoOperationBegin", 0, mode, 0, 8, 2 * i + mode)
            m.put(thread, begin + 46 * ms, "IoOperationComplete", 0, 8, 2 * i + mode)
            m.put(thread, begin + 46 * ms, "Leave", call)
        m.call(waits, show, begin + 46 * ms, begin + 50 * ms)
    return m


@case
def small_files(bad):
    """1,000 files are made, written once and removed, or one file is opened and written 1,000 times, 64 KiB each."""
    m, _, main = host()
    m.define("IoParadigm", m.s("POSIX"), m.s("POSIX"), 0, 1, [], [], [])
    create, write, close, unlink = io(m, "open"), io(m, "write"), io(m, "close"), io(m, "unlink")
    collect = m.region("collect")
    for i in range(1000):
        begin = i * 1000000
        if bad or not i:
            m.define("IoRegularFile", m.s(f"/tmp/{i}"), 0xffffffff)
            m.define("IoHandle", m.s(f"{i}"), i, 0, 0, 0xffffffff, 0xffffffff)
        handle = i if bad else 0
        m.put(main, begin, "Enter", collect)
        if bad or not i:
            m.put(main, begin, "Enter", create)
            m.put(main, begin + 200000, "IoCreateHandle", handle, 1, 0, 0)
            m.put(main, begin + 200000, "Leave", create)
        m.put(main, begin + 200000, "Enter", write)
        m.put(main, begin + 200000, "IoOperationBegin", handle, 1, 0, 12 if bad else 65536, i)
        m.put(main, begin + 210000, "IoOperationComplete", handle, 12 if bad else 65536, i)
        m.put(main, begin + 210000, "Leave", write)
        if bad or i == 999:
            m.call(main, close, begin + 210000, begin + 260000)
        if bad:
            m.call(main, unlink, begin + 260000, begin + 360000 + 50000 * (i == 7))
        m.put(main, begin + 900000, "Leave", collect)
        m.call(main, m.region("work"), begin + 900000, begin + 1000000)
    return m


@case
def fsync(bad):
    """A function waits for the disk 50 times for 6 ms, another one 10 times for 1 ms; or a third one works for that."""
    m, process, main = host()
    other = m.thread(process, "Thread 1")
    call, late = io(m, "fsync" if bad else "write"), io(m, "fdatasync")
    save, log = m.region("save"), m.region("log")
    for i in range(50):
        begin = i * 20000000
        m.call(main, m.region("work"), begin, begin + 14000000)
        m.put(main, begin + 14000000, "Enter", save)
        m.call(main, call, begin + 14000000, begin + 20000000)
        m.put(main, begin + 20000000, "Leave", save)
    for i in range(10):
        m.put(other, i * 1000000, "Enter", log)
        m.call(other, late, i * 1000000, (i + 1) * 1000000)
        m.put(other, (i + 1) * 1000000, "Leave", log)
    m.call(other, m.region("work"), 10000000, SECOND)
    return m
