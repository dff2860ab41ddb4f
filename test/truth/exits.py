# SPDX-License-Identifier: BSD-3-Clause
"""exits.py REPORT NAME WITHOUT: does the report of a program of exits.c say what is so of it?

WITHOUT: the report of the same program without `part`. Prints "ok" or "not ok" with each claim. What
functions took is known from their own time, which a busy machine makes longer; everything else follows.

Limits: a busy machine may make either run OTHERWISE seconds longer for other reasons.
"""
import json
import sys

NEAR = 0.03
OTHERWISE = 0.06


def near(a, b, by=0):
    """Are two times as good as equal?"""
    return abs(a - b) <= NEAR * max(a, b) + by


def read(path):
    """The report in a file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    """Prints all claims."""
    report, name, changed = read(sys.argv[1]), sys.argv[2], read(sys.argv[3])
    own = {r["name"]: r["exclusive_s"] for r in report["regions"]}
    rows = {r["region"]: r for r in report["critical_path"]}
    part = rows.get("part", {"seconds": 0, "gain_s": 0})
    # Without it the process would go on until its other thread, the main one, has done its work.
    rest = own["short_work"] if "main_leaves" in name else 0

    def claim(holds, text, *figures):
        print("ok" if holds else "not ok", f"{name}: {text}", *(figures if not holds else ()))

    claim(near(part["seconds"], own["part"]), "all of it is on the path", part, own["part"])
    claim(near(part["gain_s"] or 0, own["part"] - rest, 0.01), "without it the run is as much shorter",
          part, own)
    saved = report["duration_s"] - changed["duration_s"]
    claim(near(part["gain_s"] or 0, saved, OTHERWISE), "and so it was when it was not there", part, saved)
    claim(not {"background", "short_work"} & set(rows), "nothing is on the path that nobody waits for",
          rows)
    claim(near(rows["before"]["gain_s"] or 0, own["before"]), "what came before was needed for all",
          rows, own)
    claim(all((r["gain_s"] or 0) <= r["seconds"] for r in rows.values()), "no gain is more than its path",
          rows)
    claim(near(sum(r["seconds"] for r in rows.values()), report["duration_s"]),
          "the path is as long as the run", rows, report["duration_s"])


main()
