#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares an archive with what counts.c has counted in another run of the program.

  compare.py ANCHOR COUNTS SOURCE        prints "same", or what differs

Also: teams and tasks are balanced, tasks complete as often as they are made, no thread is in a team when the last region
has been joined (a worker's last barrier ends with its region, not when the worker is needed again), and constructs are
named by a line of SOURCE that has an OpenMP directive or call, criticals also by their name there.

Limits: needs python3-otf2.
"""
import re
import sys
from collections import Counter

import otf2
from otf2 import events as E

EVENTS = {E.ThreadFork: "fork", E.ThreadJoin: "join", E.ThreadTeamBegin: "team", E.ThreadTeamEnd: "team end",
          E.ThreadTaskCreate: "create", E.ThreadTaskComplete: "complete", E.ThreadAcquireLock: "acquire",
          E.ThreadReleaseLock: "release"}


def main():
    anchor, counts, source = sys.argv[1:]
    joins, ends, criticals = {}, {}, set()
    wanted, found, lines, open_tasks = Counter(), Counter(), Counter(), Counter()
    for line in open(counts, encoding="ascii"):
        name, count = line.rstrip("\n").split("\t")
        wanted[name] += int(count)
    with otf2.reader.open(anchor) as trace:
        for location, event in trace.events:
            if type(event) in EVENTS:
                found[EVENTS[type(event)]] += 1
            if isinstance(event, E.ThreadJoin):
                joins[location.group.name] = event.time
            elif isinstance(event, E.ThreadTeamEnd):
                ends[location.group.name] = event.time
            if isinstance(event, E.ParameterUnsignedInt) and event.parameter.name == "OMP_DEPENDENCES":
                found["dependences"] += event.value
            if isinstance(event, (E.ThreadTaskCreate, E.ThreadTaskComplete)):
                # Processes have their own teams.
                key = (location.group.name, event.creating_thread, event.generation_number)
                open_tasks[key] += 1 if isinstance(event, E.ThreadTaskCreate) else -1
            elif isinstance(event, E.Enter) and event.region.name.startswith("omp "):
                name, _, place = event.region.name.partition(" @")
                name, _, critical = name.partition(" (")
                found[name] += 1
                lines[place] += 1
                if name.startswith("omp critical"):
                    criticals.add((place, critical.rstrip(")")))
    text = open(source, encoding="utf-8").read().split("\n")
    wrong = ["%s: %d, not %d" % (name, found[name], count) for name, count in wanted.items() if found[name] != count]
    wrong += ["teams: %d begin, %d end" % (found["team"], found["team end"])] if found["team"] != found["team end"] else []
    wrong += ["task %s" % (key,) for key, count in open_tasks.items() if count][:3]
    wrong += ["a team ends after the last join" for process, time in ends.items() if time > joins[process]]
    for place in lines:
        # libomp gives an address of its own for tasks of a taskloop and for some locks, and has no other for a nested
        # region that clang begins by a tail call (LLVM 19).
        if re.fullmatch("__kmpc?_[a-z_]+|omp_[a-z_]+", place):
            continue
        match = re.fullmatch(r"(.*):(\d+)", place)
        if not match or match.group(1) != source.rsplit("/", 1)[-1] or \
                not re.search("omp", " ".join(text[max(int(match.group(2)) - 2, 0):int(match.group(2)) + 1])):
            wrong.append("no construct at " + place)
    for place, critical in criticals:
        # The directive, or a line inside of it.
        line = int(place.rpartition(":")[2] or 0)
        if not any("critical(%s)" % critical in text[i - 1] for i in (line - 1, line)):
            wrong.append("critical (%s) at %s" % (critical, place))
    print("; ".join(wrong) or "same")


main()
