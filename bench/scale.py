#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How gputrace grows with the number of MPI ranks: start, end and memory of real programs on this
machine, and the assembly of the definitions of thousands of ranks, made of a real one's.

    scale.py --stage stage --build DIR [--ranks 2,4,8] [--copies 64,1024,16384] [--svg FILE] [--json FILE]

Limits: Open MPI, all ranks on one machine, so that times above its processors are those of waiting
for them; the copies differ in rank and process only, as ranks of one program do.
"""
import argparse
import json
import math
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import time

ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl": "self,vader",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
HOST = 'VT_TEST_HOST=node$((OMPI_COMM_WORLD_RANK %% %d)) exec "$@"'


def run(command, **env):
    """(seconds, stdout, stderr)."""
    begin = time.monotonic()
    done = subprocess.run(command, env=dict(os.environ, **ENV, **env), capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit("%s: status %d\n%s" % (command, done.returncode, done.stderr[-2000:]))
    return time.monotonic() - begin, done.stdout, done.stderr


def memory_of(command, **env):
    """(seconds, peak of its own memory in MB): anonymous pages, sampled, and the peak of all."""
    begin = time.monotonic()
    child = subprocess.Popen(command, env=dict(os.environ, **ENV, **env), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    own = files = 0
    while child.poll() is None:
        try:
            with open("/proc/%d/status" % child.pid, encoding="ascii") as status:
                text = status.read()
            own = max(own, int(re.search(r"RssAnon:\s*(\d+)", text).group(1)))
            files = max(files, len(os.listdir("/proc/%d/fd" % child.pid)))
        except (OSError, AttributeError):
            pass
        time.sleep(0.005)
    if child.returncode:
        sys.exit("%s: status %d" % (command, child.returncode))
    return time.monotonic() - begin, own / 1024, files


def real(args, program, ranks, hosts):
    """One run with so many ranks: without gputrace, and with it on one host or several."""
    launch = ["mpirun.openmpi", "-np", str(ranks)]
    trace = os.path.join(args.build, "scale.trace")
    shutil.rmtree(trace, ignore_errors=True)
    command = [program]
    if hosts:
        command = [os.path.join(args.stage, "bin", "gputrace"), "run", "-q", "-o", trace, program]
    if hosts > 1:
        command = ["sh", "-c", HOST % hosts, "sh"] + command
    seconds, out, _ = run(launch + command, VT_UNIFY="no")
    row = dict(zip(("init_ms", "finalize_ms", "memory_kB"),
                   (float(x) for x in re.match(r"init (\S+) finalize (\S+) memory (\S+)", out).groups())))
    row["seconds"] = seconds
    if hosts:
        spool = subprocess.run(["du", "-sk", trace], capture_output=True, text=True, check=True).stdout
        row["spool_kB_per_rank"] = int(spool.split()[0]) / ranks
        row["assemble_s"], row["assemble_MB"], row["assemble_files"] = memory_of(
            [os.path.join(args.stage, "bin", "gputrace"), "recover", "-q", trace])
        row["files"] = sum(len(f) for _, _, f in os.walk(trace))
    shutil.rmtree(trace, ignore_errors=True)
    return row


# ---- thousands of ranks ---------------------------------------------------------------------------


def fnv(data, value=0x811c9dc5):
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xffffffff
    return value


def definition(kind, ident, payload):
    payload += bytes(-len(payload) % 8)
    head = struct.pack("<IHHI", 16 + len(payload), kind, 0, ident)
    return head + struct.pack("<I", fnv(head + payload)) + payload


def make_copies(args, program, count, **env):
    """The spool of two real ranks becomes one of `count`: the second is copied with other numbers."""
    trace = os.path.join(args.build, "copies.trace")
    shutil.rmtree(trace, ignore_errors=True)
    run(["mpirun.openmpi", "-np", "2", os.path.join(args.stage, "bin", "gputrace"), "run", "-q", "-o", trace, program],
        VT_UNIFY="no", VT_BUFFER_SIZE="64K", **env)
    spool = os.path.join(trace, "spool")
    for name in sorted(n for n in os.listdir(spool) if n[0] == "p"):
        with open(os.path.join(spool, name, "proc"), "rb") as file:
            proc, defs = bytearray(file.read(4096)), file.read()
        rank, = struct.unpack_from("<I", proc, 140)
        world = b""
        at = 16
        while at < len(defs):
            size, kind, _, ident = struct.unpack_from("<IHHI", defs, at)
            payload = defs[at + 16:at + size]
            if kind == 16 and struct.unpack_from("<I", payload, 16)[0] == 2: # MPI_COMM_WORLD's ranks
                payload = struct.pack("<6I", 0, 2, 0, 0, count, 0) + struct.pack("<2I", 0, 1)
                world += definition(kind, ident, payload)
            else:
                world += defs[at:at + size]
            at += size
        defs = defs[:16] + world
        with open(os.path.join(spool, name, "proc"), "wb") as file:
            file.write(proc + defs)
        if rank == 1:
            source, header, text = os.path.join(spool, name), proc, defs
    windows = [n for n in os.listdir(source) if n[0] == "l"]
    pid = 1 << 22
    for rank in range(2, count):
        folder = os.path.join(spool, "p%04d.%d" % (rank + 10, pid + rank))
        os.mkdir(folder, 0o700)
        struct.pack_into("<2I", header, 16, pid + rank, 1)
        struct.pack_into("<I", header, 32, rank + 10)
        struct.pack_into("<I", header, 140, rank)
        with open(os.path.join(folder, "proc"), "wb") as file:
            file.write(header + text)
        for name in windows:
            copy_window(os.path.join(source, name), os.path.join(folder, name))
    return trace, len(text)


def parts(args, program, count):
    """The last host's work: hosts of 64 ranks have converted their events; their definitions are joined."""
    each = min(64, count // 2)
    trace, _ = make_copies(args, program, each, VT_TEST_HOST="n0000000")
    tool = os.path.join(args.stage, "bin", "gputrace")
    run(["bash", "-c", 'exec 9<>"$1/spool/run" && exec "$0" assemble --lock-fd=9 --home="$1/spool" --part "$1"', tool, trace])
    run([args.parts, trace, str(count // each)])
    size = os.path.getsize(os.path.join(trace, "spool", "part.0", "part"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, megabytes, files = memory_of([tool, "recover", "-q", trace])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = {"join_s": seconds, "join_MB": megabytes, "files_open": files, "hosts": count // each,
           "cpu_s": after.ru_utime - before.ru_utime, "system_s": after.ru_stime - before.ru_stime,
           "part_kB_per_rank": size / 1024 / each,
           "archive_definitions_MB": os.path.getsize(os.path.join(trace, "traces.def")) / 1e6,
           "archive_files": sum(len(f) for _, _, f in os.walk(trace))}
    shutil.rmtree(trace, ignore_errors=True)
    return row


def copies(args, program, count):
    """One host reads the definitions of all ranks, as it does where all of them are its own."""
    trace, bytes_each = make_copies(args, program, count)
    seconds, megabytes, files = memory_of([os.path.join(args.stage, "bin", "gputrace"), "recover", "-q", trace])
    row = {"assemble_s": seconds, "assemble_MB": megabytes, "assemble_files": files, "definitions_kB_per_rank": bytes_each / 1024,
           "archive_definitions_MB": os.path.getsize(os.path.join(trace, "traces.def")) / 1e6,
           "files": sum(len(f) for _, _, f in os.walk(trace))}
    shutil.rmtree(trace, ignore_errors=True)
    return row


def copy_window(source, target):
    """Copies with the holes that a window has."""
    with open(source, "rb") as a, open(target, "wb") as b:
        size = os.path.getsize(source)
        while True:
            block = a.read(4096)
            if not block:
                break
            if block.count(0) == len(block):
                b.seek(len(block), 1)
            else:
                b.write(block)
        b.truncate(size)


# ---- growth ---------------------------------------------------------------------------------------


def power(points):
    """The exponent of y = c * x^e that fits best (least squares of the logarithms)."""
    points = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(points) < 2:
        return float("nan")
    mx = sum(x for x, _ in points) / len(points)
    my = sum(y for _, y in points) / len(points)
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


COLOURS = ["#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e"]


def plot(file, panels):
    """An SVG with one double-logarithmic panel for each (title, unit, [(name, [(x, y)])])."""
    width, height, left, top = 460, 300, 64, 40
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' %
           (width * 2, height * ((len(panels) + 1) // 2)), '<!-- SPDX-License-Identifier: BSD-3-Clause -->',
           '<rect width="100%" height="100%" fill="white"/>']
    for number, (title, unit, lines) in enumerate(panels):
        x0, y0 = number % 2 * width + left, number // 2 * height + top
        w, h = width - left - 24, height - top - 56
        xs = [x for _, p in lines for x, _ in p]
        ys = [max(y, 1e-6) for _, p in lines for _, y in p]
        lx, hx = math.log10(min(xs)), math.log10(max(xs))
        ly, hy = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 1e-9)
        hy = max(hy, ly + 1)

        def place(x, y, x0=x0, y0=y0, w=w, h=h, lx=lx, hx=hx, ly=ly, hy=hy):
            return (x0 + w * (math.log10(x) - lx) / (hx - lx or 1),
                    y0 + h - h * (math.log10(max(y, 1e-6)) - ly) / (hy - ly))
        out.append('<text x="%d" y="%d" font-weight="bold">%s</text>' % (x0, y0 - 16, title))
        for e in range(ly, hy + 1):
            y = place(min(xs), 10 ** e)[1]
            out.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>' %
                       (x0, y, x0 + w, y, x0 - 6, y + 4, 10 ** e))
        for x in sorted(set(xs)):
            out.append('<text x="%.1f" y="%d" text-anchor="middle" font-size="10">%d</text>' % (place(x, 1)[0], y0 + h + 14, x))
        out.append('<text x="%d" y="%d" text-anchor="middle">ranks</text><text x="%d" y="%d" text-anchor="end">%s</text>' %
                   (x0 + w // 2, y0 + h + 30, x0 - 6, y0 - 4, unit))
        for i, (name, points) in enumerate(lines):
            colour = COLOURS[i % len(COLOURS)]
            path = " ".join("%.1f,%.1f" % place(x, y) for x, y in points)
            out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (path, colour))
            out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*place(x, y), colour) for x, y in points]
            out.append('<text x="%d" y="%d" fill="%s">%s: ranks^%.2f</text>' %
                       (x0 + 8, y0 + 12 + 15 * i, colour, name, power(points)))
    with open(file, "w", encoding="utf-8") as f:
        f.write("\n".join(out + ["</svg>", ""]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--stage", default="stage")
    p.add_argument("--build", default="bench-out")
    p.add_argument("--ranks", default="2,4,8,16,32,64,128")
    p.add_argument("--hosts", type=int, default=4, help="how many hosts are pretended")
    p.add_argument("--copies", default="256,1024,4096,16384")
    p.add_argument("--parts", help="the program `parts`: joins definitions of hosts with 64 ranks each")
    p.add_argument("--part-ranks", default="2,16,128,256,1024,4096,16384")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--svg")
    p.add_argument("--json")
    args = p.parse_args()
    args.stage, args.build = os.path.abspath(args.stage), os.path.abspath(args.build)
    os.makedirs(args.build, exist_ok=True)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    program = os.path.join(args.build, "scale")
    subprocess.run(["mpicc.openmpi", "-O1", "-o", program, os.path.join(os.path.dirname(os.path.abspath(__file__)), "scale.c")],
                   check=True)
    results = {"load": os.getloadavg()[0], "processors": os.cpu_count(), "ranks": {}, "copies": {}, "parts": {}}
    for ranks in (int(r) for r in args.ranks.split(",") if r):
        rows = {}
        for _ in range(args.rounds):
            for name, hosts in (("plain", 0), ("one host", 1), ("%d hosts" % args.hosts, args.hosts)):
                row = real(args, program, ranks, hosts)
                rows.setdefault(name, []).append(row)
        # The best of each: what disturbs only makes it longer.
        results["ranks"][ranks] = {name: {k: min(r[k] for r in rs) for k in rs[0]} for name, rs in rows.items()}
        print("%4d ranks: %s" % (ranks, json.dumps(results["ranks"][ranks])), flush=True)
    for count in (int(c) for c in args.copies.split(",") if c):
        results["copies"][count] = copies(args, program, count)
        print("%5d copies: %s" % (count, json.dumps(results["copies"][count])), flush=True)
    for count in (int(c) for c in args.part_ranks.split(",") if args.parts and c):
        results["parts"][count] = parts(args, program, count)
        print("%5d ranks in parts: %s" % (count, json.dumps(results["parts"][count])), flush=True)
    results["load_after"] = os.getloadavg()[0]
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    if args.svg:
        draw(args.svg, results)


def draw(file, results):
    def line(key, name):
        return [(int(r), v[name][key]) for r, v in results["ranks"].items() if name in v]
    names = [n for n in next(iter(results["ranks"].values()))] if results["ranks"] else []
    traced = [n for n in names if n != "plain"]
    copied = [(int(c), v) for c, v in results["copies"].items()]
    joined = [(int(c), v) for c, v in results.get("parts", {}).items()]
    plot(file, [
        ("MPI_Init, longest of all ranks", "ms", [(n, line("init_ms", n)) for n in names]),
        ("MPI_Finalize", "ms", [(n, line("finalize_ms", n)) for n in names]),
        ("Private memory of a rank", "kB", [(n, line("memory_kB", n)) for n in names]),
        ("Assembly", "s", [(n, line("assemble_s", n)) for n in traced] + [("copies of a rank", [(c, v["assemble_s"]) for c, v in copied]),
                             ("the last of many hosts", [(c, v["join_s"]) for c, v in joined])]),
        ("Memory of the assembly", "MB", [(n, line("assemble_MB", n)) for n in traced] +
         [("copies of a rank", [(c, v["assemble_MB"]) for c, v in copied]),
          ("the last of many hosts", [(c, v["join_MB"]) for c, v in joined])]),
    ])


if __name__ == "__main__":
    main()
