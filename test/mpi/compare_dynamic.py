# SPDX-License-Identifier: BSD-3-Clause
"""Compares what processes wrote down (test/mpi/dynamic.c) with what their archive says of them.

    compare_dynamic.py ARCHIVE LOGFILE     reads LOGFILE.<pid> of the processes that are in the archive

Each communicator that has a name must be in the archive once. Limits: reads what otf2-print says.
"""
import collections
import glob
import re
import subprocess
import sys

GROUP = re.compile(r'LOCATION_GROUP_PROPERTY .*Location Group: "[^"]*" <(\d+)>, Name: "GPUTRACE::PROCESS_ID".*Value: "(\d+)"')
LOCATION = re.compile(r'LOCATION +(\d+) .*Group: "[^"]*" <(\d+)>')
COMM = re.compile(r'(?:INTER_)?COMM +\d+ +[Nn]ame: "([^"]*)"')
MESSAGE = re.compile(r'MPI_I?(SEND|RECV) +(\d+) .*(?:Sender|Receiver): \d+ \("[^"]*" <(\d+)>\).*'
                     r'Communicator: "([^"]*)" <\d+>, Tag: (\d+), Length: (\d+)')
COLLECTIVE = re.compile(r'(?:MPI_COLLECTIVE_END|NON_BLOCKING_COLLECTIVE_COMPLETE) +(\d+) .*Operation: (\w+), '
                        r'Communicator: "([^"]*)" <\d+>, .*Sent: (\d+), Received: (\d+)')


def lines_of(*arguments):
    with subprocess.Popen(["otf2-print", *arguments], stdout=subprocess.PIPE, text=True) as printer:
        yield from printer.stdout
    if printer.returncode:
        sys.exit("otf2-print fails")


def main():
    archive, log = sys.argv[1], sys.argv[2]
    pid_of_group, group_of, comms = {}, {}, collections.Counter()
    for line in lines_of("-G", archive):
        for pattern, put in ((GROUP, pid_of_group), (LOCATION, group_of)):
            found = pattern.match(line)
            if found:
                put[found.group(1)] = found.group(2)
        if COMM.match(line):
            comms[COMM.match(line).group(1)] += 1
    pid_of = {location: pid_of_group.get(group) for location, group in group_of.items()}
    seen = collections.defaultdict(collections.Counter)
    for line in lines_of(archive):
        found = MESSAGE.match(line)
        if found:
            kind, at, peer, comm, tag, length = found.groups()
            text = "%s %s %s %s %s" % (kind[0], comm, pid_of[peer], tag, length)
            seen[pid_of[at]][text] += 1
            continue
        found = COLLECTIVE.match(line)
        if found and found.group(2) != "CREATE_HANDLE":
            seen[pid_of[found.group(1)]]["C %s %s %s %s" % (found.group(3, 2, 4, 5))] += 1
    wrong = total = 0
    for name in glob.glob(log + ".*"):
        pid = name[len(log) + 1:]
        if pid not in pid_of.values():
            continue
        with open(name, encoding="utf-8") as f:
            want = collections.Counter(f.read().split("\n")[:-1])
        total += sum(want.values())
        # Of some messages the program does not know with whom.
        for line in [l for l in want if l[0] in "sr"]:
            kind, comm, tag, length = re.match(r"(.) (.*) (\d+) (\d+)$", line).groups()
            for _ in range(want.pop(line)):
                for got in seen[pid]:
                    if seen[pid][got] and re.fullmatch("%s %s \\d+ %s %s" % (kind.upper(), re.escape(comm), tag, length), got):
                        seen[pid][got] -= 1
                        break
                else:
                    want[line] += 1
        for text, sign in ((want - seen[pid], "missing"), (seen[pid] - want, "too much")):
            for line, n in list(text.items())[:8]:
                wrong += 1
                print("process %s: %s: %s (%d times)" % (pid, sign, line, n))
        for line in want:
            comm = re.match(r"[SR] (.*) \d+ \d+ \d+$", line)
            if comm and comms[comm.group(1)] != 1:
                wrong += 1
                print("process %s: %d communicators are called %s" % (pid, comms[comm.group(1)], comm.group(1)))
    print("%d compared" % total)
    sys.exit(1 if wrong or not total else 0)


main()
