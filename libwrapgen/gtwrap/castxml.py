# SPDX-License-Identifier: BSD-3-Clause
"""Runs castxml on the headers and reads what it found: functions, their types and their files.

Limits: castxml's XML does not describe complex numbers in C, tells f() and f(void) not apart, and
shows no asm labels and no
C++ functions that take rvalue references. The first two are asked for by a second run; a function with a label is
not found in the library under its name and so is left out.
"""
import os
import resource
import subprocess
import tempfile
import xml.etree.ElementTree as ET

from .fail import Failure

HEADER_LIMIT = 8 << 20
XML_LIMIT = 1 << 30
SECONDS = 300
# Complex numbers as atomic ones, which castxml can describe. glibc 2.41 makes a complex type by its mode,
# and no atomic type has one: that one is left out, others keep theirs.
ATOMIC = ["-D_Complex=_Atomic", "-D__mode__(m)=gt_mode_##m", "-Dgt_mode___TC__=",
          *(f"-Dgt_mode_{word}=mode({m})" for m in ("QI", "HI", "SI", "DI", "TI", "SF", "DF", "XF", "TF", "word",
                                                     "byte", "pointer") for word in (m, f"__{m}__"))]


class Function:
    """One declaration, as castxml saw it."""

    def __init__(self, element, symbol):
        self.element = element
        self.name = element.get("name", "")
        self.symbol = symbol
        self.line = int(element.get("line", "0"))
        self.file = element.get("file", "")
        self.args = [a for a in element if a.tag == "Argument"]
        self.variadic = any(a.tag == "Ellipsis" for a in element)
        self.unprototyped = False


def symbol_of(element):
    """The symbol of a function. CastXML before 0.4 has _Z4read for C's read; no function of C++ is named so, as the
    types of its parameters follow the name."""
    name = element.get("name", "")
    mangled = element.get("mangled") or name
    return name if mangled == f"_Z{len(name)}{name}" else mangled


class Program:
    """All of one castxml run: elements by id, functions, file names by id."""

    def __init__(self, path):
        self.by_id = {}
        self.functions = []
        self.files = {}
        try:
            root = ET.parse(path).getroot()
        except ET.ParseError as error:
            raise Failure(f"castxml's output cannot be read: {error}") from error
        for element in root:
            self.by_id[element.get("id")] = element
            if element.tag == "File":
                self.files[element.get("id")] = element.get("name", "")
            elif element.tag in ("Function", "OperatorFunction"):
                self.functions.append(Function(element, symbol_of(element)))

    def kinds(self):
        """The kinds of type that castxml could not describe."""
        return {e.get("type_class") for e in self.by_id.values() if e.tag == "Unimplemented"}

    def members(self):
        """The symbols of member functions; castxml does not tell those of constructors."""
        return {e.get("mangled").split(" ")[0] for e in self.by_id.values()
                if e.tag in ("Method", "OperatorMethod", "Converter") and e.get("mangled")}

    def enum_values(self, name):
        """The enumerators of the enumeration with this name, as numbers."""
        for element in self.by_id.values():
            if element.tag == "Enumeration" and element.get("name") == name:
                return {v.get("name"): int(v.get("init", "0")) for v in element}
        return {}


def _limits():
    resource.setrlimit(resource.RLIMIT_FSIZE, (XML_LIMIT, XML_LIMIT))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(source, language, flags, castxml="castxml"):
    """Gives the text `source` to castxml. Returns a Program."""
    with tempfile.TemporaryDirectory(prefix="gputrace-wrap.") as folder:
        file = os.path.join(folder, "in.cc" if language == "c++" else "in.c")
        xml = os.path.join(folder, "out.xml")
        with open(file, "w", encoding="utf-8", errors="surrogateescape") as to:
            to.write(source)
        words = [castxml, "--castxml-output=1", "-fno-builtin", "-w", "-x", language,
                 *(["-std=gnu++17"] if language == "c++" else []), *flags, "-o", xml, file]
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=SECONDS, preexec_fn=_limits,
                                  check=False)
        except FileNotFoundError as error:
            raise Failure("castxml is not installed (Debian: castxml)") from error
        except subprocess.TimeoutExpired as error:
            raise Failure(f"castxml needs more than {SECONDS} s for this header") from error
        complaints = done.stderr[:65536].decode("utf-8", "replace").replace(folder + "/", "")
        if done.returncode != 0 or not os.path.exists(xml):
            raise Failure("the header does not compile:\n" + "\n".join(complaints.splitlines()[:12]))
        return Program(xml)


def unprototyped(source, flags, names, castxml):
    """Which of these C functions without arguments are declared as f() and not as f(void)?"""
    probe = "".join(f"gt_k{i} = __builtin_types_compatible_p(__typeof__(&{name}), "
                    f"__typeof__({name}()) (*)(int)),\n" for i, name in enumerate(names))
    program = run(f"{source}\nenum gt_probe_unprototyped {{\n{probe}gt_k_end }};\n", "c", flags, castxml)
    values = program.enum_values("gt_probe_unprototyped")
    return {name for i, name in enumerate(names) if values.get(f"gt_k{i}")}


def empty_in_cxx(source, flags, castxml):
    """The functions with C linkage that a C++ compiler sees without arguments: where a header serves both
    languages, f() cannot mean anything else."""
    try:
        program = run(source, "c++", flags, castxml)
    except Failure:
        return set()
    return {f.name for f in program.functions
            if not f.args and not f.variadic and f.symbol == f.name}
