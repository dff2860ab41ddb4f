#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws random programs, runs each without and with gputrace, and compares.

  soak.py --bin DIR --work DIR --judge FILE [--seed N] [--programs N] [--jobs N] [--kinds c,cxx,...]
          [--seconds N] [--keep] [--show]

A program is a script for play.c or play.py (--show prints it). DIR has the players, one of each kind
and one of each without gputrace (play.test builds them). With and without gputrace it has the same output,
errors and status; the archive is there, `gputrace check` accepts it, and it has what the program counted
(judge.c). The same seed is the same program, with the same settings: --seed N --programs 1 repeats one.

Limits: order in the output is that of threads, so its sorted lines are compared. --seconds: no new program
begins after that time.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # beside the sources

LIMIT = 90  # seconds of a run
ENDS = {"exit": 0, "_exit": 1, "quick_exit": 2, "abort": 3, "kill": 4, "fault": 5, "term": 6, "thread": 7,
        "main": 8, "live": 9, "exec": 10, "killed with threads": 11}
KINDS = {"c": 40, "clang": 15, "cxx": 15, "omp": 10, "python": 12, "openmpi": 4, "mpich": 4}
MPI = ("openmpi", "mpich")
# Acts that need the process for themselves: what other threads do would be hit, too.
ALONE = ("closefds", "chdir", "nofile", "timer", "storm", "forkthreads", "atexit", "atfork", "forkhandler", "exec")
FORKS = ("fork", "vfork", "spawn", "exec", "system", "popen", "killed", "forkthreads", "orphan", "forkhandler")


class Script:
    """The lines of a random script for play.c."""

    def __init__(self, draw, kind):
        self.draw, self.kind, self.lines = draw, kind, []
        for _ in range(draw.randint(0, 2)):
            self.add(0, draw.choice(["atexit", "atfork"]), draw.randint(1, 50), draw.randint(0, 1))
        for _ in range(draw.randint(3, 12)):
            self.act(0, 0, 0, ())
        self.end()
        if kind == "omp" or any(" timer " in line for line in self.lines):
            # A thread of the runtime stays, or is waited for in a child that does not have it.
            self.lines = [re.sub(f"^(.*) {ENDS['main']} ", r"\1 0 ", x) if re.search("(end|fork) ", x) else x
                          for x in self.lines]
        if any(re.search(" (team|timer|detached) ", line) for line in self.lines):
            # Beside other threads gputrace may need a number below the limit (doc/LIMITS.md).
            self.lines = [x for x in self.lines if " nofile " not in x]

    def add(self, depth, name, a=0, b=0):
        """One line."""
        self.lines.append(f"{depth} {name} {a} {b}")

    def inner(self, depth, level, threads, inside, most=4):
        """What is inside of an act."""
        for _ in range(self.draw.randint(1, most)):
            self.act(depth + 1, level, threads, inside)

    def end(self):
        """How the program ends."""
        if self.kind in MPI:
            self.add(0, "end", 0, self.draw.choice([0, 0, 0, 7]))
            return
        names = ["exit"] * 6 + list(ENDS)
        self.add(0, "end", ENDS[self.draw.choice(names)], self.draw.randint(0, 99))

    def choices(self, level, threads, inside):
        """The acts that are possible here, some of them more often."""
        names = ["calls"] * 6 + ["user", "message", "value", "marker", "jump", "raise", "leap", "altstack",
                                 "lock", "rwlock", "once", "semaphore", "fibres", "memory", "files", "sigwait",
                                 "plugin", "plugin", "mask", "flush"]
        if not inside:
            names += ["off", "rewind"]
        if self.kind == "cxx":
            names += ["throw"] * 8
        if self.kind == "omp" and not level and not threads:
            names += ["team"] * 10
        if self.kind in MPI and not level and not threads and not inside:
            names += ["talk"] * 25
        if threads < 2:
            names += ["threads", "threads", "detached", "cancel", "keys", "barrier", "condition"]
        if level < 2 and threads < 2:
            names += [n for n in FORKS if n not in ALONE] + ["fork"]
        if not threads and level < 2 and self.kind not in MPI:
            names += ALONE
        return names

    def act(self, depth, level, threads, inside):
        """One random act, with what is inside."""
        d = self.draw
        name = d.choice(self.choices(level, threads, inside))
        if inside and name in FORKS + ("plugin",):
            name = "calls"  # a child would be recorded, or not, by other rules
        simple = {
            "calls": lambda: (d.choice([5, 50, 300, 2000, 8000]), d.randint(0, 12)),
            "storm": lambda: (d.choice([80, 300, 1000]), d.choice([2000, 20000])),
            "raise": lambda: (d.randint(1, 30), d.randint(0, 1)),
            "lock": lambda: (d.randint(0, 3), d.choice([1, 40, 300])),
            "rwlock": lambda: (0, d.randint(1, 40)),
            "cancel": lambda: (d.randint(0, 2), d.choice([0, 100, 1000])),
            "barrier": lambda: (d.randint(1, 5), d.randint(1, 10)),
            "condition": lambda: (d.randint(1, 60), 0),
            "team": lambda: (d.randint(1, 4), d.randint(1, 60)),
            "talk": lambda: (d.randint(0, 5), d.choice([0, 8, 800, 40000])),
            "memory": lambda: (d.choice([1, 100, 30000]), 0),
            "nofile": lambda: (d.choice([3, 8, 64]), d.choice([20, 4000])),
            "closefds": lambda: (d.randint(0, 1), 0),
            "killed": lambda: (d.randint(0, 1), d.choice([0, 500, 3000, 8000])),
            "orphan": lambda: (d.choice([0, 3000]), 0),
            "vfork": lambda: (d.randint(0, 50), 0),
            "spawn": lambda: (d.randint(0, 50), 0),
            "exec": lambda: (d.randint(0, 50), 0),
            "fibres": lambda: (d.randint(0, 30), 0),
            "plugin": lambda: (d.randint(0, 1), d.randint(1, 6)),
        }
        if name in ("threads", "fork", "user", "off", "rewind", "mask"):
            self.nest(name, depth, level, threads, inside)
        else:
            a, b = simple.get(name, lambda: (d.randint(1, 20), d.randint(0, 1)))()
            self.add(depth, name, a, b)

    def nest(self, name, depth, level, threads, inside):
        """An act with others inside."""
        d = self.draw
        if name == "threads":
            self.add(depth, name, d.randint(1, 12 if not threads else 4), d.randint(0, 3))
            self.inner(depth, level, threads + 1, inside)
        elif name == "fork":
            ends = ["exit", "_exit", "quick_exit"] * 3 + ["abort", "kill", "fault", "term", "thread", "main", "exec"]
            if threads or self.kind in MPI:
                ends = ["_exit", "kill", "exec"]
            self.add(depth, name, ENDS[d.choice(ends)], d.randint(0, 99))
            self.inner(depth, level + 1, threads, inside, 3)
        else:
            self.add(depth, name)
            self.inner(depth, level, threads, inside if name in ("user", "mask") else inside + (name,))


def settings(draw, work):
    """Random settings of a run, and the functions that its filter leaves out."""
    chance = lambda p: draw.random() < p
    s = {"VT_BUFFER_SIZE": draw.choice(["64K", "128K", "512K", "4M", "16M"]),
         "VT_BUFFER_POLICY": draw.choice(["spill"] * 6 + ["ring", "stop"]),
         "VT_PTHREAD_LOCKS": draw.choice(["no", "contended", "all", "all"]),
         "VT_VERBOSE": draw.choice("011")}
    rare = [(.15, "VT_THREAD_BUFFER_SIZE", ["8K", "16K", "64K"]), (.1, "VT_MAX_FLUSHES", "18"),
            (.1, "VT_MAX_BYTES", ["100K", "1M", "8M"]), (.3, "VT_IOTRACE", ["yes"]), (.3, "VT_MEMTRACE", ["yes"]),
            (.15, "VT_MEMTRACE_EVENTS", ["yes"]), (.2, "VT_PTHREAD_REUSE", ["no"]),
            (.15, "VT_METRICS", ["proc::VmRSS:proc::utime", "proc::rss", "heap::used", "proc::rchar@5",
                                  "proc::minflt"]),
            (.15, "VT_RUSAGE", ["all", "ru_utime:ru_minflt"]), (.12, "VT_LIVE", "1"),
            (.15, "VT_CLOCK", ["monotonic"]), (.1, "VT_EXECTRACE", ["no"]), (.1, "VT_ASSEMBLE_THREADS", "1"),
            (.1, "VT_PFORM_LDIR", [work + "/local"]), (.3, "VT_SAMPLING", ["1000", "5000"])]
    for p, name, values in rare:
        if chance(p):
            s[name] = draw.choice(values)
    out = []
    if chance(.2):
        out = ["f3", "f7", "f12"]
        with open(work + "/filter", "w", encoding="utf-8") as f:
            f.write("f3 -- 0\nf7;f12 -- 0\n")
        s["VT_FILTER_SPEC"] = work + "/filter"
    if "VT_PFORM_LDIR" in s:
        os.makedirs(s["VT_PFORM_LDIR"], exist_ok=True)
    return s, out


class Case:
    """One program, run twice."""

    def __init__(self, args, seed):
        self.args, self.seed, self.wrong = args, seed, []
        self.draw = random.Random(seed)
        kinds = args.kinds.split(",")
        self.kind = self.draw.choices(kinds, [KINDS[k] for k in kinds])[0]
        self.work = os.path.join(args.work, str(seed))
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        self.trace, self.truth = self.work + "/trace", self.work + "/truth"
        if self.kind == "python":
            sys.path.insert(0, os.path.dirname(__file__))
            self.lines = __import__("play").script(self.draw)
        else:
            self.lines = Script(self.draw, self.kind).lines
        with open(self.work + "/script", "w", encoding="utf-8") as f:
            f.write("\n".join(self.lines) + "\n")
        self.mode = self.draw.choice(["run"] * 6 + ["linked", "linked", "exec", "later"])
        if self.kind == "python" or self.kind in MPI:
            self.mode = "run"
        self.settings, self.filter = settings(self.draw, self.work)
        if any(" nofile " in line for line in self.lines):  # may leave no descriptor to read the filter with
            self.settings.pop("VT_FILTER_SPEC", None)
            self.filter = []
        self.calls = self.lost = 0

    def command(self, plain):
        """The program, for the kind."""
        player = f"{self.args.bin}/play.{self.kind}{'.plain' if plain else ''}"
        if self.kind == "python":
            return ["/usr/bin/python3", "-Wignore::DeprecationWarning",
                    os.path.dirname(os.path.abspath(__file__)) + "/play.py", "script", "truth"]
        words = [player, self.work + "/script", self.truth]
        if self.kind in MPI:
            words = [f"mpirun.{self.kind}", "-np", str(2 + self.seed % 3)] + words
        return words

    def run(self, name, words, extra):
        """Runs it in an empty folder. Status, lines of output, lines of errors; None: it does not end."""
        with open(self.truth, "wb") as f:
            f.truncate(64 * 48 + 8 * 32)
        os.makedirs(f"{self.work}/{name}", exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith("VT_")}
        env.update(extra, SOAK_PLUGS=self.args.bin + ("/plain" if name == "plain" else ""), UCX_HANDLE_ERRORS="none")
        cwd = self.work if self.kind == "python" else f"{self.work}/{name}"
        with open(f"{self.work}/{name}.out", "wb") as out, open(f"{self.work}/{name}.err", "wb") as err:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=cwd,
                                     start_new_session=True)
            try:
                status = child.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return None
        lines = []
        for suffix in ("out", "err"):
            with open(f"{self.work}/{name}.{suffix}", "rb") as f:
                said = re.sub(rb"PID \d+|Process name.*", b"", f.read()).split(b"\n")  # of mpirun
            lines.append(sorted(x for x in said if x and not x.startswith(b"[gputrace]") and b" UCX " not in x))
        return status, lines[0], lines[1]

    def tool(self, *words):
        """A command of gputrace. Its status and what it says."""
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return 124, "does not end"
        return done.returncode, done.stdout.decode(errors="replace")

    def traced(self):
        """Runs it with gputrace, as its mode says."""
        env, words = dict(self.settings), self.command(False)
        if self.kind == "python":
            env["VT_PYTHON"] = "yes"
        if self.mode == "later":
            env["VT_UNIFY"] = "no"
        if self.mode == "linked":
            env.update(VT_PFORM_GDIR=self.work, VT_FILE_PREFIX="trace")
            return self.run("traced", words, env)
        option = ["--exec"] if self.mode == "exec" else []
        return self.run("traced", ["gputrace", "run", *option, "-o", self.trace, *words], env)

    def compare(self, plain, traced):
        """What a user sees."""
        for name, before, after in zip(("status", "output", "errors"), plain, traced):
            if before == after:
                continue
            if name != "status":
                before, after = ([x for x in a if x not in b][:4] for a, b in ((before, after), (after, before)))
            self.wrong.append(f"{name}: {before} without gputrace, {after} with it")

    def made(self):
        return os.path.exists(self.trace + "/traces.otf2") and not os.path.exists(self.trace + "/spool")

    def archive(self):
        """The archive is there, or `gputrace recover` makes it where that is what users do."""
        for _ in range(200):
            if self.made():
                return True
            if self.mode != "run":
                break
            time.sleep(.05)
        if self.mode == "run":
            self.wrong.append("no archive")
            return False
        for _ in range(60):  # processes that the first one has left behind
            rc, said = self.tool("gputrace", "recover", self.trace)
            if not rc or self.made():
                return True
            time.sleep(.1)
        self.wrong.append(f"recover: {rc} {said[-300:]}")
        return False

    def judge(self):
        """The archive is what the program counted."""
        rc, said = self.tool("gputrace", "check", self.trace)
        if rc:
            self.wrong.append(f"check: {rc} {said[-600:]}")
        rc, said = self.tool(self.args.judge, self.trace + "/traces.otf2", self.truth, *self.filter)
        numbers = re.search(r"^CALLS (\d+) LOST (\d+)$", said, re.M)
        if numbers:
            self.calls, self.lost = map(int, numbers.groups())
        if rc or not numbers:
            self.wrong.append(f"judge: {rc} {said[-800:]}")
        if self.seed % 8 == 0:
            rc, said = self.tool("gputrace", "report", self.trace)
            if rc:
                self.wrong.append(f"report: {rc} {said[-300:]}")

    def once(self):
        """All of it."""
        plain = self.run("plain", self.command(True), {})
        if plain is None:
            self.wrong.append("without gputrace, it does not end")
            return self
        traced = self.traced()
        if traced is None:
            self.wrong.append("it does not end")
            return self
        self.compare(plain, traced)
        if self.archive():
            self.judge()
        return self

    def describe(self):
        """In one line."""
        words = " ".join(f"{k}={v}" for k, v in sorted(self.settings.items()))
        return f"seed {self.seed} ({self.kind}, {self.mode}) {words}"

    def clean(self):
        """Removes what it has made."""
        if not self.args.keep and not self.wrong:
            shutil.rmtree(self.work, ignore_errors=True)


def parse():
    """The command line."""
    p = argparse.ArgumentParser()
    for name in ("--bin", "--work", "--judge"):
        p.add_argument(name, required=True)
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--seconds", type=float, default=1e9)
    for name, default in (("--seed", 1), ("--programs", 1), ("--jobs", 2), ("--failures", 5)):
        p.add_argument(name, type=int, default=default)
    p.add_argument("--keep", action="store_true")
    p.add_argument("--show", action="store_true")
    args = p.parse_args()
    args.bin, args.work, args.judge = map(os.path.abspath, (args.bin, args.work, args.judge))
    return args


def main():
    """Runs them all."""
    args = parse()
    if args.show:
        print("\n".join(Case(args, args.seed).lines))
        return 0
    end, lock, sums, failed = time.monotonic() + args.seconds, threading.Lock(), collections.Counter(), 0

    def one(seed):
        nonlocal failed
        if time.monotonic() > end or failed >= args.failures:
            return
        case = Case(args, seed)
        try:
            case.once()
        except Exception as error:  # of this script: a failure, too
            case.wrong.append(repr(error))
        with lock:
            sums[case.kind] += 1
            sums["calls"] += case.calls
            sums["with losses"] += case.lost > 0
            failed += bool(case.wrong)
            if case.wrong:
                print(case.describe(), *case.wrong, sep="\n   ", flush=True)
        case.clean()

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(one, range(args.seed, args.seed + args.programs)))
    programs = sum(sums[k] for k in KINDS)
    each = ", ".join(f"{k} {sums[k]}" for k in KINDS if sums[k])
    print(f"{programs} programs ({each}), {sums['calls']} calls compared, {sums['with losses']} with losses, "
          f"{failed} failed")
    return 1 if failed or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
