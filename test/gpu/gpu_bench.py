# SPDX-License-Identifier: BSD-3-Clause
"""What gputrace costs on a GPU machine: by turns without a tool, with CUPTI alone and with gputrace.

Limits: medians over the turns; nothing else may run on the machine.
"""
import re
import shutil
import sys
from statistics import median

import gpu_cases


def figure(text, name="ns"):
    found = re.findall(rf"^TIME {name}=([0-9.]+)$", text, re.M)
    return float(found[-1]) if found else None


# What a tool's run is given beside the command: the library that is loaded, or gputrace's settings.
TOOLS = {
    "none": {},
    "cupti": {"CUDA_INJECTION64_PATH": "@libreference.so"},
    "cupti+callbacks": {"CUDA_INJECTION64_PATH": "@libreference_callbacks.so"},
    "cupti+all callbacks": {"CUDA_INJECTION64_PATH": "@libreference_callbacks.so",
                            "REFERENCE_DRIVER": "1"},
    "gputrace": {},
    "gputrace without calls": {"VT_GPUTRACE": "kernel,memcpy"},
    "gputrace without parameters": {"VT_GPUTRACE_KERNEL": "no"},
    "profiler": {},
}


class Bench:
    def __init__(self, suite):
        self.suite = suite
        self.number = 0

    def once(self, tool, command, env, timeout, name):
        """One run; its figure, or None."""
        suite, env = self.suite, dict(env)
        command = suite.words(command)
        self.number += 1
        directory = suite.work / f"bench-{self.number}"
        env |= {name: suite.words([value])[0] for name, value in TOOLS[tool].items()}
        if tool.startswith("gputrace"):
            command = [suite.gputrace, "run", "-o", directory, *command]
        elif tool == "profiler":
            command = [*command, "profiler"]
        rc, out, err = suite.plain(command, env, timeout)
        shutil.rmtree(directory, ignore_errors=True)
        value = figure(out, name)
        if rc or value is None:
            suite.verdict(f"bench {tool}", False, f"status {rc}: {(out + err)[-300:]!r}")
        return value

    def turns(self, tools, command, rounds, env=(), timeout=200, name="ns"):
        """Medians by tool."""
        values = {tool: [] for tool in tools}
        for _ in range(rounds):
            for tool in tools:
                value = self.once(tool, command, dict(env), timeout, name)
                if value is not None:
                    values[tool].append(value)
        return {tool: (median(v) if v else float("nan"), min(v, default=0), max(v, default=0))
                for tool, v in values.items()}

    def show(self, what, values, unit="ns", scale=1):
        unit = {1000: "ms"}.get(scale, unit)
        values = {tool: [scale * x for x in v] for tool, v in values.items()}
        base = values["none"][0]
        self.suite.say(f"# {what}: " + "; ".join(
            f"{tool} {v[0]:.1f} {unit} ({v[1]:.1f} to {v[2]:.1f}" +
            (f", {v[0] - base:+.1f}, {100 * (v[0] / base - 1):+.2f} %" if tool != "none" else "") +
            ")" for tool, v in values.items()))


def memory(bench, launches):
    """The size of the process over many launches."""
    suite = bench.suite
    directory = suite.work / "bench-memory"
    rc, out, err = suite.plain([suite.gputrace, "run", "-o", directory, suite.work / "loop", "launch",
                                str(launches), "10"], timeout=540)
    shutil.rmtree(directory, ignore_errors=True)
    sizes = [int(kb) for kb in re.findall(r"^RESIDENT at=\d+ kb=(\d+)$", out, re.M)]
    suite.say(f"# memory over {launches} launches, MB: " + " ".join(f"{kb / 1e3:.1f}" for kb in sizes))
    suite.verdict("bench memory", not rc and len(sizes) == 10 and
                  sizes[-1] - sizes[1] <= 0.02 * sizes[1] + 4096,
                  f"{sizes[1] / 1e3:.1f} MB after a fifth, {sizes[-1] / 1e3:.1f} MB at the end"
                  if len(sizes) == 10 else f"status {rc}: {(out + err)[-300:]!r}")


def loops(bench, rounds, detail):
    """Loops that only launch, or only copy."""
    suite = bench.suite
    tools = [t for t in TOOLS if t != "profiler"] if detail else ["none", "cupti", "cupti+callbacks",
                                                                 "gputrace"]

    launch = bench.turns(tools, ["@loop", "launch", "200000"], rounds)
    bench.show("an empty launch", launch)
    added = launch["gputrace"][0] - launch["none"][0]
    floor = launch["cupti"][0] - launch["none"][0]
    same = launch["cupti+callbacks"][0] - launch["none"][0]
    suite.verdict("bench launch", added <= floor + 150 and added <= 1000,
                  f"{added:.0f} ns added; CUPTI alone {floor:.0f} ns, with callbacks {same:.0f} ns")
    copy = bench.turns(tools, ["@loop", "copy", "200000"], rounds)
    bench.show("a 4 KB copy", copy)
    added = copy["gputrace"][0] - copy["none"][0]
    floor = copy["cupti"][0] - copy["none"][0]
    suite.verdict("bench copy", added <= floor + 150, f"{added:.0f} ns added, CUPTI alone "
                  f"{floor:.0f} ns")


def long_runs(bench):
    """What takes minutes: two million launches by PyTorch, thirty million by a program."""
    if bench.suite.plain([sys.executable, "-c", "import torch"])[0] == 0:
        bench.show("one of 2 million launches by PyTorch",
                   bench.turns(["none", "gputrace", "profiler"],
                               [sys.executable, "%torch_loop.py", "2000000"], 1, timeout=300))
    memory(bench, 30000000)


def run(suite, options):
    """All measurements, the long ones, or the loops alone in more detail."""
    bench, rounds = Bench(suite), options.rounds
    if options.long:
        long_runs(bench)
        return
    if options.loops:
        loops(bench, rounds, True)
        return
    gpu_cases.kernel_times(suite, "kernel-times", max(rounds // 2, 1))
    loops(bench, rounds, False)
    busy = bench.turns(["none", "gputrace"], ["@blas", "8192", "160"], max(rounds - 2, 1),
                       name="seconds")
    bench.show("a GPU-bound program", busy, "s", 1000)
    slower = busy["gputrace"][0] / busy["none"][0] - 1
    suite.verdict("bench GPU-bound", slower <= 0.002, f"{100 * slower:+.3f} %")
    if suite.plain([sys.executable, "-c", "import torch"])[0] == 0:
        for what, command in (("a training step of PyTorch", ["%torch_step.py", "300"]),
                              ("a launch by PyTorch", ["%torch_loop.py", "200000"])):
            bench.show(what, bench.turns(["none", "gputrace", "profiler"],
                                         [sys.executable, *command], max(rounds // 2, 1)))
    memory(bench, 5000000)
