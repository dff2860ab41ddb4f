#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs gputrace's commands on damaged copies of an archive or a spool: within bounds, harmlessly.

  damage.py SEED COUNT COMMANDS FOLDER [WAY FILE]   COUNT copies of FOLDER, each with some COMMANDS (0: all)

FOLDER holds an archive, or a spool that was not assembled (then the commands are recover, check, report). Each copy
is damaged in this way in a file whose name ends so, or at random in one or more ways: bytes, 64-bit words with extreme values, a time far away, ends cut off or grown
(sparsely by a terabyte, too), files gone, exchanged, or replaced by FIFOs, folders and loops of links. Each command
must end by itself with status 0, 1 or 2, within the bounds below, and print nothing that a terminal acts on. A
sentence on each that did not; exit status 1 if there is one. The copy that did it stays.

Limits: a hang is 50 s without an end, more on a machine with more to do than it has processors. What a
temporary file takes is bounded by RLIMIT_FSIZE: it has no name.
"""
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

PROCESSOR, FILE, MEMORY, HANG = 60, 256 << 20, 700 << 20, 50
EXTREMES = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 48, 1 << 60, (1 << 62) + 12345, (1 << 63) - 1, 1 << 63,
            (1 << 64) - 2, (1 << 64) - 1]


def out(*words):
    """A command that writes a file or a folder, which is removed then."""
    return list(words) + ["-o", "OUT", "DIR"]


READERS = [["check", "DIR"], ["check", "--json", "DIR"], ["report", "DIR"], ["report", "-a", "DIR"], ["report", "-a", "--json", "DIR"],
           ["report", "-a", "--csv", "DIR"], ["report", "--summary", "DIR"], ["diff", "DIR", "GOOD"], ["diff", "--json", "GOOD", "DIR"],
           ["whatif", "DIR", "*=0"], ["timeline", "--ascii", "DIR"], ["timeline", "-s", "5", "-o", "OUT.svg", "DIR"], ["flow", "DIR"], ["flow", "--json", "DIR"],
           ["flow", "--svg", "DIR"], ["flow", "--dot", "DIR"], ["source", "DIR"], ["filter", "suggest", "DIR"], out("slice"),
           out("slice", "-t", "0:1ms"), out("html")]
READERS += [["export", "--" + face, "DIR"] for face in ("chrome", "speedscope", "folded", "flame")]
READERS += [out("export", "--" + face) for face in ("csv", "sqlite", "arrow", "perfetto", "pprof")]
SPOOLS = [["recover", "DIR"], ["check", "DIR"], ["report", "-a", "DIR"]]


def files_of(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)


def store(path, data):
    with open(path, "wb") as f:
        f.write(data)


def far_time(dice, path, data):
    """An event's time (the byte 5, then its ticks) far from the first one, which stands behind the head of a chunk."""
    first = struct.unpack_from("<Q", data, 19)[0] if len(data) > 27 and data[18] == 5 else None
    places = [i for i in range(19, len(data) - 9) if first is not None and data[i] == 5 and
              first <= struct.unpack_from("<Q", data, i + 1)[0] < first + (1 << 40)]
    if places:
        i = dice.choice(places)
        store(path, data[:i + 1] + struct.pack("<Q", first + (1 << dice.randrange(58, 63))) + data[i + 9:])


def change(dice, path, data):
    for _ in range(dice.randrange(1, 9)):
        i = dice.randrange(len(data))
        data = data[:i] + bytes([dice.randrange(256)]) + data[i + 1:]
    store(path, data)


def put_word(dice, path, data):
    i = dice.randrange(max(1, len(data) - 8))
    i -= i % dice.choice([1, 8])
    store(path, data[:i] + struct.pack("<Q", dice.choice(EXTREMES)) + data[i + 8:])


def cut(dice, path, data):
    store(path, data[:dice.randrange(len(data))])


def grow(dice, path, data):
    store(path, data + dice.randbytes(dice.randrange(1, 100000)))


def grow_far(dice, path, data):
    os.truncate(path, len(data) + (1 << 40))


def fifo(dice, path, data):
    os.unlink(path)
    os.mkfifo(path)


def replace(dice, path, data):
    os.unlink(path)
    dice.choice([lambda: None, lambda: os.mkdir(path), lambda: os.symlink(path, path),
                 lambda: os.symlink("/dev/zero", path), lambda: store(path, b"")])()


def exchange(dice, path, data):
    other = dice.choice(files_of(os.path.dirname(path)))
    if os.path.isfile(other) and os.path.getsize(other) < (1 << 30):  # one that grew far would fill the disk
        shutil.copyfile(other, path + ".")
        os.rename(path + ".", path)


WAYS = [change, change, put_word, put_word, far_time, cut, grow, grow_far, fifo, replace, exchange]


def damage(dice, folder, way, suffix):
    """Says what it did."""
    files = [f for f in files_of(folder) if os.path.getsize(f) and f.endswith(suffix)]
    done = []
    for _ in range(1 if way else dice.choice([1, 1, 1, 2, 3])):
        path = dice.choice(files)
        if not os.path.isfile(path) or not 0 < os.path.getsize(path) < (1 << 30):
            continue
        with open(path, "rb") as f:
            data = f.read()
        how = way or dice.choice(WAYS)
        how(dice, path, data)
        done.append(how.__name__ + " " + os.path.relpath(path, folder))
    return ", ".join(done)


def bounds():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setsid()


def harmful(text):
    """What a terminal acts on, but for ends of lines and tabs."""
    text = text.decode("utf-8", "surrogateescape")
    return sorted({c for c in text if (c < " " and c not in "\n\t\r") or "\x7f" <= c < "\xa0" or "\udc80" <= c <= "\udcff" or
                   c in "\u061c\u200e\u200f" or "\u2028" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"})


def patience():
    """How much longer something takes here than on a machine that has nothing else to do."""
    return max(1, os.getloadavg()[0] / os.cpu_count()) * int(os.environ.get("GT_TIME_FACTOR", "1"))


def fault_of(command, place):
    """Runs it; what is wrong, or None."""
    with open(os.path.join(place, "stdout"), "wb+") as printed, open(os.path.join(place, "stderr"), "wb+") as said:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=said, preexec_fn=bounds, cwd=place)
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(child.pid, signal.SIGKILL))
        signal.alarm(int(HANG * patience()))
        _, status, used = os.wait4(child.pid, 0)
        left = signal.alarm(0)
        printed.seek(0)
        said.seek(0)
        text, words = printed.read(), said.read()
    if not left:
        return "did not end"
    if os.WIFSIGNALED(status):
        return "ended by signal %d" % os.WTERMSIG(status)
    if os.WEXITSTATUS(status) not in (0, 1, 2):
        return "status %d" % os.WEXITSTATUS(status)
    if used.ru_maxrss > MEMORY >> 10:
        return "took %d MB of memory" % (used.ru_maxrss >> 10)
    if b"killed by SIG" in words:
        return "ended a process that reads: " + words.decode(errors="replace")[:300]
    if b"processor time" in words or b"SIGXFSZ" in words or b"SIGXCPU" in words or b"File too large" in words:
        return "needed too much: " + words.decode(errors="replace")[:300]
    if harmful(text + words):
        return "printed %r" % harmful(text + words)
    return None


def fill(command, bad, good, place):
    words = {"DIR": bad, "GOOD": good, "OUT": place + "/out", "OUT.svg": place + "/out.svg"}
    return ["gputrace"] + [words.get(word, word) for word in command]


def clear(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def main():
    seed, count, most, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    way, suffix = (globals()[sys.argv[5]], sys.argv[6]) if len(sys.argv) > 5 else (None, "")
    place = os.path.abspath(tempfile.mkdtemp(prefix="damaged.", dir="."))
    spool = not os.path.exists(os.path.join(folder, "traces.otf2"))
    bad, faults, ran = os.path.join(place, "bad"), 0, 0
    for i in range(count):
        dice = random.Random("%d %d" % (seed, i))
        clear(bad)
        shutil.copytree(folder, bad, symlinks=True)
        what = damage(dice, bad, way, suffix)
        commands = SPOOLS if spool else dice.sample(READERS, most or len(READERS))
        for command in commands:
            ran += 1
            fault = fault_of(fill(command, bad, folder, place), place)
            if fault:
                faults += 1
                kept = os.path.join(place, "kept-%d-%d" % (seed, i))
                if not os.path.exists(kept):
                    subprocess.run(["cp", "-a", "--sparse=always", bad, kept], check=False)
                print("seed %d %d (%s): gputrace %s: %s" % (seed, i, what, " ".join(command), fault), flush=True)
            for name in ("out", "out.svg"):
                clear(os.path.join(place, name))
    clear(bad)
    print("%d copies, %d commands, %d faults" % (count, ran, faults))
    return faults > 0


sys.exit(main())
