# SPDX-License-Identifier: BSD-3-Clause
"""What gputrace costs on a GPU machine: interleaved without a tool, with CUPTI alone and with gputrace.

Launches and copies are measured in processes that all run at the same time, each with another tool, and
take turns of some milliseconds: what changes from one minute or process to the next is in all of them.
A process that is loaded again may be faster or slower by several 100 ns for as long as it lives, whatever
the tool: so many sets of fresh processes are made, each on another processor. What a tool adds is, in each
set, the median of the differences of turns that follow each other; and of these the median over the sets,
with the interval in which that lies with 95 % confidence.

What a tool adds to a launch or a copy is also measured within one process, interleaved (launch-turns and
copy-turns; turns.c stands between gputrace and CUPTI and switches): there nothing differs but the tool.

Limits: medians over the turns; nothing else may run on the machine.
"""
import math
import os
import random
import re
import shutil
import subprocess
import sys
import time
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


def within(seconds, least, most):
    """Numbers from 0: at least `least`, at most `most`, and so many as there is time for."""
    began = time.time()
    for number in range(most):
        if number >= least and (time.time() - began) * (number + 1) / max(number, 1) > seconds:
            return
        yield number


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

    def turns(self, tools, command, rounds, env=(), timeout=200, name="ns", seconds=math.inf):
        """Medians by tool."""
        values = {tool: [] for tool in tools}
        for _ in within(seconds, 1, rounds):
            for tool in tools:
                value = self.once(tool, command, dict(env), timeout, name)
                if value is not None:
                    values[tool].append(value)
        return {tool: (median(v) if v else float("nan"), min(v, default=0), max(v, default=0))
                for tool, v in values.items()}

    def together(self, tools, kinds, sets, rounds, seconds):
        """[kind][tool][set]: the turns' (done, asked), in the same order for all tools."""
        found = {kind: {tool: [] for tool in tools} for kind, _ in kinds}
        cpus = sorted(os.sched_getaffinity(0))
        order = random.Random(1)
        for number in within(seconds, 4, sets):
            for kind in found.values():
                for turns in kind.values():
                    turns.append([])
            servers = {tool: Server(self, tool, cpus[-1 - 2 * number % len(cpus)]) for tool in tools}
            try:
                for server in servers.values():
                    server.answer("READY")
                for turn in range(-1, rounds):
                    for kind, count in kinds:
                        for tool in order.sample(tools, len(tools)):
                            seen = servers[tool].turn(kind, count)
                            if turn >= 0:
                                found[kind][tool][-1].append(seen)
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


def loops(bench, options, seconds, detail=False):
    """Loops that only launch, or only copy: processes that are each loaded with another tool. The verdicts
    are those of the turns inside of one process; a few sets say too little."""
    suite, rounds = bench.suite, options.turns
    tools = [t for t in TOOLS if t != "profiler"] if detail else ["none", "cupti", "cupti+callbacks",
                                                                 "gputrace"]
    turns = bench.together(tools, [("launch", 20000), ("copy", 10000)], options.sets, rounds, seconds)
    for kind, name in (("launch", "an empty launch"), ("copy", "a 4 KB copy")):
        alone = interval([median(t[0] for t in one) for one in turns[kind]["none"]])
        suite.say(f"# {name}: without a tool {alone[0]:.0f} ns ({alone[1]:.0f} to {alone[2]:.0f}); "
                  f"{len(turns[kind]['none'])} sets of processes, {rounds} turns each; medians (95 % confidence)")
        for which in (0, 1):
            for tool in tools[1:]:
                bench.added(name, turns[kind], tool, which=which)
        for base in ("cupti", "cupti+callbacks"):
            bench.added(name, turns[kind], "gputrace", base)


# ---- turns inside of one process ------------------------------------------------------------------------

# The modes of turns.c that `loop turns` goes through, and what each is beside the one before it.
MODES = {
    "none": "nothing enabled",
    "records": "CUPTI's records",
    "empty": "and callbacks that return at once",
    "runtime": "records, one callback of the runtime instead",
    "calls": "gputrace's callbacks, no records",
    "gputrace": "gputrace",
}


def one_process(bench, kind, number, rounds, env, gputrace=None):
    """{mode: [(done, asked) of each turn]} of one process under gputrace (or another build of it), or None."""
    suite, cpus = bench.suite, sorted(os.sched_getaffinity(0))
    library = next(iter(sorted((suite.work / "turns").glob("libcupti.so.*"))))
    path = f"{library.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    directory = suite.work / "bench-turns"
    command = [gputrace or suite.gputrace, "run", "-o", directory, suite.work / "loop", "turns", kind, "5000", str(rounds),
               str(cpus[-1 - 2 * number % len(cpus)])]
    rc, out, err = suite.plain(command,
                               {"LD_LIBRARY_PATH": path, "TURNS_CUPTI": suite.link_cupti_path(),
                                "TURNS_LIBRARY": library.name, **env}, timeout=300)
    shutil.rmtree(directory, ignore_errors=True)
    found = {}
    for mode, done, asked in re.findall(r"^TURN (\w+) ([0-9.]+) ([0-9.]+)$", out, re.M):
        found.setdefault(mode, []).append((float(done), float(asked)))
    refused = re.findall(r"^turns: .*$", err, re.M)
    if refused:
        suite.say(f"# {'; '.join(sorted(set(refused)))}")
    if rc or len(found.get("gputrace", [])) != rounds:
        suite.verdict(f"bench {kind}-turns", False, f"status {rc}: {(out + err)[-400:]!r}")
        return None
    return found


def differences(processes, mode, base, which=0):
    """The median difference of turns of one round, for each process."""
    return [median(a[which] - b[which] for a, b in zip(one[mode], one[base])) for one in processes]


def say_turns(suite, name, processes):
    alone = interval([median(t[0] for t in one["none"]) for one in processes])
    suite.say(f"# {name}, turns inside of one process: {MODES['none']} {alone[0]:.0f} ns ({alone[1]:.0f} to "
              f"{alone[2]:.0f}); {len(processes)} processes, {len(processes[0]['none'])} rounds of 5,000; medians "
              "(95 % confidence)")
    for mode in list(MODES)[1:]:
        values, asked = (interval(differences(processes, mode, "none", which)) for which in (0, 1))
        suite.say(f"#   {name}: {MODES[mode]}: {values[0]:+.0f} ns ({values[1]:+.0f} to {values[2]:+.0f}); "
                  f"asking only {asked[0]:+.0f}")
    for mode, base in (("empty", "records"), ("runtime", "records"), ("gputrace", "empty")):
        values = interval(differences(processes, mode, base))
        suite.say(f"#   {name}: {MODES[mode]} beside {MODES[base]}: {values[0]:+.0f} ns ({values[1]:+.0f} to "
                  f"{values[2]:+.0f})")


def say_other(suite, name, processes, others):
    """The same of another build, whose processes took turns with ours on the same processors."""
    for mode, base in (("gputrace", "empty"), ("gputrace", "records"), ("calls", "none")):
        ours, theirs = differences(processes, mode, base), differences(others, mode, base)
        values, apart = interval(theirs), interval([a - b for a, b in zip(ours, theirs)])
        suite.say(f"#   {name}, the other build: {MODES[mode]} beside {MODES[base]}: {values[0]:+.0f} ns "
                  f"({values[1]:+.0f} to {values[2]:+.0f}); this one beside it {apart[0]:+.0f} ns ({apart[1]:+.0f} to "
                  f"{apart[2]:+.0f})")


def in_turns(bench, options, seconds, kind):
    """What a tool adds, where nothing but the tool differs: turns inside of one process."""
    suite = bench.suite
    name = "an empty launch" if kind == "launch" else "a 4 KB copy"
    late = one_process(bench, kind, 0, 10, {"TURNS_LATE": "1"})
    processes, others = [], []
    for number in within(seconds * 0.9, 3, options.sets):
        processes.append(one_process(bench, kind, number, 40, {}))
        if options.against:
            others.append(one_process(bench, kind, number, 40, {}, options.against))
        if None in processes + others:
            return
    say_turns(suite, name, processes)
    if others:
        say_other(suite, name, processes, others)
    if late:
        suite.say(f"#   {name}: before anything was enabled {median(t[0] for t in late['never'][1:]):.0f} ns, "
                  f"everything off again {median(t[0] for t in late['none']):.0f} ns (one process)")
    ours, theirs, more, beside = (interval(differences(processes, a, b)) for a, b in
                                  (("gputrace", "none"), ("empty", "none"), ("gputrace", "empty"),
                                   ("gputrace", "records")))
    suite.verdict(f"bench {kind}-turns", more[0] <= 150 and (kind == "copy" or ours[0] <= 1000),
                  f"{ours[0]:.0f} ns added ({ours[1]:.0f} to {ours[2]:.0f}); {more[0]:+.0f} ns ({more[1]:+.0f} to "
                  f"{more[2]:+.0f}) beside what CUPTI takes for the same records and callbacks, {theirs[0]:.0f} ns; "
                  f"at most +150{'' if kind == 'copy' else ' and 1,000'} (beside the records alone {beside[0]:+.0f})")


def variants(bench, options, seconds):
    """What CUPTI's attributes change: turns inside of one process, each attribute in processes of its own."""
    suite, found = bench.suite, {}
    settings = {"as it is": {}, "one buffer for all threads": {"TURNS_ATTRIBUTES": "9=0b"},
                "device buffers of 32 MB": {"TURNS_ATTRIBUTES": "0=33554432"},
                "device buffers in pinned memory": {"TURNS_ATTRIBUTES": "8=1b"},
                "16 device buffers made before": {"TURNS_ATTRIBUTES": "6=16"},
                "buffers of 8 MB": {"VT_CUDATRACE_BUFFER_SIZE": "8M"},
                "buffers of 128 KB": {"VT_CUDATRACE_BUFFER_SIZE": "128K"},
                "buffers zeroed by CUPTI": {"TURNS_ATTRIBUTES": "5=0b"}}
    for number in within(seconds, 2, options.sets):
        for name, env in settings.items():
            one = one_process(bench, "launch", number, 20, env)
            if one:
                found.setdefault(name, []).append(one)
    for name, processes in found.items():
        parts = (f"{mode} {interval(differences(processes, mode, 'none'))[0]:+.0f}" for mode in ("records", "gputrace"))
        suite.say(f"#   an empty launch, {name}: {', '.join(parts)} ns; {len(processes)} processes, gputrace from "
                  f"{min(differences(processes, 'gputrace', 'none')):+.0f} to "
                  f"{max(differences(processes, 'gputrace', 'none')):+.0f}")


# ---- the rows ----------------------------------------------------------------------------------------------

def busy(bench, options, seconds):
    """A program that waits for the GPU nearly all the time."""
    values = bench.turns(["none", "gputrace"], ["@blas", "8192", "160"], max(options.rounds, 1),
                         name="seconds", seconds=seconds)
    bench.show("a GPU-bound program", values, "s", 1000)
    slower = values["gputrace"][0] / values["none"][0] - 1
    bench.suite.verdict("bench GPU-bound", slower <= 0.002, f"{100 * slower:+.3f} %")


def has_torch(suite):
    return suite.plain([sys.executable, "-c", "import torch"])[0] == 0


def beside_profiler(bench, what, script, number, rounds, seconds):
    """Printed beside torch.profiler: what counts is that all three were measured."""
    if not has_torch(bench.suite):
        bench.suite.say(f"# without PyTorch: {what}")
        return
    values = bench.turns(["none", "gputrace", "profiler"], [sys.executable, script, str(number)],
                         rounds, timeout=300, seconds=seconds)
    bench.show(what, values)
    bench.suite.verdict(f"bench {what}", all(v[0] == v[0] for v in values.values()),
                        f"{values['gputrace'][0] / values['none'][0] - 1:+.1%} with gputrace, "
                        f"{values['profiler'][0] / values['none'][0] - 1:+.1%} with torch.profiler")


def training(bench, options, seconds):
    beside_profiler(bench, "a training step of PyTorch", "%torch_step.py", 300, options.rounds, seconds)


def two_million(bench, _, seconds):
    beside_profiler(bench, "one of 2 million launches by PyTorch", "%torch_loop.py", 2000000, 1, seconds)


def thirty_million(bench, _, __):
    memory(bench, 30000000)


def launch_turns(bench, options, seconds):
    in_turns(bench, options, seconds, "launch")


def copy_turns(bench, options, seconds):
    in_turns(bench, options, seconds, "copy")


def times(bench, options, seconds):
    gpu_cases.kernel_times(bench.suite, "kernel-times", options.rounds, seconds)


def launch_variants(bench, options, seconds):
    loops(bench, options, seconds, True)


# Name, function, share of the time that is left over; 0: it takes as long as it does, about so many seconds.
ROWS = [
    ("launch-turns", launch_turns, 3, 0),
    ("copy-turns", copy_turns, 2, 0),
    ("memory", thirty_million, 0, 165),
    ("torch-loop", two_million, 0, 60),
    ("GPU-bound", busy, 2, 0),
    ("loops", loops, 3, 0),
    ("torch-step", training, 3, 0),
    ("kernel-times", times, 5, 0),
]
# Only where they are asked for by name.
MORE_ROWS = [
    ("launch-attributes", variants, 1, 0),
    ("loop-variants", launch_variants, 1, 0),
]


def run(suite, options, end):
    """The rows that are wanted, before the time `end`."""
    bench = Bench(suite)
    rows = [row for row in ROWS + (MORE_ROWS if options.only else [])
            if not options.only or any(word in row[0] for word in options.only)]
    for number, (name, function, share, _) in enumerate(rows):
        rest = rows[number:]
        spare = end - time.time() - sum(fixed for _, _, _, fixed in rest)
        began = time.time()
        try:
            function(bench, options, max(spare, 0) * share / max(sum(s for _, _, s, _ in rest), 1))
        except Exception as error:
            suite.verdict(f"bench {name}", False, f"{type(error).__name__}: {error}")
        suite.say(f"# {name} took {time.time() - began:.0f} s")
