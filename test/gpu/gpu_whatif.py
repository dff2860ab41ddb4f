# SPDX-License-Identifier: BSD-3-Clause
"""Predictions, for test/gpu/run: a program is recorded, `gputrace whatif` says how long it takes when it is changed,
and it is really changed (whatif.cu).

The run is its loop and what comes before and behind it, which stays: what is predicted of the loop is its time and
how much the whole run gets shorter.

Limits: both loops are measured under gputrace, up to three times, as both differ from run to run.
"""
import json

NEAR = 0.03
NEAR_COPIES = 0.06  # how fast they are depends on what is between them, and on the run
TRIES = 3
# Shape, change, arguments; those of the program that is changed, and its shape if it is another one.
CHANGES = [
    ("serial", "kernel k_first*0.5", (400, 1000, 500, 0), (400, 500, 500, 0)),
    ("serial", "kernel k_second*3", (300, 1000, 500, 200), (300, 1000, 1500, 200)),
    ("streams", "kernel k_first*0.25", (300, 2000, 1000, 400), (300, 500, 1000, 400)),
    ("streams", "kernel k_second*2", (300, 1000, 800, 400), (300, 1000, 1600, 400)),
    ("streams", "kernel k_third=0", (300, 1000, 800, 400), (300, 1000, 800, 0)),
    ("chain", "kernel k_third*0.5", (300, 1000, 500, 2000), (300, 1000, 500, 1000)),
    ("chain", "kernel k_third*0.1", (300, 1000, 1000, 2000), (300, 1000, 1000, 200)),
    ("chain", "kernel k_first*2", (300, 500, 500, 1000), (300, 1000, 500, 1000)),
    ("ahead", "kernel k_first*0.5", (300, 2000, 500, 0), (300, 1000, 500, 0)),
    ("ahead", "kernel k_*=0", (300, 500, 500, 3000), (300, 0, 0, 3000)),
    ("ahead", "kernel k_first*0.2", (300, 3000, 200, 1500), (300, 600, 200, 1500)),
    ("threads", "kernel k_first*0.25", (300, 2000, 1000, 0), (300, 500, 1000, 0)),
    ("threads", "kernel k_second*3", (300, 2000, 1000, 0), (300, 2000, 3000, 0)),
    ("copies", "kernel cudaMemcpy*H2D**0.5", (200, 500, 0, 32768), (200, 500, 0, 16384)),
    ("copies", "kernel k_first*0.5", (200, 2000, 0, 32768), (200, 1000, 0, 32768)),
    ("copies", "copies overlap", (200, 2000, 0, 32768), (200, 2000, 0, 32768), "overlapped"),
    ("copies", "copies overlap", (200, 300, 0, 49152), (200, 300, 0, 49152), "overlapped"),
]


def jobs(suite, nvcc, flags):
    return [[nvcc, *flags, suite.programs / "whatif.cu", "-o", suite.work / "whatif"]]


def compared(suite, name, what, last):
    """Is it as predicted? The last try has verdicts for all, whatever it is."""
    shape, words, before, after, *other = what
    trace, counts, _ = suite.record(name, [suite.work / "whatif", shape, *map(str, before)])
    changed, new, _ = suite.record(f"{name}-changed", [suite.work / "whatif", *(other or [shape]), *map(str, after)])
    if not trace or not changed:
        return True
    rc, out, err = suite.plain([suite.gputrace, "whatif", "--json", trace.directory, words])
    if rc:
        suite.verdict(f"{name} whatif", False, err.strip()[-200:])
        return True
    said = json.loads(out)
    loop, loop_changed = counts["loop_ns"] / 1e9, new["loop_ns"] / 1e9
    predicted, low, high = (loop + said[key] - said["duration_s"] for key in ("predicted_s", "low_s", "high_s"))
    text = f"{shape}, {words}: {loop:.4f} s, predicted {predicted:.4f} s ({low:.4f} to {high:.4f}), " \
           f"changed {loop_changed:.4f} s: {100 * (predicted / loop_changed - 1):+.1f} %"
    near = (NEAR_COPIES if shape == "copies" else NEAR) * loop_changed
    good = abs(predicted - loop_changed) <= near
    if not good and not last:
        suite.say(f"# {name}: {text}")
        return False
    suite.verdict(f"{name} predicted", good, text)
    path = sum(row["seconds"] for row in said["critical_path"])
    suite.verdict(f"{name} path", abs(path - said["predicted_s"]) < 1e-6, f"{path} of {said['predicted_s']}")
    return True


def change(what):
    def case(suite, name):
        for number in range(TRIES):
            if compared(suite, f"{name}-{number}" if number else name, what, number == TRIES - 1):
                break
    return case


def cases(suite):
    return [(f"whatif-{number}", change(what)) for number, what in enumerate(CHANGES)] if suite.gpus else []
