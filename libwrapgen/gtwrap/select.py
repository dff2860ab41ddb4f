# SPDX-License-Identifier: BSD-3-Clause
"""Chooses which functions are wrapped, and says why the others are not.

Limits: knows functions by name; in C++ a pattern is compared with the qualified name.
"""
import fnmatch
import os
import re

from .fail import Failure
from .spell import IDENTIFIER

# What returns twice, or whose caller is looked at, cannot be called by a function in between.
ODD = {"setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "savectx", "vfork", "getcontext", "alloca",
       "longjmp", "_longjmp", "siglongjmp", "__builtin_alloca", "main"}
OURS = re.compile(r"(_*gt_|_*VT_|_*vt_|__wrap_|__real_|__cyg_profile_)")
# A function that makes or reads text: behind a "v" this is what takes a va_list, and hardly anything else.
TEXT = re.compile(r"[a-z]{0,3}(print|scan|log|warn|err|msg|mess|format|fstring|title|trace|debug|info|fatal|panic)", re.I)
LIST = {"va_list", "__gnuc_va_list", "__builtin_va_list"}


def read_filter(path):
    """Patterns with limit 0 in a VampirTrace filter file: what is not wanted."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(4 << 20).splitlines()
    except OSError as error:
        raise Failure(f"the filter file {path} cannot be read: {error.strerror}") from error
    out = []
    for line in lines:
        patterns, dashes, limit = line.partition("#")[0].rpartition("--")
        if dashes and limit.split()[:1] == ["0"]:
            out += [p.strip() for p in patterns.split(";") if p.strip()]
    return out


class Selection:
    """What was asked for."""

    def __init__(self, program, speller, options):
        self.program = program
        self.speller = speller
        self.headers = options.headers
        self.more = options.more_headers
        self.include = options.include
        self.exclude = options.exclude
        self.exported = options.exported # a set of symbols, or None: no library was named
        self.used_by_us = options.used_by_us
        self.only = options.only
        self.fixed = options.fixed     # variadic ones that a rule calls with one argument more
        self.lists = options.lists     # (pattern, the form with a va_list or ""), the last one counts
        self.by_name = {f.name: f for f in program.functions}

    def qualified(self, function):
        """a::b::f in C++, f in C."""
        names = [function.name]
        element = self.program.by_id.get(function.element.get("context"))
        while element is not None and element.get("name", "::") != "::":
            names.append(element.get("name"))
            element = self.program.by_id.get(element.get("context"))
        return "::".join(reversed(names))

    def in_header(self, function):
        """Is it declared in one of the headers named, not in what they include?"""
        path = self.program.files.get(function.file, "")
        if not path:
            return False
        for header in self.headers:
            if os.path.isabs(header):
                if os.path.realpath(path) == os.path.realpath(header):
                    return True
            elif path == header or path.endswith("/" + header):
                return True
        return any(fnmatch.fnmatchcase(path, p) or fnmatch.fnmatchcase(os.path.basename(path), p)
                   for p in self.more)

    def v_form(self, function):
        """The function with a va_list that takes the place of a variadic one, or None."""
        for pattern, name, where in reversed(self.lists):
            if fnmatch.fnmatchcase(function.name, pattern):
                if name and not self.takes_list(function, name):
                    raise Failure(f"{where}: {name} is no {function.name} with a va_list")
                return self.by_name.get(name)
        found = self.v_like(function)
        return found[0] if found and found[1] else None

    def v_like(self, function):
        """(what looks like that form, is it sure?) or None: it has a "v" somewhere in its name (vprintf,
        gzvprintf, sqlite3_vmprintf). With one too many eval becomes veval, which may be anything."""
        name, found = function.name, None
        for i in range(len(name) + 1):
            if self.takes_list(function, name[:i] + "v" + name[i:]):
                found = (self.by_name[name[:i] + "v" + name[i:]], i == len(name) or bool(TEXT.match(name[i:])))
                if found[1]:
                    return found
        return (self.by_name[name + "_va"], True) if self.takes_list(function, name + "_va") else found

    def takes_list(self, function, name):
        """Does the function of this name take and return the same, and a va_list at the end?"""
        other = self.by_name.get(name)
        if not other or len(other.args) != len(function.args) + 1 or other.variadic:
            return False
        last = other.args[-1]
        original = self.program.by_id.get(last.get("original_type") or last.get("type"))
        return (original is not None and original.get("name") in LIST and
                other.element.get("returns") == function.element.get("returns") and
                all(a.get("type") == b.get("type") for a, b in zip(function.args, other.args)))

    def reason(self, function):
        """Why it is not wrapped, or None."""
        e, name = function.element, self.qualified(function)
        if self.only is not None and function.name not in self.only:
            return "no rule names it (--only-rules)"
        if self.include and not any(fnmatch.fnmatchcase(name, p) for p in self.include):
            return "not asked for (--include)"
        if any(fnmatch.fnmatchcase(name, p) for p in self.exclude):
            return "excluded"
        if not all(IDENTIFIER.match(part) for part in name.split("::")) and e.tag == "Function" \
                or not re.match(r"[A-Za-z_][A-Za-z0-9_]*\Z", function.symbol):
            return "its name has letters other than A-Z, a-z, 0-9 and _"
        if e.get("static") == "1":
            return "static"
        if self.exported is not None and function.symbol not in self.exported:
            return "inline" if e.get("inline") == "1" else "the library does not export it"
        if e.get("inline") == "1":
            return "inline"
        if OURS.match(function.symbol):
            return "gputrace's own names"
        if function.symbol in ODD:
            return "returns twice, or to another place"
        if function.symbol in self.used_by_us:
            return "gputrace itself uses it"
        if function.unprototyped:
            return "declared without its arguments: f()"
        if function.variadic and not self.v_form(function) and function.name not in self.fixed:
            like = self.v_like(function)
            return "takes any number of arguments, and there is no form with a va_list" + (
                f", unless a rule says so ({name}: ...={like[0].name})" if like else "")
        if "deprecated" not in (e.get("attributes") or "") and e.get("access") in ("private", "protected"):
            return "private"
        return None
