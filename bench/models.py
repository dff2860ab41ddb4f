# SPDX-License-Identifier: BSD-3-Clause
"""Programming models: a Python function that calls itself, plain, recorded (VT_PYTHON), and under Python's own
profilers; OpenCL kernels of one work-item; launches of HIP and of Level Zero on the devices that test/hip and
test/levelzero play; a call of NCCL towards its profiler plug-in, played by test/nccl/fake.c, with a plug-in that
does nothing and ours.

Limits: cProfile sums up calls and keeps none, pyinstrument looks every millisecond. The latter is measured if
the python3 that is called has it.
"""
import os
import statistics
import subprocess

from tools import HERE, Case

FIB = "import sys\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(int(sys.argv[1]))\n"
N, CALLS = 29, 1_664_079
LAUNCHES = 100_000
COLLECTIVES = 200_000
TURNS = 3 # in each round


def opencl(run):
    """One round of OpenCL, if there is a device."""
    b = run.b
    if not hasattr(b, "opencl"):
        try:
            b.cc("opencl", ["opencl.c"], "-lOpenCL")
            b.opencl = not subprocess.run([b.path("opencl"), "1"], stdout=subprocess.DEVNULL).returncode
        except (OSError, SystemExit, subprocess.CalledProcessError):
            b.opencl = False
    launches = [b.path("opencl"), str(LAUNCHES)]
    for _ in range(TURNS if b.opencl else 0):
        run.add("opencl", "plain", run.once(Case("plain", launches), warm=0))
        run.add("opencl", "recorded", run.once(Case("recorded", b.gputrace_run(*launches),
                                                    b.gputrace_env(VT_UNIFY="no")), warm=0))


def hip(run):
    """One round of HIP: with a tool that does nothing, and recorded."""
    b = run.b
    test, root = os.path.join("..", "test", "hip"), "-I" + os.path.join(HERE, "..")
    if not hasattr(b, "hip"):
        for name, source, *flags in (("libhsa-runtime64.so.1", os.path.join(test, "fake_hsa.c")),
                                     ("libamdhip64.so", os.path.join(test, "fake_hip.c"), b.path("libhsa-runtime64.so.1"),
                                      "-ldl"),
                                     ("librocprofiler-sdk.so.1", os.path.join(test, "fake_rocprofiler.c"), "-ldl"),
                                     ("libempty-hip.so", "devices.c", "-DTOOL", b.path("librocprofiler-sdk.so.1"))):
            b.cc(name, [source], root, "-shared", "-fPIC", "-Wl,-soname," + name, *flags, "-lpthread")
        b.cc("hip", ["devices.c"], root, "-L" + b.build, "-lamdhip64", "-Wl,-rpath-link," + b.build)
        b.hip = True
    launches = [b.path("hip"), str(LAUNCHES)]
    env = {"LD_LIBRARY_PATH": b.build, "FAKE_OVERLAP": "1"} # kernels wait for none before them
    for _ in range(TURNS):
        run.add("hip", "empty", run.once(Case("empty", launches, {**env, "ROCP_TOOL_LIBRARIES": b.path("libempty-hip.so")}),
                                         warm=0))
        run.add("hip", "recorded", run.once(Case("recorded", b.gputrace_run(*launches),
                                                 {**env, **b.gputrace_env(VT_UNIFY="no")}), warm=0))


def level_zero(run):
    """One round of Level Zero, where its loader is."""
    b = run.b
    if not hasattr(b, "level_zero"):
        sources = [os.path.join("..", "test", "levelzero", name) for name in ("driver.c", "device.c", "tables.c")]
        try:
            b.cc("libze_fake.so", sources, "-shared", "-fPIC", "-fvisibility=hidden", "-lpthread")
            b.cc("level_zero", ["devices.c"], "-DLEVEL_ZERO", "-lze_loader")
            b.level_zero = True
        except (OSError, SystemExit, subprocess.CalledProcessError):
            b.level_zero = False
    launches = [b.path("level_zero"), str(LAUNCHES)]
    env = {"ZE_ENABLE_ALT_DRIVERS": b.path("libze_fake.so")}
    for _ in range(TURNS if b.level_zero else 0):
        run.add("level_zero", "plain", run.once(Case("plain", launches, env), warm=0))
        run.add("level_zero", "recorded", run.once(Case("recorded", b.gputrace_run(*launches),
                                                        {**env, **b.gputrace_env(VT_UNIFY="no")}), warm=0))


def nccl(run):
    """One round of NCCL's calls."""
    b = run.b
    if not hasattr(b, "nccl"):
        b.cc("nccl", ["../test/nccl/fake.c"], "-I" + os.path.join(HERE, ".."), "-ldl", "-lpthread")
        b.nccl = True
    loop = [b.path("nccl"), "5", "1", "loop", str(COLLECTIVES)]
    for _ in range(TURNS):
        run.add("nccl", "empty", run.once(Case("empty", loop, {"NCCL_PROFILER_PLUGIN": "empty"}), warm=0))
        run.add("nccl", "recorded", run.once(Case("recorded", b.gputrace_run(*loop),
                                                  b.gputrace_env(VT_UNIFY="no")), warm=0))


def suite(run, _peers):
    """One round."""
    opencl(run)
    hip(run)
    level_zero(run)
    nccl(run)
    b = run.b
    program = b.path("fib.py")
    if not hasattr(b, "profilers"):
        with open(program, "w", encoding="ascii") as f:
            f.write(FIB)
        b.profilers = [p for p in ("cProfile", "pyinstrument") if not run.a.no_peers and
                       not subprocess.run(["python3", "-c", "import " + p], stderr=subprocess.DEVNULL).returncode]
    fib = ["python3", program, str(N)]
    cases = [Case("plain", fib),
             Case("recorded", b.gputrace_run(*fib), b.gputrace_env(VT_PYTHON="yes", VT_UNIFY="no")),
             Case("with its archive", b.gputrace_run(*fib), b.gputrace_env(VT_PYTHON="yes")),
             *(Case(p, ["python3", "-m", p, "-o", b.path("fib." + p), *fib[1:]]) for p in b.profilers)]
    for _ in range(TURNS):
        for case in cases:
            run.add("python", case.name, run.once(case, warm=0))


def goals(g, results, spread):
    """The rows of the table."""
    c = results.get("python", {})
    for name, what in (("recorded", "VT_PYTHON, without the archive"), ("with its archive", "VT_PYTHON"),
                       ("cProfile", "cProfile"), ("pyinstrument", "pyinstrument")):
        added = [(r["wall_s"] - p["wall_s"]) / CALLS * 1e9 for r, p in zip(c.get(name, []), c.get("plain", []))]
        if added:
            plain = [p["wall_s"] / CALLS * 1e9 for p in c["plain"]]
            g.row(f"a call of a Python function, whole process: {what} adds", "none",
                  f"{spread(added)} ns to {spread(plain)}, {len(added)} turns", statistics.median(added), None)
    for model, before, what in (("opencl", "plain", "an OpenCL kernel of one work-item (PoCL): gputrace adds"),
                                ("hip", "empty", "a launch of HIP (a fake of its runtime): gputrace adds, above a tool that does nothing,"),
                                ("level_zero", "plain", "a launch of Level Zero and its kernel, on a driver of our own: gputrace adds")):
        c = results.get(model, {})
        added = [r["ns_per_launch"] - p["ns_per_launch"] for r, p in zip(c.get("recorded", []), c.get(before, []))]
        if added:
            g.row(what, "none",
                  f"{spread(added)} ns to {spread([p['ns_per_launch'] for p in c[before]])}, {len(added)} turns",
                  statistics.median(added), None)
        added = [(r["cpu_s"] - p["cpu_s"]) / LAUNCHES * 1e9 for r, p in zip(c.get("recorded", []), c.get("empty", []))]
        if added and model == "hip":
            g.row("(processor time of all its threads: with the kernel's record, start and end)", "none",
                  f"{spread(added)} ns, {len(added)} turns", statistics.median(added), None)
    c = results.get("nccl", {})
    for name, what in (("empty", "a plug-in that does nothing"), ("recorded", "recorded")):
        times = [r["ns_per_call"] for r in c.get(name, [])]
        if times:
            g.row(f"a call of NCCL's AllReduce, its plug-in's part: {what}", "none", f"{spread(times)} ns, {len(times)} turns",
                  statistics.median(times), None)
