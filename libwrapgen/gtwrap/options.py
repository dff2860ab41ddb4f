# SPDX-License-Identifier: BSD-3-Clause
"""The command line of gputrace libwrapgen; VampirTrace's options keep their meaning.

Limits: what only steered VampirTrace's own parser (--nocpp, --keepfiles) is accepted and does nothing.
"""
import argparse
import re
import sys

from .fail import Failure

NOTES = """\
gputrace libwrapgen -g BLAS --header cblas.h -l libblas.so.3 -o blaswrap
gputrace libwrapgen --build blaswrap
gputrace run --wrap=./blaswrap ./solver
"""


USAGE = """Usage: gputrace libwrapgen -g NAME --header FILE [-l LIBRARY] [-o DIR] [options]
       gputrace libwrapgen --build DIR [--shared] [--static]
       gputrace libwrapgen --install DIR"""


class Parser(argparse.ArgumentParser):
    """Sends what is wrong the way all of gputrace does."""

    def format_help(self):
        return super().format_help().replace("usage: ", "", 1)

    def error(self, message):
        print(f"gputrace libwrapgen: {message}\nTry 'gputrace libwrapgen --help'.", file=sys.stderr)
        sys.exit(2)


def parse(argv):
    """The options, checked."""
    p = Parser(prog="gputrace libwrapgen", allow_abbrev=False, epilog=NOTES, usage=USAGE,
               formatter_class=argparse.RawDescriptionHelpFormatter,
               description="Makes a wrapper that records every call of a library, from its header.")
    p.add_argument("-g", "--group", metavar="NAME", help="group of the functions in the trace")
    p.add_argument("--header", metavar="FILE", action="append", default=[], dest="headers",
                   help="a header whose functions are wrapped (may be repeated; or as arguments)")
    p.add_argument("-s", "--sysheader", metavar="FILE", action="append", default=[],
                   help="a header to include before, whose functions are not wrapped")
    p.add_argument("--also", metavar="PATTERN", action="append", default=[], dest="more_headers",
                   help="wrap the functions of these included headers, too ('*': of all)")
    p.add_argument("-l", "--shlib", "--library", metavar="LIBRARY", action="append", default=[],
                   dest="libraries", help="the library: only what it exports is wrapped")
    p.add_argument("-o", "--output", metavar="DIR", help="the new folder of the project (default: wrap)")
    p.add_argument("-f", "--filter", metavar="FILE", help="filter file; functions with limit 0 are left out")
    p.add_argument("--include", metavar="PATTERN", action="append", default=[], help="wrap only these")
    p.add_argument("--exclude", metavar="PATTERN", action="append", default=[], help="do not wrap these")
    p.add_argument("--rules", metavar="FILE", help="which arguments are recorded as parameters")
    p.add_argument("--only-rules", action="store_true", help="wrap only functions that the rules name")
    p.add_argument("--fortran", action="store_true",
                   help="the functions are Fortran's: the lengths of texts follow the arguments")
    p.add_argument("--hooks", metavar="DIR", help=argparse.SUPPRESS)
    p.add_argument("-x", "--language", choices=["c", "c++"], help="default: by the header's name")
    p.add_argument("-I", metavar="DIR", action="append", default=[], dest="dirs", help="for the compiler")
    p.add_argument("-D", metavar="NAME", action="append", default=[], dest="defines", help="for the compiler")
    p.add_argument("--cppflags", metavar="WORDS", default="", help="further words for the compiler")
    p.add_argument("--list", action="store_true", help="only say what would be wrapped, and what not and why")
    p.add_argument("--build", metavar="DIR", help="compile a project: the shared library")
    p.add_argument("--shared", action="store_true", help="with --build: the shared library")
    p.add_argument("--static", action="store_true", help="with --build: the archive for the linker's --wrap")
    p.add_argument("--install", metavar="DIR", help="build a project for gputrace run --wrap=NAME")
    p.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    p.add_argument("-v", "--verbose", action="store_true", help="say why each function is left out")
    p.add_argument("--nocpp", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--keepfiles", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--castxml", default="castxml", help=argparse.SUPPRESS)
    p.add_argument("--completion-words", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("operands", nargs="*", metavar="HEADER", help=argparse.SUPPRESS)
    p.add_argument("--own", metavar="PATTERN", action="append", default=[], help=argparse.SUPPRESS)
    options = p.parse_args(argv)
    if options.completion_words:
        for action in p._actions: # pylint: disable=protected-access
            if action.help != argparse.SUPPRESS:
                for word in action.option_strings:
                    if word.startswith("--"):
                        print(word + ("=" if action.nargs is None and action.metavar else ""))
        sys.exit(0)
    check(p, options)
    return options


def check(parser, o):
    """What argparse cannot see."""
    o.headers += o.operands
    if o.build is not None or o.install is not None:
        if o.build is not None and o.headers:
            parser.error("--build takes no header: first make the project, then build it")
        return
    if o.shared or o.static:
        parser.error("--shared and --static belong to --build")
    if not o.headers:
        parser.error("which header? (--header FILE)")
    if not o.group:
        parser.error("which group? (-g NAME)")
    if not re.match(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,39}\Z", o.group):
        raise Failure("a group has up to 40 letters, digits and _ . + -")
    for word in o.headers + o.sysheader + o.libraries + o.dirs + o.defines + [o.cppflags]:
        if re.search(r"[\x00-\x1f\x7f]", word):
            raise Failure("a control character in the name of a header, library or folder")
    for word in o.headers + o.sysheader:
        if re.search(r'["<>\\]', word):
            raise Failure(f"the header's name {word!r} cannot stand in an #include")
    o.output = o.output or "wrap"
