# SPDX-License-Identifier: BSD-3-Clause
"""What MPI calls cost under gputrace and EZTrace: 8-byte ping-pong, and calls without a partner.

Limits: Open MPI on one machine; the two ranks need a processor each to mean anything.
"""
import os
import shutil
import statistics
import subprocess

from tools import Case

ROUNDS = 200_000
OPENMPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def prepare(b):
    """Builds the program. False: there is no Open MPI, or gputrace was built without it."""
    here = os.path.dirname(os.path.abspath(__file__))
    if not shutil.which("mpicc.openmpi") or not shutil.which("mpirun.openmpi"):
        print("bench: MPI is not measured: no Open MPI")
        return False
    subprocess.run(["mpicc.openmpi", "-O2", "-o", b.path("pingpong"), os.path.join(here, "pingpong.c")],
                   check=True)
    return True


def suite(run, _peers):
    """One round."""
    b = run.b
    if not hasattr(b, "mpi"):
        b.mpi = prepare(b)
    if not b.mpi:
        return
    ranks = ["mpirun.openmpi", "-np", "2"]
    program = [b.path("pingpong"), str(ROUNDS)]
    tool = [os.path.join(b.stage, "bin", "gputrace"), "run", "-o", b.trace, "--"]
    quiet = dict(OPENMPI, VT_VERBOSE="0", VT_UNIFY="no")
    run.add("mpi", "plain", run.once(Case("p", ranks + program, OPENMPI)))
    run.add("mpi", "gputrace", run.once(Case("g", ranks + tool + program, quiet)))
    if shutil.which("eztrace"):
        run.add("mpi", "EZTrace", run.once(Case("e", ranks + ["eztrace", "-t", "openmpi", "-o", b.trace] +
                                                program, OPENMPI)))


def goals(g, results, spread):
    """The rows of the table."""
    m = results.get("mpi")
    if not m:
        return
    for key, what, limit in (("ns_per_call", "an MPI call of an 8-byte ping-pong", 50.0),
                             ("ns_alone", "an MPI call with MPI_PROC_NULL", 30.0)):
        plain = [r[key] for r in m.get("plain", []) if key in r]
        for who in ("gputrace", "EZTrace"):
            added = [r[key] - p for r, p in zip(m.get(who, []), plain) if key in r]
            if added:
                goal = limit if who == "gputrace" else None
                g.row(f"{what}: {who} adds", f"at most {limit:.0f} ns" if goal else "none",
                      f"{spread(added)} ns to {spread(plain)}", statistics.median(added), goal)
