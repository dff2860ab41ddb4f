# SPDX-License-Identifier: BSD-3-Clause
"""lives.py REPORT NAME: does the report of a program of lives.c say what is so of it?

Prints "ok" or "not ok" with each claim. What functions took is known from their own time, which a busy
machine makes longer; everything else follows from that.

Limits: the time in which a thread wants to begin, and there is no processor, is on the path beside functions.
"""
import json
import sys

# What each round waits for, and the functions that nobody waits for.
PATHS = {
    "rounds": (["serial_part", "slow_part"], ["quick_part"]),
    "detached": (["serial_part", "slow_part"], []),
    "nested": (["serial_part", "quick_part", "slow_part", "after_part"], []),
    "joiner": (["serial_part", "slow_part", "after_part"], []),
    "forks": (["serial_part", "slow_part", "after_part"], ["quick_part"]),
    "late_fork": (["serial_part", "slow_part", "after_part"], ["quick_part"]),
    "pooled": (["serial_part", "slow_part"], []),
    "outlived": (["serial_part", "main_part"], []),
}
# How many threads a round has at most at once. They live as long as it does, but not through the serial part
# before it; one that nobody joins may still be about to end then.
AT_ONCE = {"rounds": 2, "detached": 1, "nested": 2, "joiner": 2, "forks": 2, "late_fork": 2}
NEAR = 0.03


def near(a, b):
    """Are two times as good as equal?"""
    return abs(a - b) <= NEAR * max(a, b)


def main():
    """Prints all claims."""
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    name = sys.argv[2]
    own = {r["name"]: r["exclusive_s"] for r in report["regions"]}
    path = {r["region"]: r for r in report["critical_path"]}
    on, off = PATHS[name]

    def claim(holds, text, *figures):
        print("ok" if holds else "not ok", f"{name}: {text}", *(figures if not holds else ()))

    for function in on:
        row = path.get(function, {"seconds": 0, "gain_s": 0})
        claim(near(row["seconds"], own[function]), f"all of {function} is on the path", row, own[function])
    claim(not any(f in path for f in off), "nothing is that nobody waits for", path, own)
    serial = path.get("serial_part", {"gain_s": 0})
    claim(near(serial["gain_s"] or 0, own["serial_part"]), "without the serial part it is as much shorter",
          serial, own)
    if name == "outlived":
        gain, main_part, early_part = path["main_part"]["gain_s"], own["main_part"], own["early_part"]
        claim((main_part - early_part) / 2 <= gain <= main_part - early_part / 2,
              "without main_part the early thread is waited for", gain, main_part, early_part)
    threads = report["locations"]
    lives = sum(t["duration_s"] for t in threads)
    within = sum(t["duration_s"] for t in threads if t["kind"] == "thread")
    alive = report["duration_s"] - own["serial_part"] / (2 if name == "detached" else 1)
    claim(name not in AT_ONCE or within <= AT_ONCE[name] * alive, "no thread lives beside the serial part",
          within, alive)
    shares = sum(r["share"] or 0 for r in report["regions"])
    idle = sum(r.get("idle_s") or 0 for r in report["regions"])
    seen = sum(r["exclusive_s"] for r in report["regions"]) - idle
    claim(near(shares, seen / (lives - idle)), "shares are of lives", shares, seen, lives, idle)


main()
