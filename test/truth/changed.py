# SPDX-License-Identifier: BSD-3-Clause
"""changed.py REPORT NAME WITHOUT: does the report of a program of exits.c or children.c say what is so?

WITHOUT: the report of the same program without `part`. Prints "ok" or "not ok" with each claim. What
functions took is known from their own time, which a busy machine makes longer; everything else follows.

Limits: a busy machine may make either run longer for other reasons: by what is not in FUNCTIONS on its path.
"""
import json
import sys

# Where short_work() is done beside it, and waited for without it; the program that does `part` begins later.
BESIDE = ["main_leaves", "child_main_leaves", "system_both", "popen_beside", "spawn"]
FUNCTIONS = ["begins", "before", "part", "short_work", "after"]
NEAR = 0.03


def near(a, b, by=0):
    """Are two times as good as equal?"""
    return abs(a - b) <= NEAR * max(a, b) + by


def read(path):
    """The report in a file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def otherwise(report):
    """What starting processes and the like took of the run."""
    return sum(r["seconds"] for r in report["critical_path"] if r["region"] not in FUNCTIONS)


def main():
    """Prints all claims."""
    report, name, changed = read(sys.argv[1]), sys.argv[2], read(sys.argv[3])
    own = {r["name"]: r["exclusive_s"] for r in report["regions"]}
    rows = {r["region"]: r for r in report["critical_path"]}
    part = rows.get("part", {"seconds": 0, "gain_s": 0})
    rest = own["short_work"] - (0 if "main_leaves" in name else own["begins"]) if name in BESIDE else 0
    late = 0.01 + otherwise(report)

    def claim(holds, text, *figures):
        print("ok" if holds else "not ok", f"{name}: {text}", *(figures if not holds else ()))

    claim(near(part["seconds"], own["part"]), "all of it is on the path", part, own["part"])
    claim(near(part["gain_s"] or 0, own["part"] - rest, late), "without it the run is as much shorter",
          part, own)
    saved = report["duration_s"] - changed["duration_s"]
    claim(near(part["gain_s"] or 0, saved, 0.03 + otherwise(report) + otherwise(changed)),
          "and so it was when it was not there", part, saved)
    claim(not {"background", "short_work"} & set(rows), "nothing is on the path that nobody waits for",
          rows)
    for function in {"before", "after"} & set(own):  # a child of vfork() began somewhere in between
        claim(near(rows[function]["gain_s"] or 0, own[function], 0.01), f"all of {function} was needed",
              rows, own)
    claim(all((r["gain_s"] or 0) <= r["seconds"] for r in rows.values()), "no gain is more than its path",
          rows)
    claim(near(sum(r["seconds"] for r in rows.values()), report["duration_s"]),
          "the path is as long as the run", rows, report["duration_s"])


main()
