# SPDX-License-Identifier: BSD-3-Clause
"""Kokkos with the back ends CUDA and Serial, for test/gpu/run: what a program has called, against the trace.

GPUTRACE_KOKKOS names test/gpu/kokkos.cpp, built with such a Kokkos and its nvcc_wrapper (--expt-extended-lambda):
to build Kokkos takes minutes, so the suite does not.

Limits: without GPUTRACE_KOKKOS the case is left out, with a line.
"""
import os
from collections import Counter

from gpu_cases import equal


def counts_in(out):
    """{(group, name): (calls, bytes)}"""
    lines = (line.split("\t") for line in out.splitlines())
    return {(f[0], f[1]): (int(f[2]), int(f[3])) for f in lines if len(f) == 4}


def group_of(trace, span):
    """"parallel_for" of "Kokkos parallel_for"; "" of no region of Kokkos'."""
    groups = [g for g in trace.regions[span.region][1] if g.startswith("Kokkos ")]
    return groups[0].split(" ", 1)[1] if groups else ""


def copies(trace):
    """{"Host to Cuda": (messages, bytes)}, as sent and as received."""
    found = {"SEND": {}, "RECV": {}}
    names = {i: text.replace("Kokkos space ", "") for i, (text, _, _) in trace.locations.items()}
    from_to = {}
    for kind, location, _, _, tag, size, comm in trace.messages:
        if comm == "Kokkos deep copies":
            from_to.setdefault(tag, {})[kind] = names[location], size
    for ends in from_to.values():
        way = f"{ends['SEND'][0]} to {ends['RECV'][0]}"
        for kind, (_, size) in ends.items():
            calls, total = found[kind].get(way, (0, 0))
            found[kind][way] = calls + 1, total + size
    return found


def around(trace):
    """Kokkos' kernels that CUDA's were launched in, and how often."""
    calls = {c.correlation: c for c in trace.calls() if c.correlation is not None}
    launches = [s for s in trace.spans if group_of(trace, s).startswith("parallel_")]
    found = Counter()
    for kernel in trace.kernels():
        call = calls[kernel.correlation]
        inside = [s for s in launches if s.location == call.location and s.start <= call.start and call.end <= s.end]
        found[inside[-1].name if inside else ""] += 1
    return found


def program(suite, name):
    """Names and calls, execution spaces, copies between memory spaces, and the CUDA kernels in each of Kokkos'."""
    trace, _, out = suite.record(name, [os.environ["GPUTRACE_KOKKOS"]])
    if not trace:
        return
    wanted = counts_in(out)
    suite.verdict(f"{name} counts", len(wanted) > 10, f"{len(wanted)} of the program")
    spans = [(group_of(trace, s), s) for s in trace.spans]
    found = Counter((group, s.name) for group, s in spans)
    for (group, what), (calls, _) in wanted.items():
        if group not in ("copy", "mark"):
            # A fence of all execution spaces is one of each.
            equal(suite, name, f"{group} {what}", found[group, what], 2 * calls if group == "fence" else calls)
    kernels = [s for group, s in spans if group.startswith("parallel_")]
    on_host = {"fill on the host", "Kokkos::View::initialization [host] via memset"}
    equal(suite, name, "kernels of their space",
          sum(s.parameters.get("KOKKOS_SPACE") == ("Serial" if s.name in on_host else "Cuda") for s in kernels),
          len(kernels))
    # To fill a view with a value is a copy from the host to Kokkos, of as many bytes as the view has.
    one = wanted["copy", "Cuda to Host"][1] // wanted["copy", "Cuda to Host"][0]
    calls, size = wanted["copy", "Host to Cuda"]
    copied = {"Host to Cuda": (calls + 1, size + one), "Cuda to Host": wanted["copy", "Cuda to Host"]}
    equal(suite, name, "copies", copies(trace), {"SEND": copied, "RECV": copied})
    for way, words in (("Host to Cuda", "H2D"), ("Cuda to Host", "D2H")):
        equal(suite, name, f"copies of CUDA's, {words}",
              sum(m[0] == "RECV" and m[5] == one and m[6] != "Kokkos deep copies" and
                  (m[1] in trace.streams()) == (words == "H2D") for m in trace.messages), wanted["copy", way][0])
    launched = around(trace)
    # A scan of more than one block is two kernels.
    twice = {what for group, what in wanted if group == "parallel_scan"}
    for (group, what), (calls, _) in wanted.items():
        if group.startswith("parallel_") and what not in on_host:
            equal(suite, name, f"CUDA kernels in {what}", launched[what], calls * (2 if what in twice else 1))
    suite.check(name, trace)


def cases(suite):
    if not os.environ.get("GPUTRACE_KOKKOS") or not suite.gpus:
        suite.say("# without Kokkos: GPUTRACE_KOKKOS names no program")
        return []
    return [("kokkos", program)]
