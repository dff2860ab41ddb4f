#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files of `gputrace export --arrow` by pyarrow or polars.

  arrow.py compare READER FOLDER DATABASE   every table has the columns and rows of --sqlite, in any order
  arrow.py order FOLDER CSV                 every table has the rows of --csv, in the same order; of large ones
  arrow.py peak COMMAND...                  runs it, and prints the most memory that one of its processes had, in MiB

Prints what was found, or "no MODULE" where the reader is not installed.
"""
import os
import resource
import sqlite3
import subprocess
import sys

TYPES = {"INTEGER": ("int64", "Int64"), "REAL": ("double", "Float64"), "TEXT": ("string", "String")}


def by_pyarrow(path):
    """(column, type) pairs, and rows."""
    import pyarrow.ipc
    table = pyarrow.ipc.open_file(path).read_all()
    table.validate(full=True)
    return [(f.name, str(f.type)) for f in table.schema], list(zip(*(c.to_pylist() for c in table.columns)))


def by_polars(path):
    import polars
    table = polars.scan_ipc(path).collect()
    return [(name, str(kind)) for name, kind in table.schema.items()], table.rows()


def order(row):
    return tuple((value is not None, value) for value in row)


def compare(reader, folder, database):
    read = globals()["by_" + reader]
    database = sqlite3.connect(database)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert sorted(name + ".arrow" for name in tables) == sorted(os.listdir(folder)), os.listdir(folder)
    rows = missing = 0
    for name in tables:
        columns, got = read(f"{folder}/{name}.arrow")
        want = database.execute(f"SELECT * FROM {name}").fetchall()
        kinds = [(c[1], TYPES[c[2]][reader == "polars"]) for c in database.execute(f"PRAGMA table_info({name})")]
        assert columns == kinds, (name, columns, kinds)
        got, want = sorted(got, key=order), sorted(want, key=order)
        assert got == want, (name, len(got), len(want), [pair for pair in zip(got, want) if pair[0] != pair[1]][:3])
        rows += len(got)
        missing += sum(value is None for row in got for value in row)
    print(f"{len(tables)} tables, {rows} rows, {missing} values missing")


def in_order(folder, tables):
    import pyarrow.csv
    import pyarrow.ipc
    rows = batches = most = 0
    for name in os.listdir(folder):
        file = pyarrow.ipc.open_file(f"{folder}/{name}")
        got = file.read_all()
        options = pyarrow.csv.ConvertOptions(column_types=got.schema, strings_can_be_null=True,
                                             quoted_strings_can_be_null=False, null_values=[""])
        want = pyarrow.csv.read_csv(f"{tables}/{name[:-6]}.csv", convert_options=options)
        assert got.equals(want), name
        rows += got.num_rows
        batches += file.num_record_batches
        most = max([most] + [file.get_batch(i).num_rows for i in range(file.num_record_batches)])
    print(f"{rows} rows in {batches} batches, {most} in the largest")


def peak(*command):
    status = subprocess.run(command, stdout=sys.stderr).returncode
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
    sys.exit(status)


try:
    {"compare": compare, "order": in_order, "peak": peak}[sys.argv[1]](*sys.argv[2:])
except ModuleNotFoundError as error:
    print("no", error.name.split(".")[0])
