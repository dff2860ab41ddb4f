# SPDX-License-Identifier: BSD-3-Clause
"""How the benchmark builds and runs its programs under each tool, and how it finds out how many
calls the tool recorded.

Limits: knows nothing about rows, goals or tables. A tool that is not installed is left out.
"""
import os
import re
import shutil
import struct
import subprocess

LAST = str((os.cpu_count() or 1) - 1) # a core that does not serve the interrupts, unless it is the only one


def other_core():
    """One that shares nothing with LAST, as hyperthreads do; the one before it if there is none."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{LAST}/topology/core_id", encoding="ascii") as f:
            core = f.read()
        for cpu in range(int(LAST) - 1, -1, -1):
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_id", encoding="ascii") as f:
                if f.read() != core:
                    return str(cpu)
    except OSError:
        pass
    return str(max(int(LAST) - 1, 0))


TWO = f"{other_core()},{LAST}"
HERE = os.path.dirname(os.path.abspath(__file__))
CYG = ["-finstrument-functions"]
# Keep every call a call, in the plain build too: gcc -O2 otherwise inlines the recursion.
CFLAGS = ["-O2", "-g", "-pthread", "-fno-inline", "-fno-optimize-sibling-calls"]
PACKED_AT = 240 # packed_bytes of a window's header (doc/FORMAT.md)
EZTRACE_CALLS = """BEGIN_MODULE
NAME {name}
DESC "gputrace benchmark"
LANGUAGE C
{functions}
END_MODULE
"""


def output(*cmd, **more):
    """What a command prints, both streams; never fails."""
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **more).stdout


def must(*cmd, **more):
    """Runs a command that has to work."""
    p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       errors="replace", check=False, **more)
    if p.returncode:
        raise SystemExit(f"bench: {' '.join(cmd)} failed ({p.returncode}):\n{p.stdout[-3000:]}")


def disk_bytes(top, suffix=""):
    total = 0
    for folder, _, files in os.walk(top):
        for name in files:
            try:
                if name.endswith(suffix):
                    total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                pass
    return total


def spool_bytes(top):
    """What was packed of all that was spooled: in the files, and what is still in the stages."""
    total = 0
    for folder, _, files in os.walk(top):
        for name in files:
            if name.endswith(".win"):
                with open(os.path.join(folder, name), "rb") as window:
                    total += struct.unpack_from("<Q", window.read(PACKED_AT + 8), PACKED_AT)[0]
    return total


def find_file(top, suffix):
    for folder, _, files in os.walk(top):
        for name in files:
            if name.endswith(suffix):
                return os.path.join(folder, name)
    return None


class Case:
    """One program under one tool."""

    def __init__(self, name, cmd, env=None, before=None, after=None, recorded=None):
        self.name = name
        self.cmd = cmd              # list of words
        self.env = env or {}
        self.before = before        # called with nothing, not timed
        self.after = after          # returns a dict of more results; timed by itself
        self.recorded = recorded    # how many calls the tool recorded; None: not a recorder


class Bench:
    """The built programs, in `build`; the tools write to `trace`."""

    def __init__(self, stage, build):
        self.stage, self.build = stage, build
        self.trace = os.path.join(build, "trace")
        self.sessiond = None
        os.makedirs(build, exist_ok=True)
        have = shutil.which
        self.uftrace = have("uftrace")
        self.eztrace = have("eztrace") and have("eztrace_create_plugin")
        self.lttng = have("lttng") and have("lttng-sessiond")

    def path(self, name):
        return os.path.join(self.build, name)

    # ---- building ---------------------------------------------------------------------------

    def cc(self, out, sources, *flags, compiler="cc"):
        src = [os.path.join(HERE, s) for s in sources]
        must(*compiler.split(), *CFLAGS, *src, "-o", self.path(out), *flags)

    def link(self, lib):
        return ["-L" + self.build, "-l" + lib, "-Wl,-rpath," + self.build]

    def build_all(self):
        ours = os.path.join(self.stage, "bin", "gputrace-cc")
        so = ["-fPIC", "-shared"]
        self.cc("libfloor.so", ["floor.c"], *so)
        self.cc("libfloorempty.so", ["floor.c"], *so, "-DFLOOR_EMPTY")
        self.cc("libbenchwork.so", ["work.c"], *so)
        self.cc("event_lib", ["event.c"], "-DWORK_IN_LIB", *self.link("benchwork"))
        self.cc("libfloortally.so", ["floor.c"], *so, "-DFLOOR_TALLY")
        self.cc("real_tally", ["real.c"], *CYG, *self.link("floortally"))
        self.cc("libbenchcalls_tally.so", ["calls_lib.c"], *so, *CYG, *self.link("floortally"))
        self.cc("calls_tally", ["calls.c"], *CYG, *self.link("benchcalls_tally"),
                *self.link("floortally"))
        self.cc("locks", ["locks.c"])
        self.cc("libbenchpass.so", ["pass.c"], *so)
        otf2 = (output("otf2-config", "--cflags") + output("otf2-config", "--ldflags") +
                output("otf2-config", "--libs")).split()
        self.cc("count", ["count.c"], *otf2)
        for name in ("event", "real"):
            src = [name + ".c"]
            self.cc(name + "_plain", src)
            self.cc(name + "_floor", src, *CYG, *self.link("floor"))
            self.cc(name + "_empty", src, *CYG, *self.link("floorempty"))
            self.cc(name + "_cyg", src, *CYG)
            self.cc(name + "_gputrace", src, compiler=ours)
        for kind, flags, compiler in (("plain", [], "cc"), ("cyg", CYG, "cc"),
                                      ("gputrace", [], ours)):
            lib = "benchcalls_" + kind
            self.cc(f"lib{lib}.so", ["calls_lib.c"], *so, *flags, compiler=compiler)
            self.cc("calls_" + kind, ["calls.c"], *flags, *self.link(lib), compiler=compiler)
        if self.eztrace:
            self.eztrace = self.eztrace_plugin("benchwork", ["void bench_work(void)"]) and \
                self.eztrace_plugin("benchcalls", self.calls_prototypes())

    @staticmethod
    def calls_prototypes():
        """The functions of calls.h, with types that EZTrace's generator understands."""
        with open(os.path.join(HERE, "calls.h"), encoding="ascii") as f:
            text = re.sub(r"\s+", " ", f.read())
        found = re.findall(r"((?:int64_t|int|struct \w+ \*)\s*calls_\w+\([^)]*\));", text)
        plain = []
        for p in found:
            p = re.sub(r"^struct \w+ \*", "long ", p) # it takes "void *" for no result at all
            p = re.sub(r"(const )?struct \w+ \*|(const )?char \*", "void *", p)
            plain.append(re.sub(r"enum \w+ ", "int ", p).replace("int64_t", "long"))
        return plain

    def eztrace_plugin(self, name, functions):
        """EZTrace has no compiler instrumentation: a plug-in interposes the calls."""
        folder = self.path("eztrace-" + name)
        shutil.rmtree(folder, ignore_errors=True)
        template = self.path(name + ".tpl")
        with open(template, "w", encoding="ascii") as f:
            f.write(EZTRACE_CALLS.format(name=name, functions="\n".join(functions)))
        said = output("eztrace_create_plugin", "-o", folder, template)
        said += output("make", "-C", folder)
        if os.path.exists(os.path.join(folder, f"libeztrace-{name}.so")):
            return True
        print(f"bench: EZTrace left out, its plug-in does not build:\n{said[-600:]}")
        return False

    # ---- how many calls were recorded ----------------------------------------------------------

    def count_otf2(self):
        anchor = find_file(self.trace, ".otf2")
        if not anchor:
            return 0
        found = re.search(r"enter=(\d+)", output(self.path("count"), anchor))
        return int(found[1]) if found else 0

    def count_uftrace(self):
        return disk_bytes(self.trace, ".dat") // 32

    def count_lttng(self):
        return disk_bytes(self.trace) // 20 # the shortest pair: two events of 10 bytes

    # ---- tools -------------------------------------------------------------------------------

    def gputrace_env(self, **more):
        env = {"VT_PFORM_GDIR": self.build, "VT_FILE_PREFIX": "trace", "VT_VERBOSE": "0"}
        env.update(more)
        return env

    def gputrace_run(self, *args):
        return [os.path.join(self.stage, "bin", "gputrace"), "run", "-o", self.trace, "--", *args]

    def recover(self):
        return [os.path.join(self.stage, "bin", "gputrace"), "recover", self.trace]

    def uftrace_case(self, cmd, *options):
        return Case("uftrace", ["uftrace", "record", "--no-event", "-d", self.trace, *options,
                                *cmd], recorded=self.count_uftrace)

    def eztrace_case(self, plugin, cmd):
        where = ["-l", self.path("eztrace-" + plugin)] if plugin.startswith("bench") else []
        return Case("EZTrace", ["eztrace", "-f", "-t", plugin, *where, "-o", self.trace, *cmd],
                    recorded=self.count_otf2)

    def lttng_case(self, library, events, cmd):
        def before():
            output("lttng", "destroy", "gputrace-bench")
            must("lttng", "create", "gputrace-bench", "--output=" + self.trace)
            must("lttng", "enable-channel", "-u", "c", "--subbuf-size=4M", "--num-subbuf=8")
            must("lttng", "enable-event", "-u", "-c", "c", events)
            must("lttng", "start")

        def after():
            said = output("lttng", "stop") + output("lttng", "destroy", "gputrace-bench")
            lost = re.search(r"(\d+) events? (?:were )?discarded", said)
            return {"discarded": int(lost[1]) if lost else 0}

        return Case("LTTng-UST", cmd, {"LD_PRELOAD": library, "LTTNG_UST_REGISTER_TIMEOUT": "-1"},
                    before, after, self.count_lttng)

    def start_lttng(self):
        """A session daemon, if none answers. Returns whether LTTng can be used."""
        if not self.lttng:
            return False
        if subprocess.run(["lttng", "list"], capture_output=True, check=False).returncode == 0:
            return True
        self.sessiond = subprocess.Popen(["lttng-sessiond"], stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        for _ in range(50):
            p = subprocess.run(["lttng", "list"], capture_output=True, check=False)
            if p.returncode == 0:
                return True
            try:
                self.sessiond.wait(0.1)
                break
            except subprocess.TimeoutExpired:
                pass
        self.lttng = None
        return False

    def stop(self):
        if self.sessiond:
            self.sessiond.terminate()
            self.sessiond.wait()
