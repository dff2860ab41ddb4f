#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a run and its report tell the same, to the last digit: summary.py DIR REPORT.json.

Prints one line for each difference: a key of summary.json that the report has with another value, and a line of
SUMMARY whose figure is another one than the report's.
Limits: summary.json has the first rows of long tables (of samples and states, fewer), and of findings the first three columns.
"""
import json
import re
import sys
from pathlib import Path

ROWS, SAMPLES = 50, 20
OWN = {"events", "archive_bytes", "measurement_s", "unseen_s"}
NOTES = {"findings": ("seconds", "id", "text"), "shortfalls": ("count", "text", "property")}


def cut(value, key):
    """The part of a report's value that summary.json has."""
    if isinstance(value, dict):
        return {k: cut(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [{k: v for k, v in row.items() if key not in NOTES or k in NOTES[key]}
                for row in value[:SAMPLES if key in ("samples", "lines", "thread_states") else ROWS]]
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


UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def is_printed(text, value):
    """Is "55.4 ms" what 0.05541 is printed as? Half of the last digit, and what doubles lose."""
    number, unit = text.replace(",", "").split()
    last = 10.0 ** -len(number.partition(".")[2])
    return abs(float(number) - value / UNITS[unit]) <= last * 0.501


def number(text):
    return int(text.replace(",", "")) if text else 0


def head_differences(lines, whole):
    run = re.search(r"^\[gputrace\] (?:.*: )?([0-9.]+ [num]?s), .*; ([0-9,]+) process(?:es)?(?: \(([0-9,]+) \S+ ranks?\))?, "
                    r"([0-9,]+) threads?(?:, ([0-9,]+) GPU streams?)?$", lines, re.M)
    if not run:
        yield "no first line", lines[:200]
        return
    threads = whole["threads"] + (whole["service_threads"] or 0)
    told = whole["processes"], whole["ranks"] or 0, threads, whole["streams"] or 0
    if tuple(map(number, run.groups()[1:])) != told or not is_printed(run[1], whole["duration_s"]):
        yield "first line", run[0], whole["duration_s"], told
    used = re.search(r"^\[gputrace\] processor: ([0-9.]+ [num]?s)(?:.* memory: ([0-9.]+ .?B) peak)?", lines, re.M)
    if used and not is_printed(used[1], whole["processor_s"]):
        yield "processor", used[0], whole["processor_s"]
    if used and used[2] and not is_printed(used[2], whole["memory_peak_bytes"]):
        yield "memory", used[0], whole["memory_peak_bytes"]
    lack = re.search(r"^\[gputrace\] threads waited ([0-9.]+ [num]?s) for a processor, ([0-9]+) %", lines, re.M)
    ready, life = (sum(row[key] or 0 for row in whole["thread_states"]) for key in ("ready_s", "lifetime_s"))
    if lack and (not is_printed(lack[1], ready) or lack[2] != f"{100 * ready / life:.0f}"):
        yield "waited for a processor", lack[0], ready, life
    lack = re.search(r"throttled for ([0-9.]+ [num]?s) by a quota of ([0-9.]+) core", lines)
    if lack and (not is_printed(lack[1], whole["throttled_s"]) or float(lack[2]) != whole["quota_cores"]):
        yield "throttled", lack[0], whole["throttled_s"], whole["quota_cores"]


def sum_differences(lines, whole):
    copies = dict(re.findall(r"(\w+) ([0-9.]+ .?B)(?:, |$)", "".join(re.findall(r"copies of GPUs: (.*)", lines))))
    told = {}
    for row in whole["copies"]:
        if row["direction"] not in (None, "set"):
            told[row["direction"]] = told.get(row["direction"], 0) + row["bytes"]
    if copies.keys() != told.keys() or not all(is_printed(copies[d], told[d]) for d in copies):
        yield "copies", copies, told
    sent = re.search(r"([0-9,]+) messages? with ([0-9.]+ .?B)", lines)
    if number(sent and sent[1]) != whole["messages"]["count"] or \
            (sent and not is_printed(sent[2], whole["messages"]["bytes"])):
        yield "messages", sent, whole["messages"]["count"], whole["messages"]["bytes"]
    calls = re.search(r"([0-9,]+) calls? of (?:a collective|collectives)", lines)
    if number(calls and calls[1]) != sum(row["count"] for row in whole["collectives"]):
        yield "collectives", calls, whole["collectives"]
    lost = re.search(r"LOST ([0-9,]+) events?", lines)
    if number(lost and lost[1]) != whole["losses"]["events"]:
        yield "lost", lost, whole["losses"]["events"]
    flushes = re.search(r"buffer flushes: ([0-9,]+), ([0-9.]+ [num]?s)", lines)
    if number(flushes and flushes[1]) != whole["losses"]["flushes"] or \
            (flushes and not is_printed(flushes[2], whole["losses"]["flush_s"])):
        yield "flushes", flushes, whole["losses"]["flushes"], whole["losses"]["flush_s"]


def text_differences(lines, whole):
    yield from head_differences(lines, whole)
    yield from sum_differences(lines, whole)
    told = [f for f in whole["findings"]][:3]
    said = re.findall(r"^\[gputrace\] (?:(\S+ \S+) to gain|gain not known): (.*?)(?:; in .*)? \(([a-z-]+)\)$", lines, re.M)
    if [(f["text"], f["id"]) for f in told] != [s[1:] for s in said] or \
            not all(is_printed(s[0], f["seconds"]) if s[0] else f["seconds"] is None for s, f in zip(said, told)):
        yield "findings", told, said
    rates = whole["efficiencies"] or {}
    for pattern, key in (("parallel efficiency ([0-9]+) %", "parallel_efficiency"),
                         ("parallel efficiency [^:]*: load balance ([0-9]+) %", "load_balance"),
                         (", communication ([0-9]+) %", "communication_efficiency"),
                         ("offload ([0-9]+) %", "offload_efficiency"),
                         ("GPU efficiency ([0-9]+) %", "device_parallel_efficiency"),
                         ("GPU efficiency [^:]*: load balance ([0-9]+) %", "device_load_balance"),
                         (", threads ([0-9]+) %", "thread_efficiency"),
                         (", copies ([0-9]+) %, orch", "device_copy_efficiency"),
                         ("orchestration ([0-9]+) %", "device_orchestration_efficiency")):
        yield from percent(lines, pattern, rates.get(key) or 0)
    rows = [r for r in whole["regions"] if r["name"] != "TRACE BUFFER FLUSH"]
    table = re.findall(r"^\[gputrace\] +([0-9,]+) +([0-9.]+ [num]?s) .*?([0-9.]+ [num]?s) +([0-9.]+ %|-)  \S", lines, re.M)
    for row, (calls, own, all_of_it, share) in zip(rows, table):
        wanted = "-" if row["share"] is None else f"{100 * row['share']:.1f} %"
        if number(calls) != row["count"] or share != wanted or not is_printed(own, row["exclusive_s"]) or \
                not is_printed(all_of_it, row["inclusive_s"]):
            yield "table", row, calls, own, all_of_it, share
    if rows and not table:
        yield "no table", rows[0]


directory, report = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
for difference in json_differences(json.loads((directory / "summary.json").read_text(encoding="utf-8")), report):
    print(*difference)
for difference in text_differences((directory / "SUMMARY").read_text(encoding="utf-8"), report):
    print(*difference)
