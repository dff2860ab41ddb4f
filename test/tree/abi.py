# SPDX-License-Identifier: BSD-3-Clause
"""What compiled code relies on of the installed headers, as lines to compare: run by test/tree/abi.test in gdb,
which has read an object with the types. The environment has TYPES and CONSTANTS (names), MACROS (lines "name
expansion").

Limits: constants that are integers; C's view; sizes of x86-64 and aarch64, which agree."""
import os

import gdb


def spelled(kind):
    """A type as a C programmer writes it, with unnamed structs as what they are."""
    text = str(kind)
    return text.split(" {")[0] if "{" in text else text


def layout(kind, at, indent):
    """The fields of a struct or union: offset, size, type and name of each."""
    for field in kind.fields():
        where = at + field.bitpos // 8
        bits = f" : {field.bitsize} bits" if field.bitsize else ""
        print(f"{indent}{where:5} {field.type.sizeof:4}  {spelled(field.type)} {field.name or ''}{bits}".rstrip())
        inner = field.type.strip_typedefs()
        while inner.code == gdb.TYPE_CODE_ARRAY:
            inner = inner.target().strip_typedefs()
        if inner.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and not inner.tag:
            layout(inner, where, indent + "      ")


def value(expression):
    """Its number, or None if it has none at compile time."""
    try:
        return int(gdb.parse_and_eval(expression))
    except (gdb.error, ValueError, OverflowError):
        return None


print("# structs: offset, size, type and name of each field")
for name in sorted(os.environ["TYPES"].split()):
    try:
        found = gdb.lookup_type(name.replace("_", " ", 1) if name.startswith(("struct_", "union_")) else name)
    except gdb.error:
        continue
    print(f"{name.replace('_', ' ', 1)}: {found.sizeof} bytes")
    layout(found, 0, "  ")
print("# constants")
numbers = {name: value(name) for name in os.environ["CONSTANTS"].split()}
for line in os.environ["MACROS"].splitlines():
    name, _, expansion = line.partition(" ")
    numbers[name] = value(expansion) if expansion else None
for name, number in sorted(numbers.items()):
    if number is not None:
        print(f"{name} = {number}")
