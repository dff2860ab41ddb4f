# SPDX-License-Identifier: BSD-3-Clause
"""The CUDA libraries with the wrappers that ship: each call that a program counted is in the trace,
with its sizes, and the launches of the kernels lie in the calls.

Limits: a library that is not here, or whose wrapper was not built, is left out with a line.
"""
import os
import re
from pathlib import Path

# Program: wrapper, header, {parameter: every value it may have}.
LIBRARIES = {
    "fft": ("cufft", "cufft.h", {"nx": {4096, 32}, "ny": {64}, "batch": {1}}),
    "solve": ("cusolver", "cusolverDn.h", {"m": {200}, "n": {200}, "nrhs": {1}}),
    "sparse": ("cusparse", "cusparse.h", {"rows": {1000}, "cols": {1000}, "nnz": {1999}, "size": {1000}}),
    "sums": ("nccl", "nccl.h", {"count": {10000}}),
}


def jobs(suite, cuda, nvcc, flags):
    """What the compiler is asked for: a program for each library whose header is here."""
    out = []
    for program, (library, header, _) in LIBRARIES.items():
        if any((Path(folder) / header).exists() for folder in (cuda / "include", "/usr/include")):
            out.append([nvcc, *flags, suite.programs / f"{program}.cu", "-o", suite.work / program,
                        "-l" + library])
    return out


def parameters_of(trace):
    """{name of a parameter: the set of its values}."""
    found = {}
    for line in trace.run():
        m = re.match(r'PARAMETER_U?INT64 .*Parameter: "(.*?)" <\d+>, Value: (\d+)', line)
        if m:
            found.setdefault(m[1], set()).add(int(m[2]))
    return found


def case(program):
    library, _, sizes = LIBRARIES[program]

    def one(suite, name):
        folder = Path(suite.gputrace).resolve().parent.parent
        if not list(folder.glob(f"lib*/gputrace/libgputrace-wrap-{library}.so")):
            suite.say(f"     {name}: left out, gputrace was built without castxml or the library")
            return
        words = ["dry"] if not suite.gpus else []
        trace, counts, _ = suite.record(name, [f"--wrap={library}", suite.work / program, *words])
        if not trace:
            return
        inside = {}
        for span in trace.spans:
            groups = trace.regions[span.region][1] # NCCL has NVTX ranges of the same names
            if span.name.startswith(library) and not any(g.startswith("NVTX") for g in groups):
                inside.setdefault(span.name, []).append(span)
        wrong = {f: (len(inside.get(f, [])), n) for f, n in counts.items()
                 if len(inside.get(f, [])) != n and (f != "ncclGetVersion" or not inside.get(f))} # NCCL calls it
        suite.verdict(f"{name} calls", counts and not wrong,
                      f"{sum(counts.values())} calls of {len(counts)} functions" if not wrong else
                      f"in the trace, and counted: {wrong}")
        if not suite.gpus:
            return
        found = parameters_of(trace)
        suite.verdict(f"{name} sizes", all(found.get(p) == v for p, v in sizes.items()), str(found)[:300])
        calls = [(s.start, s.end) for spans in inside.values() for s in spans]
        launches = {s.correlation: s for s in trace.calls() if s.correlation}
        kernels = trace.kernels()
        if library == "nccl" and suite.gpus < 2: # then it copies
            suite.check(name, trace)
            return
        seen = sum(any(a <= launches[k.correlation].start <= b for a, b in calls)
                   for k in kernels if k.correlation in launches)
        suite.verdict(f"{name} launches", kernels and seen == len(kernels),
                      f"{seen} of {len(kernels)} kernels were launched in a call that is seen")
        suite.check(name, trace)
    return one


def cases(suite):
    """A case for each library whose program was compiled."""
    out = []
    for program, (library, _, _) in LIBRARIES.items():
        if os.access(suite.work / program, os.X_OK):
            out.append((f"{library}-wrapper", case(program)))
        else:
            suite.say(f"# without {library}")
    return out
