# SPDX-License-Identifier: BSD-3-Clause
"""gputrace libwrapgen: from the header of a library to a project that records all its calls.

Limits: started by `gputrace libwrapgen`, which names the folders of headers and libraries in the first
three arguments (headers, libraries, C compiler). Exit status 0, or 2 with a sentence.
"""
import os
import re
import shlex
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from gtwrap import castxml, elf, emit, options as cli, project, rules as rulefile, select # noqa: E402
from gtwrap.fail import Failure, Unspeakable # noqa: E402
from gtwrap.spell import Speller # noqa: E402


class Places:
    """Where the installed parts are."""

    def __init__(self, include, lib, compiler):
        self.include, self.lib = include, lib
        self.compiler = {"c": shlex.split(os.environ.get("VT_CC") or compiler),
                         "c++": shlex.split(os.environ.get("VT_CXX") or "c++")}
        self.core = os.path.join(lib, "libgputrace.so")

    def wrap_folder(self):
        """Where --install puts a wrapper, and gputrace run --wrap=NAME looks for it."""
        return os.path.join(self.lib, "gputrace")


def header_paths(o):
    """Headers that are files become absolute; others are left to the compiler's search."""
    out = []
    for name in o.headers:
        known = any(os.path.isfile(os.path.join(d, name)) for d in o.dirs)
        if os.path.isfile(name) and ("/" in name or not known):
            if os.path.getsize(name) > castxml.HEADER_LIMIT:
                raise Failure(f"the header {name} is larger than {castxml.HEADER_LIMIT >> 20} MiB")
            out.append(os.path.realpath(name))
        elif name.startswith(("/", "./", "../")) or os.path.isdir(name):
            raise Failure(f"there is no header {name}")
        else:
            out.append(name)
    for name in out:
        if '"' in name or "\\" in name or "\n" in name:
            raise Failure(f"the header's path {name!r} cannot stand in an #include")
    return out


def flags_of(o):
    """The words for the compiler, checked one by one."""
    words = ["-I" + os.path.abspath(d) for d in o.dirs] + ["-D" + d for d in o.defines]
    try:
        words += shlex.split(o.cppflags)
    except ValueError as error:
        raise Failure(f"--cppflags: {error}") from error
    takes = False
    for word in words:
        if not takes and not project.FLAG.match(word):
            raise Failure(f"'{word}' is no option for headers (-I, -D, -U, -std=, -f, -m ...)")
        takes = not takes and word in ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include")
    return words


def language_of(o):
    """c or c++."""
    if o.language:
        return o.language
    return "c++" if any(h.endswith((".hh", ".hpp", ".hxx", ".H", ".h++")) for h in o.headers) else "c"


def libraries_of(o, places):
    """(names for run time, exported functions or None)."""
    names, exported = [], None
    folders = (os.environ.get("LD_LIBRARY_PATH") or "").split(":")
    for library in o.libraries:
        path = elf.find(library, folders, places.compiler["c"])
        functions, _, soname = elf.load(path)
        exported = (exported or set()) | functions
        if not path.endswith(".a"):
            # A path that was given stays one; else the loader finds the library as for programs.
            names.append(os.path.realpath(path) if "/" in library else soname or os.path.basename(path))
            if soname and soname not in names:
                names.insert(0, soname)
    return names, exported


def parse_headers(o, headers, flags, language):
    """(program, speller), with a second look where castxml is short-sighted."""
    source = emit.headers_file(o.sysheader + headers).replace("#pragma GCC system_header\n", "")
    program = castxml.run(source, language, flags, o.castxml)
    atomic = False
    if language == "c" and "Complex" in program.kinds():
        try:
            program = castxml.run(source, language, [*flags, *castxml.ATOMIC], o.castxml)
            atomic = True
        except Failure:
            pass # they are listed as what they are
    return source, program, Speller(program, language, atomic)


def choose(o, selection, speller, rules):
    """(wrappers, [(name, reason)], the symbols of both)."""
    wrappers, left = [], []
    seen = set()
    for function in selection.program.functions:
        if not selection.in_header(function) or function.symbol in seen:
            continue
        seen.add(function.symbol)
        name = selection.qualified(function)
        reason = selection.reason(function)
        try:
            if reason:
                raise Unspeakable(reason)
            wrapper = emit.Wrapper(len(wrappers) + 1, function, speller, name, o.fortran)
            if function.variadic:
                wrapper.v_form = selection.v_form(function) if function.name not in o.fixed else None
                if o.language == "c++":
                    raise Unspeakable("takes any number of arguments (C++)")
            wrapper.hook = rulefile.hook_for(rules, function, speller)
            wrapper.parameters = rulefile.parameters_for(rules, function, speller)
            if wrapper.void and any(p[2] for p in wrapper.parameters):
                raise Failure(f"the rule for {name} uses its result, but it has none")
            wrappers.append(wrapper)
        except Unspeakable as unspeakable:
            left.append((name, str(unspeakable)))
    by_name = {w.function.name: w for w in wrappers}
    for wrapper in wrappers:
        if wrapper.v_form:
            wrapper.v_wrapper = by_name.get(wrapper.v_form.name)
    for rule in rules:
        if rule.exact() and not rule.used and not o.quiet:
            print(f"gputrace libwrapgen: {rule.where}: {rule.pattern} is not wrapped", file=sys.stderr)
    return wrappers, left, seen


def constructs(symbol):
    """Is it the symbol of a constructor or destructor: _ZN, names with their lengths, C1 or the like?"""
    at = 4 if symbol.startswith("_ZNK") else 3
    while symbol.startswith("_ZN") and (number := re.match(r"[1-9]\d{0,3}", symbol[at:])):
        at += number.end() + int(number[0])
    return at > 4 and re.match(r"[CD][0-5]E", symbol[at:]) is not None


def why_not(symbol, members):
    """Of an exported function that no declaration was seen of."""
    if symbol in members or constructs(symbol):
        return "a member function"
    if symbol.startswith(("_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx")):
        return "a piece of the C++ library"
    if symbol.startswith("_Z"):
        return "no header that was named declares it, or it has an rvalue reference (castxml hides those)"
    return "no header that was named declares it"


def listing(wrappers, left, known, exported, members):
    """What functions.txt says."""
    out = [f"# {len(wrappers)} functions are wrapped; {len(left)} are not, for the reason behind the name."]
    for wrapper in wrappers:
        parameters = " ".join(p[0][1:] for p in wrapper.parameters)
        form = f"called as {wrapper.v_form.name}" if wrapper.v_form else ""
        out.append("\t".join(["wrapped", wrapper.qualified, parameters, form]).rstrip())
    out += [f"left out\t{name}\t{reason}" for name, reason in left]
    if exported is not None:
        rest = sorted(s for s in exported - known if s.isprintable())
        out += [f"left out\t{name}\t{why_not(name, members)}"
                for name in rest if name.startswith("_Z") or not name.startswith("_")]
    return "\n".join(out) + "\n"


def generate(o, places):
    """Makes a project, or the list of one."""
    if not o.list and os.path.lexists(o.output):
        raise Failure(f"{o.output} is there already")
    headers, flags, o.language = header_paths(o), flags_of(o), language_of(o)
    rules = rulefile.read(o.rules) if o.rules else []
    o.only = {r.pattern for r in rules if r.exact()} if o.only_rules else None
    o.lists = [(r.pattern, r.list, r.where) for r in rules if r.list is not None]
    o.fixed = {r.pattern for r in rules if r.hook and r.hook[3]}
    libraries, o.exported = libraries_of(o, places)
    o.exclude += select.read_filter(o.filter) if o.filter else []
    ours, wanted, _ = elf.load(places.core)
    o.used_by_us = {s for s in ours | wanted if not any(
        select.fnmatch.fnmatchcase(s, p) for p in o.own)}
    source, program, speller = parse_headers(o, headers, flags, o.language)
    o.headers = headers
    selection = select.Selection(program, speller, o)
    if o.language == "c":
        empty = [f for f in program.functions if not f.args and not f.variadic and
                 selection.in_header(f) and not selection.reason(f)]
        found = castxml.unprototyped(source, flags, [f.name for f in empty], o.castxml) if empty else set()
        found -= castxml.empty_in_cxx(source, flags, o.castxml) if found else set()
        for function in empty:
            function.unprototyped = function.name in found
    wrappers, left, known = choose(o, selection, speller, rules)
    text = listing(wrappers, left, known, o.exported, program.members())
    if o.list:
        sys.stdout.write(text)
    if not wrappers:
        why = ""
        if left:
            why = f": of {len(left)} functions none can be wrapped ({left[0][0]}: {left[0][1]})"
        raise Failure("no function of the header is to be wrapped" + (why or ": it declares none itself "
                      "(--also takes those of headers that it includes)"))
    if o.list:
        return
    hooks = {name: read_text(os.path.join(o.hooks, name)) for name in ("hooks.h", "hooks.c")} if o.hooks else {}
    project.write(o.output, {
        **hooks,
        "wrap." + project.SUFFIX[o.language]: emit.source(wrappers, o.group, headers, o.hooks),
        "headers.h": emit.headers_file(o.sysheader + headers),
        "names.h": emit.names_file(o.group, libraries),
        **{name: read_text(os.path.join(os.path.dirname(os.path.abspath(__file__)), name))
           for name in ("runtime.c", "dlsym.c", "find.h")},
        "functions.txt": text,
        "link.txt": "".join(f"--wrap={w.function.symbol}\n" for w in wrappers),
        project.CONF: project.conf_text(
            [("group", o.group), ("language", o.language), ("functions", str(len(wrappers)))] +
            [("source", "hooks.c")] * bool(hooks) + [("flag", f) for f in flags]),
    })
    if o.verbose:
        for name, reason in left:
            print(f"gputrace libwrapgen: left out {name}: {reason}", file=sys.stderr)
    if not o.quiet:
        print(f"gputrace libwrapgen: {o.output}: {len(wrappers)} functions are wrapped, {len(left)} are not "
              f"(functions.txt says why). Next: gputrace libwrapgen --build {o.output}", file=sys.stderr)


def read_text(path):
    """A file of ours."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from error


def build(o, places):
    """Compiles a project."""
    made = project.Project(o.build)
    out = os.path.abspath(o.output) if o.output else None
    if not o.static or o.shared:
        path = (out + ".so" if out else os.path.join(made.folder, made.library()))
        made.build_shared(places.compiler, places.include, places.core, path)
    if o.static:
        path = (out + ".a" if out else os.path.join(made.folder, made.archive()))
        made.build_static(places.compiler, places.include, path)


def install(o, places):
    """Puts a built project where --wrap=NAME finds it."""
    made = project.Project(o.install)
    folder = places.wrap_folder()
    stem = os.path.join(folder, f"libgputrace-wrap-{made.group}")
    found = False
    try:
        os.makedirs(folder, exist_ok=True)
        for file, target in ((made.library(), stem + ".so"), (made.archive(), stem + "-link.a"),
                             ("link.txt", stem + ".link")):
            path = os.path.join(made.folder, file)
            if os.path.exists(path) and (file != "link.txt" or found):
                shutil.copyfile(path, target + ".tmp")
                os.replace(target + ".tmp", target)
                found = True
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}") from error
    if not found:
        raise Failure(f"{o.install} is not built yet: gputrace libwrapgen --build {o.install}")


def main():
    """Sorts out what is asked for."""
    places = Places(*sys.argv[1:4])
    try:
        o = cli.parse(sys.argv[4:])
        if o.build is not None:
            build(o, places)
        elif o.install is not None:
            install(o, places)
        else:
            generate(o, places)
    except Failure as failure:
        print(f"gputrace libwrapgen: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
