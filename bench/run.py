#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures gputrace, and the tracers that are installed, beside a floor; says which goals are met.

Every round runs every case once, and measures the floor again just before, so that each ratio is of
the same moment and a disturbed machine disturbs all alike; what counts is the median of the rounds.
A tool that recorded fewer calls than were made is not timed: its figure is replaced by that fact.

Limits: figures in seconds depend on the machine; only the ratios have goals. Do not run anything
else meanwhile.
"""
import argparse
import json
import mmap
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import tables
import counters
import document
import flow
import omp
import page
import models
import reading
import kokkos
import mpi
import samples
import wrap
from tools import LAST, TWO, Bench, Case, disk_bytes, output, spool_bytes

MIB = 1 << 20
REAL = ["32", "11", "1024", "400"]
CALLS = ["8000"]
SCALING_TURNS = 3  # in each round
REAL_TURNS = 3
LOCKS_TURNS = 8
SHORT = 1000 # short processes
SHORT_TURNS = 3
ASSEMBLY_WARM = 4 # times --warm: it fills 480 MB of page cache
PEER_SHARE = 0.5 # gputrace has to record every call to be timed; the others this share at least


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--stage", default="stage", help="where gputrace is installed")
    p.add_argument("--build", default="bench-out", help="folder for programs and traces")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--pairs", type=int, default=20_000_000, help="calls of the event loop")
    p.add_argument("--only", default="", help="suites, with commas: " + ",".join(SUITES))
    p.add_argument("--no-peers", action="store_true", help="gputrace and the floor alone")
    p.add_argument("--warm", type=int, default=1536, metavar="MIB",
                   help="memory that is touched before each run (four times as much before an "
                        "assembly), because a virtual machine's host takes free memory back and "
                        "returns it slowly; 0: none")
    p.add_argument("--markdown", default="", help="write the tables to this file")
    p.add_argument("--json", default="", help="write all single figures to this file")
    p.add_argument("--doc", default="", help="put the tables between the marks of this document (doc/PERFORMANCE.md)")
    p.add_argument("--from", default="", dest="earlier", metavar="JSON",
                   help="measure nothing: the tables of the run that wrote this file")
    return p.parse_args()


class Runner:
    """Runs cases in rounds and keeps what they said: results[suite][case] = [dict, ...]."""

    def __init__(self, bench, args):
        self.b, self.a = bench, args
        self.results = {}
        self.tallies = {}
        self.empty = []          # "suite/case: recorded x of y", said loudly

    def warm(self, times=1):
        """Memory that this machine really has: see --warm."""
        if not self.a.warm:
            return
        pid = os.fork()
        if pid == 0:
            try:
                mmap.mmap(-1, times * self.a.warm * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS |
                          getattr(mmap, "MAP_POPULATE", 0x8000))
            finally:
                os._exit(0)
        os.waitpid(pid, 0)

    def clean(self):
        shutil.rmtree(self.b.trace, ignore_errors=True)

    def once(self, case, keep=False, warm=1):
        """One run: the key=value pairs that it printed, and times, memory and bytes."""
        self.clean()
        r = {}
        if case.before:
            case.before()
        if warm:
            self.warm(warm)
        t0 = time.monotonic()
        p = subprocess.Popen(case.cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", env=dict(os.environ, **case.env),
                             cwd=self.b.build)
        said = p.stdout.read()
        _, status, usage = os.wait4(p.pid, 0)
        t1 = time.monotonic()
        p.returncode = os.waitstatus_to_exitcode(status)
        for key, value in re.findall(r"\b(\w+)=(-?\d+(?:\.\d+)?)(?!\S)", said):
            r[key] = float(value)
        r.update(wall_s=t1 - t0, rc=p.returncode, maxrss_kib=usage.ru_maxrss,
                 cpu_s=usage.ru_utime + usage.ru_stime)
        if "end_s" in r:
            r["after_main_s"] = t1 - r.pop("end_s")
        if case.after:
            t1 = time.monotonic()
            r.update(case.after())
            r["after_run_s"] = time.monotonic() - t1
        if p.returncode:
            print(f"bench: {case.name}: status {p.returncode}: {said[-300:]}", file=sys.stderr)
        r["bytes"] = disk_bytes(self.b.trace)
        if case.recorded:
            r["recorded"] = case.recorded()
        if not keep:
            self.clean()
        return r

    def floor(self):
        """The floor of this moment, ns per pair."""
        said = output(self.b.path("event_floor"), "5000000")
        return float(re.search(r" ns_per_pair=([\d.]+)", said)[1])

    def tally(self, program, args):
        """How many calls a program makes: counted by hooks that do only that."""
        if program not in self.tallies:
            r = self.once(Case("tally", [self.b.path(program + "_tally"), *args]))
            self.tallies[program] = int(r["calls"])
        return self.tallies[program]

    def add(self, suite, name, r, expect=None, share=1.0):
        """Keeps a result, unless the tool did not record what it had to."""
        kept = self.results.setdefault(suite, {}).setdefault(name, [])
        if r.get("rc"):
            self.empty.append(f"{suite}, {name}: ended with status {r['rc']}")
            return
        if expect and r.get("recorded", expect) < expect * share:
            self.empty.append(f"{suite}, {name}: recorded {r['recorded']:,.0f} of {expect:,.0f}")
            print(f"bench: NOT RECORDED: {self.empty[-1]}", file=sys.stderr)
            return
        kept.append(r)

    def assemble(self, threads, cpus):
        """Assembles the spool that the last run left, on some cores. Returns its dict."""
        env = dict(os.environ, VT_ASSEMBLE_THREADS=str(threads), VT_VERBOSE="0")
        self.warm(ASSEMBLY_WARM)
        t0 = time.monotonic()
        p = subprocess.Popen(["taskset", "-c", cpus, *self.b.recover()], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, env=env)
        said = p.stdout.read()
        _, status, usage = os.wait4(p.pid, 0)
        wall = time.monotonic() - t0
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode:
            print("bench: recover:", said[-300:], file=sys.stderr)
        return {"wall_s": wall, "rc": p.returncode, "peak_kib": usage.ru_maxrss,
                "recorded": self.b.count_otf2(),
                "bytes": disk_bytes(self.b.trace), "evt_bytes": disk_bytes(self.b.trace, ".evt")}


# ---- suites: what one round of each does ---------------------------------------------------------


def scaling(run):
    """One thread and two, turn and turn about: the same number of pairs each, nothing in between."""
    b, n = run.b, run.a.pairs // 2
    spool_only = b.gputrace_env(VT_UNIFY="no")
    for _ in range(SCALING_TURNS):
        for name, program, env in (("floor", "event_floor", {}),
                                   ("gputrace", "event_gputrace", spool_only)):
            for threads in (1, 2):
                case = Case(name, [b.path(program), str(n), str(threads)], env)
                run.add("scaling", f"{name} {threads}", run.once(case))


def suite_event(run, peers):
    """The cost of a pair, of a filtered pair, of two threads; memory; bytes; the assembly."""
    b, n = run.b, run.a.pairs
    ours = b.path("event_gputrace")
    spool_only = b.gputrace_env(VT_UNIFY="no")
    filter_file = b.path("filter")
    with open(filter_file, "w", encoding="ascii") as f:
        f.write("bench_work -- 0\n")
    filtered = b.gputrace_env(VT_FILTER_SPEC=filter_file, VT_UNIFY="no")
    keep = lambda name, case, *expect: run.add(
        "event", name, dict(run.once(case), floor_ns=floor, pairs=n), *expect)

    for name in ("plain", "floor", "empty"):
        floor = run.floor()
        keep(name, Case(name, [b.path("event_" + name), str(n)]))
    floor = run.floor()
    keep("floor, 2 threads", Case("floor2", [b.path("event_floor"), "5000000", "2"]))
    floor = run.floor()
    keep("gputrace filtered", Case("f", [ours, str(n)], filtered))

    floor = run.floor()
    one = run.once(Case("one", [ours, str(n)], spool_only), keep=True)
    one.update(floor_ns=floor, pairs=n, spool_bytes=spool_bytes(b.trace))
    one["recorded"] = run.assemble(1, LAST)["recorded"]
    run.add("event", "gputrace", one, n)

    for threads, cpus, name in ((1, LAST, "assembly, 1 core"),
                                (2, TWO, "assembly, 2 cores")):
        floor = run.floor()
        two = run.once(Case("two", [ours, str(n // 2), "2"], spool_only), keep=True)
        two.update(floor_ns=floor, pairs=n // 2, spool_bytes=spool_bytes(b.trace))
        done = run.assemble(threads, cpus)
        two["recorded"] = done["recorded"]
        run.add("event", "gputrace, 2 threads", two, n)
        run.add("event", name, dict(done, pairs=n, floor_ns=floor), n)
    scaling(run)
    run.clean()
    for case in peers("event"):
        floor = run.floor()
        keep(case.name, case, n, PEER_SHARE)


def suite_real(run, peers):
    """fib + queens + stencil: the whole process."""
    b = run.b
    calls = run.tally("real", REAL)
    cases = [Case("plain", [b.path("real_plain"), *REAL]),
             Case("floor", [b.path("real_floor"), *REAL], {"FLOOR_N": "1000000"}),
             Case("gputrace", [b.path("real_gputrace"), *REAL], b.gputrace_env(),
                  recorded=b.count_otf2)]
    spool_only = Case("gputrace, no assembly", [b.path("real_gputrace"), *REAL],
                      b.gputrace_env(VT_UNIFY="no"))
    for turn in range(REAL_TURNS):
        for case in cases:
            r = run.once(case)
            run.add("real turns", case.name, r, calls)
            if not turn:
                run.add("real", case.name, r, calls)
        r = run.once(spool_only, keep=not turn)
        run.add("real turns", spool_only.name, r)
        if not turn: # the figure counts only if all calls are in the spool
            r["recorded"] = run.assemble(2, "0,1")["recorded"]
            run.add("real", spool_only.name, r, calls)
    for case in peers("real"):
        run.add("real", case.name, run.once(case), calls, PEER_SHARE)


def suite_calls(run, peers):
    """The call-heavy program."""
    b = run.b
    calls = run.tally("calls", CALLS)
    cases = [Case("plain", [b.path("calls_plain"), *CALLS]),
             Case("gputrace", [b.path("calls_gputrace"), *CALLS], b.gputrace_env(),
                  recorded=b.count_otf2)]
    for case in cases:
        run.add("calls", case.name, run.once(case), calls)
    for case in peers("calls"):
        run.add("calls", case.name, run.once(case), calls, PEER_SHARE)


def suite_locks(run, peers):
    """The lock-heavy program, and pigz where it is installed: nobody rebuilt them."""
    b = run.b
    programs = [("locks", [b.path("locks")])]
    if shutil.which("pigz"):
        data = b.path("pigz.in")
        if not os.path.exists(data):
            with open(data, "wb") as f:
                seed = 1
                for _ in range(2 * MIB):
                    seed = (seed * 1103515245 + 12345) & 0x7fffffff
                    f.write(b"%07d line\n" % (seed >> 16))
        programs.append(("pigz", ["pigz", "-kf", "-p", "2", data]))
    for program, cmd in programs:
        every = b.gputrace_env(VT_PTHREAD_LOCKS="all")
        cases = [Case("plain", cmd),
                 Case("gputrace", b.gputrace_run(*cmd), {"VT_VERBOSE": "0"}, recorded=b.count_otf2),
                 Case("gputrace, all locks", b.gputrace_run(*cmd), every, recorded=b.count_otf2)]
        for case in cases + peers("locks", cmd):
            run.add(program, case.name, run.once(case), 1)
        # A run takes one of two courses, by chance: many short turns, and their means.
        passed = Case("passed on", cmd, {"LD_PRELOAD": b.path("libbenchpass.so")})
        for _ in range(LOCKS_TURNS if program == "locks" else 0):
            for case in cases[:2] + [passed]:
                run.add("locks turns", case.name, run.once(case, warm=0), 1)
                one = Case(case.name, ["taskset", "-c", LAST, *case.cmd], case.env,
                           recorded=case.recorded)
                run.add("locks, one core", case.name, run.once(one, warm=0), 1)


def suite_start(run, _peers):
    """Start-up and shut-down; and processes so short that nothing else counts, by their processor time."""
    b = run.b
    for _ in range(5):
        run.add("start", "true", run.once(Case("true", ["true"])))
        run.add("start", "gputrace run true",
                run.once(Case("g", b.gputrace_run("true"), {"VT_VERBOSE": "0"})))
    usual = b.trace
    if os.path.isdir("/dev/shm"): # ext4 looks over inodes that were freed lately, whoever did that
        b.trace = os.path.join(tempfile.mkdtemp(dir="/dev/shm"), "trace")
    for kind, body in (("exec", "/bin/true"), ("fork", "(:)")):
        script = ["sh", "-c", f"i=0; while [ $i -lt {SHORT} ]; do {body}; i=$((i+1)); done"]
        for _ in range(SHORT_TURNS):
            run.add("short " + kind, "plain", run.once(Case("plain", script), warm=0))
            run.add("short " + kind, "gputrace",
                    run.once(Case("g", b.gputrace_run(*script), {"VT_VERBOSE": "0"}), warm=0))
    if b.trace != usual:
        os.rmdir(os.path.dirname(b.trace))
    b.trace = usual


SUITES = {"event": suite_event, "real": suite_real, "calls": suite_calls, "locks": suite_locks,
          "start": suite_start, "wrap": wrap.suite, "mpi": mpi.suite, "counters": counters.suite,
          "flow": flow.suite, "reading": reading.suite, "page": page.suite, "models": models.suite,
          "omp": omp.suite, "kokkos": kokkos.suite, "samples": samples.suite}


def peer_cases(b, n):
    """What the other tracers run, per suite."""
    lib = "/usr/lib/" + platform.machine() + "-linux-gnu"
    find = lambda name: next((p for p in (os.path.join(d, name) for d in (lib, "/usr/lib",
                              "/usr/local/lib", "/usr/lib64")) if os.path.exists(p)), None)
    fast = find("liblttng-ust-cyg-profile-fast.so")
    wrap = find("liblttng-ust-pthread-wrapper.so")
    fast_events = "lttng_ust_cyg_profile_fast:*"

    def cases(suite, cmd=None):
        found = []
        cyg = {"event": [b.path("event_cyg"), str(n)], "real": [b.path("real_cyg"), *REAL],
               "calls": [b.path("calls_cyg"), *CALLS]}.get(suite)
        if b.uftrace:
            found.append(b.uftrace_case(cyg) if cyg else b.uftrace_case(cmd, "--force"))
        if b.eztrace and suite == "event":
            found.append(b.eztrace_case("benchwork", [b.path("event_lib"), str(n)]))
        if b.eztrace and suite == "calls":
            found.append(b.eztrace_case("benchcalls", [b.path("calls_plain"), *CALLS]))
        if b.eztrace and suite == "locks":
            found.append(b.eztrace_case("pthread", cmd))
        if b.lttng and cyg and fast:
            found.append(b.lttng_case(fast, fast_events, cyg))
        if b.lttng and suite == "locks" and wrap:
            found.append(b.lttng_case(wrap, "lttng_ust_pthread:*", cmd))
        return found

    return cases


def commit():
    """Of the tree that this file is in, and whether it has changed since."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty", "--exclude=*"], text=True,
                          capture_output=True, check=False)
    return done.stdout.strip() or "unknown"


def measured(args):
    """Runs the suites. Returns all that the tables are made of, as JSON can hold it."""
    os.environ["PATH"] = os.path.join(os.path.abspath(args.stage), "bin") + ":" + \
        os.environ["PATH"]
    for name in [v for v in os.environ if v.startswith("VT_")]:
        del os.environ[name]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bench = Bench(os.path.abspath(args.stage), os.path.abspath(args.build))
    bench.build_all()
    run = Runner(bench, args)
    peers = lambda *_: []
    if not args.no_peers:
        bench.start_lttng()
        peers = peer_cases(bench, args.pairs)
    began, load = time.monotonic(), os.getloadavg()[1]
    wanted = args.only.split(",") if args.only else list(SUITES)
    try:
        for number in range(args.rounds):
            for suite in wanted:
                print(f"bench: {time.monotonic() - began:.0f} s: round {number + 1} of {args.rounds}: {suite}",
                      file=sys.stderr)
                SUITES[suite](run, peers)
    finally:
        run.clean()
        bench.stop()
    return {"results": run.results, "not_recorded": run.empty, "words": sys.argv[1:], "rounds": args.rounds,
            "warm": args.warm, "load": load, "clocks": output(bench.path("event_plain"), "clocks"), "commit": commit(),
            "date": time.strftime("%Y-%m-%d"), "cores": len(os.sched_getaffinity(0))}


def main():
    args = arguments()
    if args.earlier:
        with open(args.earlier, encoding="utf-8") as f:
            run = json.load(f)
    else:
        run = measured(args)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(run, f, indent=1)
    text = tables.report(run)
    print(text)
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as f:
            f.write("# What gputrace costs\n\n" + text + "\n")
    if args.doc:
        document.into(args.doc, "bench/run.py", text)
    return 1 if run["not_recorded"] else 0


if __name__ == "__main__":
    sys.exit(main())
