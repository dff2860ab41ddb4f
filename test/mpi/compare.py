# SPDX-License-Identifier: BSD-3-Clause
"""Compares what ranks wrote down (test/mpi/random.c) with what their archive says.

    compare.py ARCHIVE LOGFILE RANKS     reads LOGFILE.<rank>

Sends must be in the program's order, those of each thread (the thousands of the tag) by itself; the rest
must be the same set. Limits: reads what otf2-print says.
"""
import collections
import re
import subprocess
import sys

LOCATION = re.compile(r'LOCATION +(\d+) .*Group: "MPI Rank (\d+)"')
MESSAGE = re.compile(r'(MPI_I?SEND|MPI_I?RECV) +(\d+) .*(?:Sender|Receiver): (\d+).*'
                     r'Communicator: "([^"]*)" <\d+>, Tag: (\d+), Length: (\d+)')
COLLECTIVE = re.compile(r'(MPI_COLLECTIVE_END|NON_BLOCKING_COLLECTIVE_COMPLETE) +(\d+) .*Operation: (\w+), '
                        r'Communicator: "([^"]*)" <\d+>, Root: (\w+).*Sent: (\d+), Received: (\d+)')
ACCESS = re.compile(r'RMA_(PUT|GET) +(\d+) .*Window: "([^"]*)" <\d+>, Remote: (\d+) .*Bytes: (\d+)')
ATOMIC = re.compile(r'RMA_ATOMIC +(\d+) .*Window: "([^"]*)" <\d+>, Remote: (\d+) .*Type: (\w+), Sent: (\d+), '
                    r'Received: (\d+)')
COMPLETE = re.compile(r'RMA_OP_COMPLETE_(NON_BLOCKING|REMOTE) +(\d+) .*Window: "([^"]*)" <')
CANCELLED = re.compile(r"MPI_REQUEST_CANCELLED +(\d+) ")


def lines_of(*arguments):
    with subprocess.Popen(["otf2-print", *arguments], stdout=subprocess.PIPE, text=True) as printer:
        yield from printer.stdout
    if printer.returncode:
        sys.exit("otf2-print fails")


def main():
    archive, log, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seen = [[] for _ in range(ranks)]
    rank_of = {}
    for line in lines_of("-G", archive):
        found = LOCATION.match(line)
        if found:
            rank_of[found.group(1)] = int(found.group(2))
    for line in lines_of(archive):
        found = MESSAGE.match(line)
        if found:
            kind, at, peer, comm, tag, length = found.groups()
            text = "%s %s %s %s %s" % ("S" if "SEND" in kind else "R", comm, peer, tag, length)
        elif COLLECTIVE.match(line):
            kind, at, op, comm, root, sent, received = COLLECTIVE.match(line).groups()
            if op == "CREATE_HANDLE":  # of a communicator
                continue
            text = "%s %s %s %s %s %s" % ("C" if kind[0] == "M" else "N", comm, op,
                                          root if root.isdigit() else "-1", sent, received)
        elif ACCESS.match(line):
            kind, at, win, target, length = ACCESS.match(line).groups()
            text = "P %s %s %s %s" % (kind, win, target, length)
        elif ATOMIC.match(line):
            at, win, target, kind, sent, received = ATOMIC.match(line).groups()
            text = "A %s %s %s %s %s" % (kind, win, target, sent, received)
        elif COMPLETE.match(line):
            kind, at, win = COMPLETE.match(line).groups()
            text = "%s %s" % ("D" if kind[0] == "N" else "E", win)
        elif CANCELLED.match(line):
            at, text = CANCELLED.match(line).group(1), "X"
        else:
            continue
        if at in rank_of:
            seen[rank_of[at]].append(text)
    wrong = 0
    total = 0
    for rank in range(ranks):
        with open("%s.%d" % (log, rank), encoding="utf-8") as f:
            want = f.read().split("\n")[:-1]
        total += len(want)
        for text, sign in ((collections.Counter(want) - collections.Counter(seen[rank]), "missing"),
                           (collections.Counter(seen[rank]) - collections.Counter(want), "too much")):
            for line, n in list(text.items())[:5]:
                wrong += 1
                print("rank %d: %s: %s (%d times)" % (rank, sign, line, n))
        sends = [sorted((s for s in lines if s[0] == "S"), key=lambda s: int(s.split()[3]) // 1000)
                 for lines in (want, seen[rank])]
        if not wrong and sends[0] != sends[1]:
            wrong += 1
            print("rank %d: sends are not in order" % rank)
    if not total:
        print("nothing was written down")
    print("%d compared" % total)
    sys.exit(1 if wrong or not total else 0)


main()
