#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what otf2counts found in an archive with the truth that test/trouble/counts.h keeps.

Limits: knows threads only by their numbers of calls, so it compares the two sorted lists.

  counts.py [--function NAME] [--late] COUNTS_FILE < output of otf2counts

A thread that had completed n calls of work() when it was killed has n or n + 1 enters in the
archive: n, because each was complete before it was counted; one more, because it may have been
inside of the next. With --late (recording ended before the program did) there may be fewer.
"""
import struct
import sys

THREADS = 64
SIZE = 64


def truth(path):
    """Completed calls of each thread that completed any."""
    with open(path, "rb") as f:
        data = f.read()
    done = [struct.unpack_from("<Q", data, i * SIZE)[0] for i in range(min(THREADS, len(data) // SIZE))]
    return sorted(n for n in done if n)


def main(argv):
    """Command line."""
    late = "--late" in argv
    name = argv[argv.index("--function") + 1] if "--function" in argv else "work"
    done = truth(argv[-1])
    found = []
    for line in sys.stdin:
        region, enters, leaves, location = line.rstrip("\n").rsplit("\t", 3)
        if region != name:
            continue
        if enters != leaves:
            print(f"location {location}: {enters} enters, {leaves} leaves")
            return 1
        found.append(int(enters))
    found.sort()
    if late:
        # Threads may have begun after the recording ended: those that are there count.
        done = done[len(done) - len(found):] if len(found) <= len(done) else done
    # Threads that were in their first call: in the archive, but not counted yet.
    while len(found) > len(done) and found[0] == 1:
        found.pop(0)
    if len(found) != len(done):
        print(f"{len(done)} threads called {name}, {len(found)} are in the archive")
        print("truth:", done, "archive:", found)
        return 1
    for want, got in zip(done, found):
        if not (got <= want + 1 if late else want <= got <= want + 1):
            print("truth:", done)
            print("archive:", found)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
