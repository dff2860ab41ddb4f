#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a run and its report tell the same, to the last digit: summary.py DIR REPORT.json.

Prints one line for each difference: a key of summary.json that the report has with another value, and a line of
SUMMARY whose figure is another one than the report's.
Limits: summary.json has the first rows of long tables, and of findings the first three columns.
"""
import json
import re
import sys
from pathlib import Path

ROWS = 50
OWN = {"events", "archive_bytes", "measurement_s", "unseen_s"}
NOTES = {"findings": ("seconds", "id", "text"), "shortfalls": ("count", "text", "property")}


def cut(value, key):
    """The part of a report's value that summary.json has."""
    if isinstance(value, dict):
        return {k: cut(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [{k: v for k, v in row.items() if key not in NOTES or k in NOTES[key]} for row in value[:ROWS]]
    return value


def json_differences(brief, whole):
    if OWN - set(brief):
        yield "not in summary.json", OWN - set(brief)
    for key in set(brief) - OWN:
        if key not in whole:
            yield "not in the report", key
        elif brief[key] != cut(whole[key], key):
            yield key, brief[key], whole[key]


def percent(lines, pattern, value):
    for found in re.findall(pattern, lines):
        if found != f"{100 * value:.0f}":
            yield pattern, found, value


def text_differences(lines, whole):
    told = [f for f in whole["findings"]][:3]
    said = re.findall(r"^\[gputrace\] (\S+ \S+) to gain: (.*?)(?:; in .*)? \(([a-z-]+)\)$", lines, re.M)
    if [(f["text"], f["id"]) for f in told] != [s[1:] for s in said]:
        yield "findings", told, said
    rates = whole["efficiencies"] or {}
    for pattern, key in (("parallel efficiency ([0-9]+) %", "parallel_efficiency"),
                         ("parallel efficiency [^:]*: load balance ([0-9]+) %", "load_balance"),
                         (", communication ([0-9]+) %", "communication_efficiency"),
                         ("offload ([0-9]+) %", "offload_efficiency"),
                         ("GPU efficiency ([0-9]+) %", "device_parallel_efficiency"),
                         ("orchestration ([0-9]+) %", "device_orchestration_efficiency")):
        yield from percent(lines, pattern, rates.get(key) or 0)
    rows = [r for r in whole["regions"] if r["name"] != "TRACE BUFFER FLUSH"]
    table = re.findall(r"^\[gputrace\] +([0-9,]+) +[0-9.]+ (?:ns|us|ms|s) .*?([0-9.]+ %|-)  \S", lines, re.M)
    for row, (calls, share) in zip(rows, table):
        wanted = "-" if row["share"] is None else f"{100 * row['share']:.1f} %"
        if int(calls.replace(",", "")) != row["count"] or share != wanted:
            yield "table", row, calls, share
    if rows and not table:
        yield "no table", rows[0]


directory, report = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
for difference in json_differences(json.loads((directory / "summary.json").read_text(encoding="utf-8")), report):
    print(*difference)
for difference in text_differences((directory / "SUMMARY").read_text(encoding="utf-8"), report):
    print(*difference)
