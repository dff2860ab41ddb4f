#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what a program of test/user says about its trace with what gtcheck.py found in it.

  facts.py WANT FACTS.json

WANT has one fact a line, its words separated by tabs:
  calls     REGION N             entered and left N times on all locations; 0: not at all
  region    NAME GROUP FILE LINE of paradigm USER and role CODE, in that region group
  metric    NAME UNIT TYPE COUNT MIN MAX LAST
  marker    CATEGORY SEVERITY TEXT
  comment   TEXT                 VT_COMMENT
  property  TEXT                 VT_COMMENT_DEF: the value of a property of a process
  message   COMM TAG N           N sends and N receives
  pair      COMM FROM TO TAG N   the same, between two places of the communicator
  bytes     SENT RECEIVED

Limits: a trace may hold more than WANT says. Exit status 1 if it holds less or other things.
"""
import json
import sys


class Facts:
    """One check_ method for each kind of line; they return what is there instead."""

    def __init__(self, facts):
        self.facts = facts

    def check_calls(self, name, number):
        region = self.facts["regions"].get(name, {"enter": 0, "leave": 0})
        got = (region["enter"], region["leave"])
        return None if got == (int(number), int(number)) else got

    def check_region(self, name, group, file, line):
        region = self.facts["regions"].get(name)
        if not region:
            return "no such region"
        groups = [g["name"] for g in self.facts["groups"]
                  if g["type"] == "REGIONS" and any(name in str(m) for m in g["members"])]
        got = (group if group in groups else groups, region["file"], region["line"],
               region["paradigm"], region["role"])
        return None if got == (group, file, int(line), "USER", "CODE") else got

    def check_metric(self, name, unit, kind, count, low, high, last):
        metric = self.facts["metrics"].get(name)
        if not metric:
            return "no such metric"
        got = [str(metric[key]) for key in ("unit", "type", "count", "min", "max", "last", "mode")]
        return None if got == [unit, kind, count, low, high, last, "ABSOLUTE_POINT"] else got

    def check_marker(self, category, severity, text):
        got = [m for m in self.facts["markers"] if m["category"] == category and m["text"] == text]
        number = {"LOW": 1, "MEDIUM": 2, "HIGH": 3}[severity]
        if len(got) == 1 and got[0]["severity"] == number:
            return None
        return got or self.facts["markers"]

    def check_comment(self, text):
        got = [m for m in self.facts["markers"] if m["text"] == text]
        return None if len(got) == 1 else self.facts["markers"]

    def check_property(self, text):
        groups = [g["properties"] for g in self.facts["location_groups"]]
        got = [key for g in groups for key, value in g.items() if value == text]
        return None if len(got) == 1 else groups

    def check_message(self, comm, tag, number):
        got = [0, 0]
        for key, pair in self.facts["messages"]["pairs"].items():
            if key.startswith(comm + ":") and key.endswith(":" + tag):
                got = [a + b for a, b in zip(got, pair)]
        return None if got == [int(number), int(number)] else self.facts["messages"]

    def check_pair(self, comm, source, target, tag, number):
        got = self.facts["messages"]["pairs"].get("%s:%s->%s:%s" % (comm, source, target, tag))
        return None if got == [int(number), int(number)] else got or "no such message"

    def check_bytes(self, sent, received):
        messages = self.facts["messages"]
        got = (messages["bytes_sent"], messages["bytes_received"])
        return None if got == (int(sent), int(received)) else got


def main(argv):
    """Command line."""
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[2], encoding="utf-8") as f:
        facts = Facts(json.load(f))
    with open(argv[1], encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    wrong = not lines
    for kind, *words in lines:
        got = getattr(facts, "check_" + kind)(*words)
        if got is not None:
            print("want:", kind, *words)
            print("got: ", got)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv))
