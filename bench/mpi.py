# SPDX-License-Identifier: BSD-3-Clause
"""What gputrace and EZTrace add to MPI calls: an 8-byte ping-pong, calls without a partner, and LAMMPS
with so few atoms that it mostly exchanges them.

The goals are of whole processes, with and without a tool in turn: 400,000 rounds from the first to the last,
with all buffers that were written meanwhile; start, end and archive are a row of their own. For
explanation the calls alone are measured in pairs of short turns of one process, through the tool and past it
(pingpong.c); there the row without a tool shows what that measurement itself is worth. Limits: Open MPI on one
machine; the two ranks need a processor each.
"""
import os
import shutil
import statistics
import subprocess

from tools import Case

TURNS = 2000
ROUNDS = 400_000
WHOLE_TURNS = {"ping": 12, "null": 4}  # in each round; two ranks that wait for each other are rarely undisturbed
WHOLE = (("ping", "an MPI call of an 8-byte ping-pong", 2.0), ("null", "an MPI call with MPI_PROC_NULL", 1.3))
LIBRARY = "libmpi.so.40"
OPENMPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "1"}
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
run 10000
"""


def prepare(b):
    """Builds the program. False: there is no Open MPI, or gputrace was built without it."""
    here = os.path.dirname(os.path.abspath(__file__))
    if not shutil.which("mpicc.openmpi") or not shutil.which("mpirun.openmpi"):
        print("bench: MPI is not measured: no Open MPI")
        return False
    subprocess.run(["mpicc.openmpi", "-O2", "-o", b.path("pingpong"), os.path.join(here, "pingpong.c"), "-ldl"],
                   check=True)
    with open(b.path("in.melt"), "w", encoding="utf-8") as f:
        f.write(MELT)
    return True


def suite(run, _peers):
    """One round."""
    b = run.b
    if not hasattr(b, "mpi"):
        b.mpi = prepare(b)
    if not b.mpi:
        return
    quiet = dict(OPENMPI, VT_VERBOSE="0", VT_UNIFY="no")
    tools = {"plain": ([], OPENMPI),
             "gputrace": ([os.path.join(b.stage, "bin", "gputrace"), "run", "-o", b.trace, "--"], quiet)}
    if shutil.which("eztrace"):
        tools["EZTrace"] = (["eztrace", "-t", "openmpi", "-o", b.trace], OPENMPI)
    ranks = ["mpirun.openmpi", "-np", "2", "--bind-to", "core"]
    for kind, _, _ in WHOLE:
        for turn in range(WHOLE_TURNS[kind]):
            floor = run.floor()
            for who, (tool, env) in list(tools.items())[::-1 if turn % 2 else 1]: # neither is always the first
                if who == "EZTrace" and turn: # it takes longer than all the others together
                    continue
                case = Case(who, ranks + tool + [b.path("pingpong"), kind, str(ROUNDS)], dict(env, VT_UNIFY="yes"))
                run.add("mpi " + kind, who, dict(run.once(case, warm=0), floor_ns=floor))
    for who, (tool, env) in tools.items():
        run.add("mpi", who, run.once(Case(who, ranks + tool + [b.path("pingpong"), str(TURNS), LIBRARY], env)))
    for who, (tool, env) in tools.items() if shutil.which("lmp") else ():
        words = " ".join(ranks + tool + ["lmp", "-in", b.path("in.melt"), "-log", "none"])
        only = "sed -n 's/^Loop time of \\([0-9.]*\\) .*/loop_s=\\1/p'"
        run.add("lammps", who, run.once(Case(who, ["sh", "-c", words + " 2>&1 | " + only], env)))


def whole_goals(g, results, spread):
    """Of whole processes: what the calls cost, and the rest of the run."""
    for kind, what, limit in WHOLE:
        plain = results.get("mpi " + kind, {}).get("plain", [])
        calls = ROUNDS * (2 if kind == "ping" else 3)
        for who in ("gputrace", "EZTrace"):
            pairs = list(zip(results.get("mpi " + kind, {}).get(who, []), plain))
            if not pairs:
                continue
            added = [r["ns"] - p["ns"] for r, p in pairs]
            x = [a / r["floor_ns"] for a, (r, _) in zip(added, pairs)]
            goal = limit if who == "gputrace" else None
            g.row(f"{what}, whole process: {who} adds", f"at most {limit} x the floor" if goal else "none",
                  f"{spread(x, 2, ' x')}, {spread(added)} ns to {spread([p['ns'] for p in plain])}, {len(pairs)} turns",
                  statistics.median(x), goal)
            if kind == "ping":
                rest = [r["wall_s"] - r["ns"] * calls * 1e-9 - p["wall_s"] + p["ns"] * calls * 1e-9 for r, p in pairs]
                g.row(f"(start, end and archive of the same run: {who} adds)", "none",
                      f"{spread(rest, 2)} s to {spread([p['wall_s'] for p in plain], 2)}", statistics.median(rest), None)


def goals(g, results, spread):
    """The rows of the table."""
    whole_goals(g, results, spread)
    m = results.get("mpi", {})
    for key, what in (("per_call", "an MPI call of an 8-byte ping-pong"), ("alone", "an MPI call with MPI_PROC_NULL")):
        for who in ("gputrace", "EZTrace", "plain"):
            rows = [r for r in m.get(who, []) if "added_" + key in r]
            if not rows:
                continue
            added = [r["added_" + key] for r in rows]
            g.row(f"({what}, interleaved within a process: " + (f"{who} adds)" if who != "plain" else "without a tool)"),
                  "none", f"{spread(added)} ns to {spread([r['ns_' + key] for r in rows])}", statistics.median(added), None)
    lammps = results.get("lammps", {})
    plain = [r["loop_s"] for r in lammps.get("plain", []) if "loop_s" in r]
    for who in ("gputrace", "EZTrace"):
        slower = [r["loop_s"] / p for r, p in zip(lammps.get(who, []), plain) if "loop_s" in r]
        if slower:
            g.row(f"LAMMPS, 256 atoms, 2 ranks: under {who}", "none",
                  f"{spread(slower, 2)} x {spread(plain, 2)} s", statistics.median(slower), None)
