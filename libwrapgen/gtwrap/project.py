# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a wrapper project: made all at once, read again and built.

Limits: the folder must not exist before; a project is trusted as its owner's source is, but no word of
it reaches a shell.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile

from .fail import Failure

CONF = "project.conf"
FLAG = re.compile(r"-(I|D|U|isystem|iquote|idirafter|include|std=|f|m|W|pthread)")
SUFFIX = {"c": "c", "c++": "cc"}


def write(folder, files):
    """Makes the folder with these files, or nothing at all."""
    parent, name = os.path.split(os.path.abspath(folder))
    if os.path.lexists(folder):
        raise Failure(f"{folder} is there already")
    try:
        made = tempfile.mkdtemp(prefix=f".{name[:100]}.", dir=parent)
    except OSError as error:
        raise Failure(f"{folder} cannot be made: {error.strerror}") from error
    try:
        for file, text in files.items():
            with open(os.path.join(made, file), "x", encoding="utf-8", errors="surrogateescape") as to:
                to.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(made, 0o777 & ~umask)
        if os.path.lexists(folder): # rename() would replace an empty folder
            raise Failure(f"{folder} is there already")
        os.rename(made, os.path.abspath(folder))
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        raise Failure(f"{folder} cannot be written: {error.strerror}") from error
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def conf_text(values):
    """KEY=value lines; lists have one line an entry."""
    out = ["# Written by gputrace libwrapgen; read by gputrace libwrapgen --build."]
    for key, value in values:
        if "\n" in value or "\r" in value:
            raise Failure("a line break in a name or an option")
        out.append(f"{key}={value}")
    return "\n".join(out) + "\n"


class Project:
    """A project that was written earlier."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.values = {}
        try:
            with open(os.path.join(folder, CONF), encoding="utf-8", errors="surrogateescape") as file:
                lines = file.read(1 << 20).splitlines()
        except OSError as error:
            raise Failure(f"{folder} is no wrapper project: {CONF}: {error.strerror}") from error
        for line in lines:
            key, equals, value = line.partition("=")
            if equals and not line.startswith("#"):
                self.values.setdefault(key, []).append(value)
        self.group = self.one("group")
        self.language = self.one("language")
        if not re.match(r"[A-Za-z0-9_.+-]{1,40}\Z", self.group) or self.language not in SUFFIX:
            raise Failure(f"{folder}/{CONF} is damaged")
        self.flags = self.values.get("flag", [])
        self.count = int(self.one("functions")) if self.one("functions").isdigit() else 0

    def one(self, key):
        """The only value of a key."""
        return (self.values.get(key) or [""])[0]

    def library(self):
        """The file that --build makes."""
        return f"libgputrace-wrap-{self.group}.so"

    def archive(self):
        """The file that --build --static makes."""
        return f"libgputrace-wrap-{self.group}-link.a"

    def words(self, compilers, include, language):
        """The compiler with all that both forms need."""
        return [*compilers[language], "-O2", "-fPIC", "-fexceptions", "-fno-plt", "-fvisibility=hidden",
                "-Wall", "-Wextra", "-Wno-psabi", *(["-std=gnu++17"] if language == "c++" else []), "-I" + include]

    def runtime(self, compilers, include, folder, more=()):
        """Compiles what is C in every project. Returns the objects."""
        ours = ["runtime.c", *more]
        sources = ours + [s for s in self.values.get("source", []) if re.match(r"\w+\.c\Z", s)]
        objects = []
        for source in sources:
            objects.append(f"{folder}/{source[:-2]}.o")
            flags = self.flags if self.language == "c" and source not in ours else []
            run([*self.words(compilers, include, "c"), *flags, "-c", "-o", objects[-1], source], self.folder)
        return objects

    def wrappers(self, compilers, include):
        """The command that compiles the wrappers, without what goes in and out."""
        return [*self.words(compilers, include, self.language), *self.flags]

    def build_shared(self, compilers, include, core, out):
        """One shared object."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            objects = self.runtime(compilers, include, folder, ["dlsym.c"])
            run([*self.wrappers(compilers, include), "-shared", "-Wl,-Bsymbolic-functions", "-o", f"{folder}/out.so",
                 "wrap." + SUFFIX[self.language], *objects, "-Wl,-z,relro,-z,now,-z,nodelete",
                 "-Wl,-soname," + os.path.basename(out), core, "-ldl"], self.folder)
            os.replace(f"{folder}/out.so", out)

    def build_static(self, compilers, include, out):
        """An archive with a member for each function, so that a program gets what it calls."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            self.runtime(compilers, include, folder)
            words = [*self.wrappers(compilers, include), "-DGT_WRAP_LINK", "-c"]
            jobs = [[*words, f"-DGT_WRAP_ONLY={n}", "-o", f"{folder}/{n}.o", "wrap." + SUFFIX[self.language]]
                    for n in range(1, self.count + 1)]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                list(pool.map(lambda job: run(job, self.folder), jobs))
            names = sorted(n for n in os.listdir(folder) if n.endswith(".o"))
            run(["ar", "rcs", f"{folder}/out.a", *[os.path.join(folder, n) for n in names]], self.folder)
            os.replace(f"{folder}/out.a", out)


def run(words, folder):
    """Runs a command without a shell; what it says goes to the user."""
    try:
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise Failure(f"{words[0]}: {error.strerror}") from error
    if done.returncode:
        raise Failure(f"{words[0]} failed on {folder}")
