# SPDX-License-Identifier: BSD-3-Clause
"""Findings, for test/gpu/run: each fault of faults.cu is found, in its own run, and its clean twin has none.

Limits: the finding about several GPUs is left out where there is one.
"""
import json
from pathlib import Path

FAULTS = ("blocking-copy", "pageable-copy", "no-overlap", "tiny-kernels", "gpu-gaps", "sync-each-launch", "gpu-memory",
          "one-stream", "unbalanced-gpus")


def jobs(suite, nvcc, flags):
    return [[nvcc, *flags, suite.programs / "faults.cu", "-o", suite.work / "faults"]]


def findings(suite, name, words):
    """{id: sentence} of the report, and the ids of the summary, or None."""
    trace, _, _ = suite.record(name, [suite.work / "faults", *words])
    if not trace:
        return None
    rc, out, err = suite.plain([suite.gputrace, "report", "--json", trace.directory])
    if not suite.verdict(f"{name} report", not rc, err.strip()[-200:]):
        return None
    summary = json.loads((Path(trace.directory) / "summary.json").read_text())
    return ({f["id"]: f"{(f['seconds'] or 0) * 1e3:.0f} ms: {f['text']}" for f in json.loads(out)["findings"]},
            {f["id"] for f in summary.get("findings", [])})


def fault(word):
    def case(suite, name):
        planted = findings(suite, name, [word])
        clean = findings(suite, f"{name}-clean", [word, "clean"])
        if not planted or not clean:
            return
        suite.verdict(f"{name} is found", word in planted[0],
                      planted[0].get(word) or f"found instead: {', '.join(planted[0])}")
        suite.say(f"# {name}: also {', '.join(sorted(set(planted[0]) - {word})) or 'nothing'}")
        suite.verdict(f"{name} clean twin", not clean[0], "; ".join(f"{k}: {v}" for k, v in clean[0].items()) or "silent")
        suite.verdict(f"{name} summary", word in planted[1] and planted[1] <= set(planted[0]) and not clean[1],
                      f"{', '.join(sorted(planted[1])) or 'nothing'}; clean: {', '.join(sorted(clean[1])) or 'nothing'}")
    return case


def cases(suite):
    return [(f"finding-{word}", fault(word)) for word in FAULTS[:len(FAULTS) - (suite.gpus < 2)]] if suite.gpus else []
