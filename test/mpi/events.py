#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks' main threads did with MPI, in their order, as otf2-print shows it, without times and
numbers of definitions; how often it asked (MPI_Test) depends on luck and is left out. Two runs of one program give the same lines.

    events.py ARCHIVE/traces.otf2
"""
import re
import subprocess
import sys

KINDS = ("MPI_", "RMA_", "IO_", "COMM_", "NON_BLOCKING_")


def lines(*options):
    done = subprocess.run(("otf2-print",) + options + (sys.argv[1],), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main():
    ranks = {}
    for line in lines("-G"):
        match = re.match(r'LOCATION  *(\d+)  Name: "Master thread".*Group: "MPI Rank (\d+)"', line)
        if match:
            ranks[match.group(1)] = int(match.group(2))
    all_events = {}
    for line in lines():
        word = line.split(None, 3)
        if len(word) < 4 or word[1] not in ranks:
            continue
        if not word[0].startswith(KINDS) and not (word[0] in ("ENTER", "LEAVE") and re.search(r'"MPI_(?!\w*[tT]est)', word[3])):
            continue
        text = re.sub(r" <\d+>", "", word[3])
        all_events.setdefault(ranks[word[1]], []).append("%s %s" % (word[0], text))
    for rank in sorted(all_events):
        for event in all_events[rank]:
            print(rank, event)


main()
