# SPDX-License-Identifier: BSD-3-Clause
"""What gputrace costs on a GPU machine: by turns without a tool, with CUPTI alone and with gputrace.

Launches and copies are measured in processes that all run at the same time, each with another tool, and
take turns of some milliseconds: what changes from one minute or process to the next is in all of them.
A process that is loaded again may be faster or slower by several 100 ns for as long as it lives, whatever
the tool: so many sets of fresh processes are made, each on another processor. What a tool adds is, in each
set, the median of the differences of turns that follow each other; and of these the median over the sets,
with the interval in which that lies with 95 % confidence.

Limits: medians over the turns; nothing else may run on the machine.
"""
import math
import os
import random
import re
import shutil
import subprocess
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
    "cupti+runtime callbacks": {"CUDA_INJECTION64_PATH": "@libreference_callbacks.so",
                                "REFERENCE_DOMAINS": "runtime"},
    "cupti+all callbacks": {"CUDA_INJECTION64_PATH": "@libreference_callbacks.so",
                            "REFERENCE_DOMAINS": "runtime,driver"},
    "gputrace": {},
    "gputrace without calls": {"VT_GPUTRACE": "kernel,memcpy"},
    "gputrace without parameters": {"VT_GPUTRACE_KERNEL": "no"},
    "profiler": {},
}


def interval(values):
    """The median and the ends of its 95 % confidence interval, from the order of the values alone."""
    values = sorted(values)
    half = 0.98 * math.sqrt(len(values))
    low = max(int(len(values) / 2 - half), 0)
    high = min(int(math.ceil(len(values) / 2 + half)), len(values) - 1)
    return median(values), values[low], values[high]


class Server:
    """`loop serve` under a tool."""

    def __init__(self, bench, tool, cpu):
        suite = bench.suite
        bench.number += 1
        self.directory = suite.work / f"bench-{bench.number}"
        command = suite.words(["@loop", "serve", str(cpu)])
        env = dict(os.environ)
        env |= {name: suite.words([value])[0] for name, value in TOOLS[tool].items()}
        if tool.startswith("gputrace"):
            command = [suite.gputrace, "run", "-o", str(self.directory), *command]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, cwd=suite.work, env=env)

    def answer(self, word):
        for line in self.process.stdout:
            if line.startswith(word):
                return [float(x) for x in line.split()[1:]]
        raise RuntimeError("the program has ended")

    def turn(self, what, number):
        """Nanoseconds of one operation until all are done, and until all are asked for."""
        self.process.stdin.write(f"{what} {number}\n")
        self.process.stdin.flush()
        return self.answer("TURN")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


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

    def together(self, tools, kinds, sets, rounds):
        """[kind][tool][set]: the turns' (done, asked), in the same order for all tools."""
        found = {kind: {tool: [[] for _ in range(sets)] for tool in tools} for kind, _ in kinds}
        cpus = sorted(os.sched_getaffinity(0))
        order = random.Random(1)
        for number in range(sets):
            servers = {tool: Server(self, tool, cpus[-1 - 2 * number % len(cpus)]) for tool in tools}
            try:
                for server in servers.values():
                    server.answer("READY")
                for turn in range(-1, rounds):
                    for kind, count in kinds:
                        for tool in order.sample(tools, len(tools)):
                            seen = servers[tool].turn(kind, count)
                            if turn >= 0:
                                found[kind][tool][number].append(seen)
            finally:
                for server in servers.values():
                    server.close()
        return found

    def added(self, what, turns, tool, base="none", which=0):
        """What `tool` adds to `base`: median and interval of the differences; told."""
        values = interval([median(a[which] - b[which] for a, b in zip(one, other))
                           for one, other in zip(turns[tool], turns[base])])
        self.suite.say(f"#   {what}: {tool} {'after' if base == 'none' else 'beside'} {base}"
                       f"{'' if which == 0 else ', asking only'}: {values[0]:+.0f} ns "
                       f"({values[1]:+.0f} to {values[2]:+.0f})")
        return values

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


def loops(bench, sets, rounds, detail):
    """Loops that only launch, or only copy."""
    suite = bench.suite
    tools = [t for t in TOOLS if t != "profiler"] if detail else ["none", "cupti", "cupti+callbacks",
                                                                 "gputrace"]
    turns = bench.together(tools, [("launch", 20000), ("copy", 10000)], sets, rounds)
    for kind, name in (("launch", "an empty launch"), ("copy", "a 4 KB copy")):
        alone = interval([median(t[0] for t in one) for one in turns[kind]["none"]])
        suite.say(f"# {name}: without a tool {alone[0]:.0f} ns ({alone[1]:.0f} to {alone[2]:.0f}); "
                  f"{sets} sets of processes, {rounds} turns each; medians (95 % confidence)")
        found = {tool: bench.added(name, turns[kind], tool) for tool in tools if tool != "none"}
        for tool in tools[1:]:
            bench.added(name, turns[kind], tool, which=1)
        more = bench.added(name, turns[kind], "gputrace", "cupti")
        bench.added(name, turns[kind], "gputrace", "cupti+callbacks")
        ours = found["gputrace"]
        suite.verdict(f"bench {kind}", more[0] <= 150 and (kind == "copy" or ours[0] <= 1000),
                      f"{ours[0]:.0f} ns added ({ours[1]:.0f} to {ours[2]:.0f}); {more[0]:+.0f} ns "
                      f"({more[1]:+.0f} to {more[2]:+.0f}) beside CUPTI alone, "
                      f"{found['cupti'][0]:.0f} ns; at most +150{'' if kind == 'copy' else ' and 1,000'}")


def long_runs(bench):
    """What takes minutes: two million launches by PyTorch, thirty million by a program."""
    if bench.suite.plain([sys.executable, "-c", "import torch"])[0] == 0:
        bench.show("one of 2 million launches by PyTorch",
                   bench.turns(["none", "gputrace", "profiler"],
                               [sys.executable, "%torch_loop.py", "2000000"], 1, timeout=300))
    memory(bench, 30000000)


def run(suite, options):
    """All measurements, those that take minutes, or launches and copies alone in more detail."""
    bench, rounds = Bench(suite), options.rounds
    if options.long:
        long_runs(bench)
        return
    if options.times:
        gpu_cases.kernel_times(suite, "kernel-times", max(rounds // 2, 1))
    if options.loops:
        loops(bench, options.sets, options.turns, True)
    if options.times or options.loops:
        return
    gpu_cases.kernel_times(suite, "kernel-times", rounds)
    loops(bench, options.sets, options.turns, False)
    busy = bench.turns(["none", "gputrace"], ["@blas", "8192", "160"], max(rounds - 2, 1),
                       name="seconds")
    bench.show("a GPU-bound program", busy, "s", 1000)
    slower = busy["gputrace"][0] / busy["none"][0] - 1
    suite.verdict("bench GPU-bound", slower <= 0.002, f"{100 * slower:+.3f} %")
    if suite.plain([sys.executable, "-c", "import torch"])[0] == 0:
        bench.show("a training step of PyTorch",
                   bench.turns(["none", "gputrace", "profiler"],
                               [sys.executable, "%torch_step.py", "300"], max(rounds // 2, 1)))
    long_runs(bench)
