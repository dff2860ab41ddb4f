#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the JSON schema of `gputrace report --json`, from the tables of columns in report/.

  schema.py SOURCE_FOLDER >doc/report.schema.json

Limits: finds tables as they are written there: `struct gt_column NAME[]` and GT_SECTION().
"""
import json
import pathlib
import re
import sys

TYPES = {"GT_TEXT": ("string", ""), "GT_WORD": ("string", ""), "GT_COUNT": ("integer", ""), "GT_BYTES": ("integer", "bytes"),
         "GT_SECONDS": ("number", "seconds"), "GT_RATE": ("number", "bytes per second"),
         "GT_SHARE": ("number", "0 to 1"), "GT_NUMBER": ("number", "")}


def columns_of(body):
    """The properties of a row."""
    found = {}
    for key, unit in re.findall(r'\{\s*"(\w+)",\s*(?:NULL|"[^"]*"),\s*(GT_\w+)\s*\}', body):
        kind, text = TYPES[unit]
        found[key] = {"type": [kind, "null"]}
        if text:
            found[key]["description"] = text
    return found


def row_of(columns):
    return {"type": "object", "properties": columns, "required": list(columns), "additionalProperties": False}


def main():
    tops, sections = {}, {}
    rooms = (pathlib.Path(sys.argv[1], "report", room) for room in ("findings", "sections", "waits"))
    paths = (path for room in rooms for path in room.glob("*.c") if path.name != "whatif.c")  # another command's
    for path in sorted(paths, key=lambda path: path.name):
        text = path.read_text()
        tables = {name: columns_of(body) for name, body in
                  re.findall(r"struct gt_column (\w+)\[\] = \{(.*?)\n\};", text, re.S)}
        for key, title, shape, columns in re.findall(
                r'GT_SECTION\(\s*"([\w.]+)",\s*"([^"]+)",\s*(\w+),\s*(\w+)[,)]', text):
            sections[key] = (title, shape, tables[columns])
    properties = {}
    for key, (title, shape, columns) in sections.items():
        if shape == "GT_TOP":
            tops.update(columns)
        elif "." not in key:
            properties[key] = dict(title=title, **(
                {"type": "array", "items": row_of(columns)} if shape in ("GT_ROWS", "GT_NOTES")
                # an object is empty where nothing is known
                else {"type": "object", "properties": dict(columns), "additionalProperties": False}))
    for key, (title, _, columns) in sections.items():
        if "." in key:
            owner, name = key.split(".")
            properties[owner]["properties"][name] = {"title": title, "type": "array", "items": row_of(columns)}
    tops.update(properties)
    print(json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "title": "gputrace report --json",
                      "type": "object", "properties": tops, "required": list(tops),
                      "additionalProperties": False}, indent=1))


main()
