#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the queries of doc/questions.md on an export, and compares with what python3-otf2 finds in the archive.

  questions.py ENGINE DOCUMENT EXPORT ANCHOR    sqlite, pandas: of a database; duckdb, polars, parquet: of CSV;
                                                duckdb-arrow, polars-arrow, feather: of Arrow files

Prints "five answers", or the number of rows of what was converted, or "no MODULE" where the engine is not installed.
"""
import os
import re
import sqlite3
import sys
from collections import defaultdict

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import otf2
from otf2 import events as E
from compare import Archive

engine, document, export, anchor = sys.argv[1:]
with open(document, encoding="utf-8") as f:
    text = f.read()
queries = re.findall(r"```sql\n(.*?)```", text, re.S)
code = [block.replace("a/{table}", export + "/{table}") for block in re.findall(r"```python\n(.*?)```", text, re.S)]
assert len(queries) == 5 and len(code) == 8
scan = re.search(r"of CSV files, `(pl\.scan_csv\(.*?\))`", text).group(1).replace("a/{table}", export + "/{table}")
opens = {"duckdb": code[1], "duckdb_arrow": code[0], "polars_arrow": code[2],
         "polars": re.sub(r"pl\.scan_ipc\(.*?\)", lambda _: scan, code[2])}


def by_sqlite():
    return [sqlite3.connect(export).execute(q).fetchall() for q in queries]


def by_pandas():
    import pandas
    return [list(pandas.read_sql(q, sqlite3.connect(export)).itertuples(index=False, name=None)) for q in queries]


def by_duckdb(opening="duckdb"):
    import duckdb
    exec(opens[opening], {})
    return [duckdb.sql(q).fetchall() for q in queries]


def by_polars(opening="polars"):
    names, answers = {}, []
    exec(opens[opening], names)
    for block in code[3:]:
        lines = block.split("\n(", 1) if not block.startswith("(") else ["", block[1:]]
        exec(lines[0], names)
        answers.append(eval("(" + lines[1], names).collect().rows())
    return answers


def by_duckdb_arrow():
    return by_duckdb("duckdb_arrow")


def by_polars_arrow():
    return by_polars("polars_arrow")


def converted():
    """The document's lines for single tables: as many rows as there are calls."""
    lines = dict(zip(("feather", "parquet"), re.findall(r"`(\w+\.[^`]*a/calls[^`]*)`", text)))
    line = lines[engine].replace("a/calls", export + "/calls")
    os.chdir(os.path.dirname(export))
    if engine == "parquet":
        import duckdb
        eval(line, {"duckdb": duckdb})
        rows = duckdb.sql("SELECT count(*) FROM 'calls.parquet'").fetchall()[0][0]
    else:
        import pandas
        import pyarrow
        rows = len(eval(line, {"pandas": pandas}))
    assert rows == sum(Archive(anchor, 0, 1 << 63, None).calls.values())
    print(f"{rows} rows")


try:
    if engine in ("parquet", "feather"):
        sys.exit(converted())
    profile, traffic, unequal, launched, late = globals()["by_" + engine.replace("-", "_")]()
except ModuleNotFoundError as missing:
    sys.exit(print(f"no {missing.name}"))

archive = Archive(anchor, 0, 1 << 63, None)
calls, inclusive, own = defaultdict(int), defaultdict(int), defaultdict(lambda: defaultdict(int))
for (who, name, begin, end, _, _), n in archive.calls.items():
    calls[name] += n
    inclusive[name] += n * (end - begin)
for path, ns in archive.folded.items():
    own[path.split(";")[-1].replace("\\x1b", "\x1b")][path.split(";")[0]] += ns


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)


assert {r[0] for r in profile} == set(calls)
for name, count, inclusive_s, self_s in profile:
    assert count == calls[name] and near(inclusive_s, inclusive[name] / 1e9) and near(self_s, sum(own[name].values()) / 1e9)
assert [r[3] for r in profile] == sorted((r[3] for r in profile), reverse=True)

sent = defaultdict(lambda: [0, 0, 0])
for (sender, receiver, begin, end, _, length), n in archive.messages().items():
    row = sent[sender.split("/")[0], receiver.split("/")[0]]
    row[:] = [row[0] + n, row[1] + n * length, max(row[2], end - begin)]
assert {(r[0], r[1]): list(r[2:]) for r in traffic} == dict(sent) and sent

for name, processes, mean_s, max_s, imbalance in unequal:
    times = own[name].values()
    assert processes == len(times) and near(max_s, max(times) / 1e9) and near(mean_s, sum(times) / len(times) / 1e9)
    assert near(imbalance, max(times) * len(times) / sum(times) - 1)
assert {r[0] for r in unequal} == {name for name, times in own.items() if sum(times.values())}

delays = [end - begin for (begin, end), n in archive.launches().items() for _ in range(n)]
assert sum(r[1] for r in launched) == len(delays) and min(r[2] for r in launched) == min(delays)
assert max(r[4] for r in launched) == max(delays) and near(sum(r[1] * r[3] for r in launched), sum(delays))

begins = defaultdict(list)
with otf2.reader.open(anchor) as trace:
    order = {location: i for i, location in enumerate(trace.definitions.locations)}
    for location, event in trace.events:
        if isinstance(event, E.MpiCollectiveBegin):
            begins[location].append(event.time - trace.definitions.clock_properties.global_offset)
waited, times_last = defaultdict(int), defaultdict(int)
for barrier in zip(*([(time, location) for time in times] for location, times in begins.items())):
    time, location = max(barrier, key=lambda b: (b[0], -order[b[1]]))
    waited[location.group.name] += sum(time - b[0] for b in barrier)
    times_last[location.group.name] += 1
assert sum(r[2] for r in late) == sum(times_last.values()) > 0
assert {r[0]: r[3] for r in late} == dict(waited)
print("five answers")
