#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks up values in the facts that gtcheck.py writes about an archive (JSON).

Limits: knows only the layout {"regions": {NAME: {"enter": N, "leave": N, ...}}, ...}; everything
else is addressed by its path.

  field.py FILE a.b.c          the value at that path; a list or object prints its length
  field.py --calls FILE NAME   how often the region NAME was entered (0 if there is none)
  field.py --keys FILE a.b     the keys of an object, one a line
  field.py --expect WANT FILE  WANT has lines "calls REGION N" or "atleast REGION N"
"""
import json
import re
import sys


def calls(facts, name):
    """Enter events of all regions whose name is `name` (a C++ name may have its arguments, and a
    compiler may have made a clone: name.constprop.0)."""
    total = 0
    for key, region in facts.get("regions", {}).items():
        plain = re.sub(r"\.(constprop|isra|part|cold|lto_priv)\.\d+", "", key)
        if plain == name or re.sub(r"\(.*", "", plain) == name:
            total += region["enter"] if isinstance(region, dict) else region
    return total


def lookup(facts, path):
    """The value at a dotted path; None where the path leads nowhere."""
    value = facts
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return None
    return value


def expect(want, facts):
    """Compares the lines of WANT with the facts; says every difference. 1 if there is one."""
    wrong = seen = 0
    sums = {}
    for line in want:
        words = line.split()
        if len(words) == 3 and words[0] in ("calls", "atleast"):
            key = (words[0], words[1])
            sums[key] = sums.get(key, 0) + int(words[2])
    for (kind, name), number in sums.items():
        seen += 1
        got = calls(facts, name)
        if got != number if kind == "calls" else got < number:
            print(f"{name}: {got} calls in the archive, {kind} {number} wanted")
            wrong = 1
    if not seen:
        print("nothing was expected: the program printed no line 'calls REGION N'")
        return 1
    return wrong


def main(argv):
    """Command line."""
    if len(argv) == 4 and argv[1] == "--expect":
        with open(argv[2], encoding="utf-8", errors="replace") as want, open(argv[3], encoding="utf-8") as f:
            return expect(want, json.load(f))
    if len(argv) == 4 and argv[1] in ("--calls", "--keys"):
        with open(argv[2], encoding="utf-8") as f:
            facts = json.load(f)
        if argv[1] == "--calls":
            print(calls(facts, argv[3]))
        else:
            print("\n".join(lookup(facts, argv[3]) or []))
        return 0
    if len(argv) == 3:
        with open(argv[1], encoding="utf-8") as f:
            value = lookup(json.load(f), argv[2])
        print("" if value is None else len(value) if isinstance(value, (list, dict)) else value)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
