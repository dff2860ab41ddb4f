# SPDX-License-Identifier: BSD-3-Clause
"""channels.py REPORT NAME: does the report of a program of channels.c say what is so of it?

Prints "ok" or "not ok" with each claim. What functions took is known from their own time, which a busy
machine makes longer; everything else follows from that.

Limits: threads and processes that are late because there is no processor do nothing that is recorded
meanwhile: so much the times may differ.
"""
import json
import sys

ITEMS = 20
READER, WRITER = "late writer", "late reader" # who waits
SLOW, QUICK, TINY = "slow_part", "quick_part", "tiny_part"
SLEEPS = {SLOW: 0.02, QUICK: 0.004, TINY: 0.001, "other_part": 0.02, "last_part": 0.15} # seconds of a call
# By program: functions of which all is on the path, and how much shorter the run is without each. Waits:
# class, call, who made it late, seconds (None: nobody knows). own: seconds in each function.
CASES = {
    "slow_writer": ((SLOW,), lambda own: {SLOW: own[SLOW] - but_one(own[QUICK])},
                    lambda own: [(READER, "read", SLOW, own[SLOW] - but_one(own[QUICK]))]),
    "threads": ((SLOW,), lambda own: {SLOW: own[SLOW] - but_one(own[QUICK])},
                lambda own: [(READER, "read", SLOW, own[SLOW] - but_one(own[QUICK]))]),
    "slow_reader": ((SLOW,), lambda own: {SLOW: own[SLOW] - but_one(own[QUICK])},
                    # one item is in the pipe, another one with the reader
                    lambda own: [(WRITER, "write", SLOW,
                                  own[SLOW] * (1 - 2 / ITEMS) - but_one(own[QUICK]))]),
    "three_stages": ((SLOW,), lambda own: {SLOW: own[SLOW] - but_one(own[QUICK])},
                     # both the stage before it and the one behind it wait
                     lambda own: [(READER, "read", SLOW, None),
                                  (WRITER, "write", SLOW, own[SLOW] - but_one(own[TINY]) +
                                   own[SLOW] * (1 - 2 / ITEMS) - but_one(own[QUICK]))]),
    "far_ahead": ((QUICK,), lambda own: {QUICK: own[QUICK]}, lambda own: []),
    "sockets": ((SLOW, QUICK), lambda own: {SLOW: own[SLOW], QUICK: own[QUICK]},
                lambda own: [(READER, "read", SLOW, own[SLOW]), (READER, "read", QUICK, own[QUICK])]),
    "events": ((SLOW, QUICK), lambda own: {SLOW: own[SLOW], QUICK: own[QUICK]},
               lambda own: [(READER, "read", SLOW, own[SLOW]), (READER, "read", QUICK, own[QUICK])]),
    "two_writers": ((SLOW, "other_part"), lambda own: {SLOW: own[SLOW], "other_part": own["other_part"]},
                    lambda own: [(READER, "read", SLOW, None), (READER, "read", "other_part", None)]),
    "no_data": (("last_part",), lambda own: {"last_part": own["last_part"]},
                lambda own: [(READER, "read", "last_part", own["last_part"])]),
    "printed": ((SLOW, "last_part"), lambda own: {SLOW: own[SLOW], "last_part": own["last_part"]},
                lambda own: [(READER, "fgets", SLOW, own[SLOW]),
                             (READER, "fgets", "last_part", own["last_part"])]),
    # It is not known who wrote, so nothing is said of it.
    "unknown": (("fgets",), lambda own: {}, lambda own: []),
}


def but_one(seconds):
    """Of items, those that another stage did meanwhile."""
    return seconds * (1 - 1 / ITEMS)


def main():
    """Prints all claims."""
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    name = sys.argv[2]
    on, gains, waits = CASES[name]
    own = {r["name"]: r["exclusive_s"] for r in report["regions"]}
    path = {r["region"]: r for r in report["critical_path"]}
    seen = [w for w in report["waits"] if w["class"] in (READER, WRITER)]
    # Of their lives the time outside of functions, what calls took beside waits, and sleeps that were longer.
    outside = sum(t["duration_s"] for t in report["locations"]) - sum(own.values())
    outside += sum(path.get(f, {"seconds": 0})["seconds"] for f in ("(no region)", "(nothing recorded)"))
    beside = sum(own.get(f, 0) for f in ("read", "write", "fgets")) - sum(w["seconds"] for w in seen)
    outside += sum(r["exclusive_s"] - r["count"] * SLEEPS[r["name"]]
                   for r in report["regions"] if r["name"] in SLEEPS)
    slack = 0.02 * report["duration_s"] + outside + min(beside, 0.05 * report["duration_s"])

    def claim(holds, text, *figures):
        print("ok" if holds else "not ok", f"{name}: {text}", *(figures if not holds else ()))

    for function in on:
        row = path.get(function, {"seconds": 0})
        claim(abs(row["seconds"] - own[function]) <= min(slack, own[function] / 4),
              f"all of {function} is on the path", row, own[function])
    for function, gain in gains(own).items():
        row = path.get(function, {"gain_s": None})
        claim(abs((row["gain_s"] or 0) - gain) <= slack, f"without {function} it is as much shorter",
              row, gain, slack)
    for kind, call, function, seconds in waits(own):
        rows = [w for w in seen if w["class"] == kind and w["region"] == call]
        claim(rows and all(w["cause_location"] not in (None, w["location"]) for w in rows),
              f"{call} waits for another ({kind})", seen)
        late = [d for d in report["delays"] if d["path"].endswith(function)]
        claim(late and (seconds is None or abs(sum(d["seconds"] for d in late) - seconds) <= slack),
              f"... for {function}, and so long", late, seconds, slack)
    if name in ("slow_writer", "slow_reader", "threads", "sockets", "events"):
        parts = sum(s for f, s in own.items() if f in SLEEPS)
        efficiency = report["efficiencies"]["parallel_efficiency"]
        claim(abs(efficiency * 2 * report["duration_s"] - parts) <= slack,
              "who waits for the other one does not work", efficiency, parts, report["duration_s"])
    late = [f for f in report["findings"] if f["id"] == "late-peer"]
    claim(len(late) == (name not in ("far_ahead", "unknown")), "late-peer is found where somebody is", late)
    for finding in late:
        claim(any(f"{f} then" in finding["text"] for f in on), "... and what it does then", finding)
        claim(finding["seconds"] <= sum(w["seconds"] for w in seen if w["location"] == finding["location"]) + 1e-6,
              "... and gains no more than was waited", finding, seen)
    if name == "unknown":
        row, half = path[QUICK], own[QUICK] / 2 # the wait after the first call ends when it does
        claim(not seen, "nobody is said to be late", seen)
        claim(row["gain_s"] is None and row["gain_low_s"] - slack <= half <= row["gain_high_s"],
              "what would be gained is between two figures", row, half, slack)


main()
