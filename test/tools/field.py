#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks up values in the facts that gtcheck.py writes about an archive (JSON).

Limits: keys that hold a dot cannot be reached.

  field.py FILE a.b.c          the value at that path; a list or object prints its length
"""
import json
import sys


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


def main(argv):
    """Command line."""
    if len(argv) == 3:
        with open(argv[1], encoding="utf-8") as f:
            value = lookup(json.load(f), argv[2])
        print("" if value is None else len(value) if isinstance(value, (list, dict)) else value)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
