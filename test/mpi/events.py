#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks' main threads did with MPI, in their order, as otf2-print shows it, without times and
numbers of definitions; how often it asked (MPI_Test) depends on luck and is left out. Two runs of one program give the same lines.

    events.py ARCHIVE/traces.otf2
    events.py --all ARCHIVE/traces.otf2   also of their GPUs, sorted, without ranks in communicators; messages and regions of
                                          all kinds, but for threads and their locks
"""
import re
import subprocess
import sys

KINDS = ("MPI_", "RMA_", "IO_", "COMM_", "NON_BLOCKING_")


def lines(*options):
    done = subprocess.run(("otf2-print",) + options + (sys.argv[-1],), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def every():
    """The events of all ranks and what belongs to them, for programs whose locations overlap in time."""
    groups, locations, out = {}, {}, []
    for line in lines("-G"):
        match = re.match(r'LOCATION_GROUP  *\d+  Name: "([^"]*)".*?(?:Creator: "([^"]*)")?(?: <\d+>)?$', line)
        if match:
            groups[match.group(1)] = match.group(2) or match.group(1)
        match = re.match(r'LOCATION  *(\d+)  Name: "([^"]*)".*Group: "([^"]*)"', line)
        if match and not match.group(2).startswith("Thread "):
            locations[match.group(1)] = (match.group(3), match.group(2))
    for line in lines():
        word = line.split(None, 3)
        if len(word) < 4 or word[1] not in locations or re.search(r'"(pthread_|MPI_\w*[tT]est|HOST_IDLE)', word[3]):
            continue
        group, name = locations[word[1]]
        text = re.sub(r" <\d+>|\b(Receiver|Sender|Remote): \d+|(Matching|Request|Matching Id): *\d+", r"\1", word[3])
        if word[0].startswith(KINDS) or word[0] in ("ENTER", "LEAVE"):
            out.append("%s %s %s: %s %s" % (groups.get(group, group), "" if group not in groups or groups[group] == group else "GPU",
                                            name, word[0], text))
    print("\n".join(sorted(out)))


def main():
    if sys.argv[1] == "--all":
        every()
        return
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
