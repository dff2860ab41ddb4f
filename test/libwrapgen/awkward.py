# SPDX-License-Identifier: BSD-3-Clause
"""Writes a library of functions with awkward signatures, and a program that calls each of them.

The library prints every byte of every argument, the program every byte of every result and errno.
Run with and without wrappers the outputs must be the same.

Limits: made for x86-64 and other 64-bit Linux; pointers are numbers that nobody follows.

    awkward.py DIR: writes awkward.h, awkward_special.h, awkward.c, calls.c and expected into DIR
"""
import os
import random
import sys

# name: (C type, value made of the number S, fields that are printed; None: the whole)
TYPES = {
    "bool": ("_Bool", "(S & 1)", None),
    "char": ("char", "(char)(S * 37)", None),
    "schar": ("signed char", "(signed char)(S * 41)", None),
    "uchar": ("unsigned char", "(unsigned char)(S * 43)", None),
    "short": ("short", "(short)(S * 12347)", None),
    "ushort": ("unsigned short", "(unsigned short)(S * 54321)", None),
    "int": ("int", "(int)(S * 1234567891u)", None),
    "uint": ("unsigned", "(unsigned)(S * 3234567891u)", None),
    "long": ("long", "(long)(S * 0x9e3779b97f4a7c15u)", None),
    "ulong": ("unsigned long", "(unsigned long)(S * 0xdeadbeefcafef00du)", None),
    "llong": ("long long", "-(long long)(S * 0x123456789abcdu)", None),
    "size": ("size_t", "(size_t)(S << 40 | 5)", None),
    "ptrdiff": ("ptrdiff_t", "-(ptrdiff_t)(S << 33)", None),
    "wchar": ("wchar_t", "(wchar_t)(S * 77)", None),
    "int128": ("__int128", "((__int128)(S * 0x9e3779b97f4a7c15u) << 64 | S)", None),
    "uint128": ("unsigned __int128", "((unsigned __int128)~S << 64 | S)", None),
    "float": ("float", "(float)(S * 1.25f + 0.1f)", None),
    "double": ("double", "(S * -3.75 + 1e-300)", None),
    "ldouble": ("long double", "(S * 1.5L + 1e-4000L)", 10),
    "cfloat": ("float _Complex", "(S * 1.5f + S * 2.5if)", None),
    "cdouble": ("double _Complex", "(S * 1.5 - S * 2.5i)", None),
    "cldouble": ("long double _Complex", "(S * 1.5L - S * 2.5Li)", 26),
    "enum": ("enum aw_enum", "(enum aw_enum)(S % 3)", None),
    "anonenum": ("aw_anon_enum", "(aw_anon_enum)(S % 2)", None),
    "pvoid": ("void *", "(void *)(S << 20)", None),
    "pcchar": ("const char *", "(const char *)(S << 21)", None),
    "pcvint": ("const volatile int *", "(const volatile int *)(S << 22)", None),
    "prestrict": ("int *restrict", "(int *)(S << 23)", None),
    "ppp": ("char **const *volatile *", "(char **const *volatile *)(S << 24)", None),
    "patomic": ("_Atomic int *", "(_Atomic int *)(S << 25)", None),
    "pcomplex": ("double _Complex *", "(double _Complex *)(S << 26)", None),
    "parray": ("aw_array *", "(aw_array *)(S << 27)", None),
    "popaque": ("struct aw_opaque *", "(struct aw_opaque *)(S << 28)", None),
    "fnptr": ("aw_callback", "(aw_callback)(S << 12)", None),
    "fnptrptr": ("aw_callback *", "(aw_callback *)(S << 13)", None),
    "fntype": ("aw_function *", "(aw_function *)(S << 14)", None),
    "va": ("aw_va_pointer", "(aw_va_pointer)(S << 15)", None),
    "vec4f": ("aw_vec4f", "((aw_vec4f){ S, S + 1, S * 2, S * 3 })", None),
    "vec2d": ("aw_vec2d", "((aw_vec2d){ S, S * -1.5 })", None),
    "s1": ("struct aw_s1", "((struct aw_s1){ (char)S })", None),
    "s3": ("struct aw_s3", "((struct aw_s3){ { (char)S, 2, (char)(S * 3) } })", None),
    "sff": ("struct aw_sff", "((struct aw_sff){ S * 0.5f, S * 0.25f })", None),
    "sfff": ("aw_sfff", "((aw_sfff){ S * 0.5f, S * 0.25f, S })", None),
    "sdd": ("struct aw_sdd", "((struct aw_sdd){ S * 0.5, S * 0.75 })", None),
    "sld": ("struct aw_sld", "((struct aw_sld){ (long)S, S * 0.5 })", None),
    "sdl": ("struct aw_sdl", "((struct aw_sdl){ S * 0.5, -(long)S })", None),
    "s24": ("struct aw_s24", "((struct aw_s24){ { (long)S, 2, -(long)S } })", None),
    "s200": ("struct aw_s200", '((struct aw_s200){ { (char)S, "x"[0], 3, 0, 9 }, (char)~S })', None),
    "bits": ("struct aw_bits", "((struct aw_bits){ S & 3, S & 0xfffff, (S * 77) & 0xff })", 8),
    "packed": ("struct aw_packed", "((struct aw_packed){ (char)S, (long)S * 99, (short)S })", None),
    "aligned": ("struct aw_aligned", "((struct aw_aligned){ { S, S * 2, S * 3, S * 4 } })", None),
    "union": ("union aw_union", "((union aw_union){ .l = { (long)S, -(long)S } })", None),
    "nested": ("aw_nested", "((aw_nested){ { 1, (int)S }, { { (int)S, 2 } } })", None),
    "flexible": ("struct aw_clongdouble", "((struct aw_clongdouble){ S * 1.5L - S * 2.5Li })", 26),
}

HEADER = """\
/* Awkward on purpose. */
#ifndef AWKWARD_H
#define AWKWARD_H
#include <stddef.h>
#include <stdarg.h>
#include <wchar.h>
typedef int bool_t;
#define name awkward_macro_that_is_in_the_way
#define info(x) nonsense nonsense
#define self +
#define gt bad
enum aw_enum { AW_A, AW_B, AW_C };
typedef enum { AW_D, AW_E } aw_anon_enum;
typedef int aw_array[3][5];
struct aw_opaque;
typedef int (*(*aw_callback)(double, int (*)(void)))(char);
typedef long aw_function(struct aw_opaque *, const char *, ...);
typedef void *aw_va_pointer;
typedef float aw_vec4f __attribute__((vector_size(16)));
typedef double aw_vec2d __attribute__((vector_size(16)));
struct aw_s1 { char c; };
struct aw_s3 { char c[3]; };
struct aw_sff { float a, b; };
typedef struct { float a, b, c; } aw_sfff;
struct aw_sdd { double a, b; };
struct aw_sld { long l; double d; };
struct aw_sdl { double d; long l; };
struct aw_s24 { long l[3]; };
struct aw_s200 { char c[199]; char d; };
struct aw_bits { unsigned a : 3, b : 20; unsigned long c : 8; };
struct aw_packed { char c; long l; short s; } __attribute__((packed));
struct aw_aligned { double d[4]; } __attribute__((aligned(32)));
union aw_union { long l[2]; double d; char c[9]; };
typedef struct { struct { int a, b; } s; union { struct { int a, b; }; double d; }; } aw_nested;
struct aw_clongdouble { long double _Complex c; };
"""


def mixtures():
    """(function, result type, argument types)"""
    out = [(f"aw_echo_{t}", t, [t]) for t in TYPES]
    out += [(f"aw_tail_{t}", "void", ["int"] * 5 + [t, "double"]) for t in
            ("s3", "sld", "s24", "cldouble", "int128", "vec4f", "packed")]
    rng = random.Random(4)
    names = list(TYPES)
    for number in range(38):
        count = rng.choice([0, 1, 2, 3, 5, 7, 9, 12, 17, 26])
        out.append((f"aw_mix_{number}", rng.choice(names + ["void"]), [rng.choice(names) for _ in range(count)]))
    return out


def size(kind, expression):
    """How many bytes of it are printed."""
    return TYPES[kind][2] or f"sizeof({expression})"


def value(kind, seed):
    """An expression."""
    return TYPES[kind][1].replace("S", f"({seed}ul)")


def main(folder):
    """Writes the files."""
    functions = mixtures()
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "special.h"), encoding="utf-8") as file:
        special = file.read()
    head, code, calls, expected = [HEADER], [], [], []
    code.append('#include <errno.h>\n#include "print.h"\n#include "awkward.h"\n')
    calls.append('#include <errno.h>\n#include "print.h"\n#include "awkward.h"\nvoid calls(void)\n{\n')
    for number, (function, result, args) in enumerate(functions, 1):
        returns = TYPES[result][0] if result != "void" else "void"
        named = ", ".join(f"{TYPES[a][0]} a{i}" for i, a in enumerate(args)) or "void"
        # Every third without names, as many headers have it.
        head.append(f"{returns} {function}({named if number % 3 else ', '.join(TYPES[a][0] for a in args) or 'void'});\n")
        code.append(f"{returns} {function}({named})\n{{\n\tsay(\"{function}\");\n")
        for i, a in enumerate(args):
            code.append(f"\tbytes(&a{i}, {size(a, f'a{i}')});\n")
        code.append(f"\terrno = {number};\n")
        if result != "void":
            code.append(f"\treturn {value(result, number * 7 + 3)};\n")
        code.append("}\n")
        given = ", ".join(value(a, number * 31 + i * 3 + 1) for i, a in enumerate(args))
        calls.append("\terrno = 99;\n")
        if result == "void":
            calls.append(f"\t{function}({given});\n")
        else:
            calls.append(f"\t{{ {returns} r = {function}({given}); bytes((void *)&r, {size(result, 'r')}); }}\n")
        calls.append("\tnumber(errno);\n")
        expected.append(f"calls {function} 1\n")
    head.append(special + "#endif\n")
    calls.append("}\n")
    for file, text in (("awkward.h", head), ("awkward.c", code), ("calls.c", calls), ("expected", expected)):
        with open(os.path.join(folder, file), "w", encoding="utf-8") as to:
            to.write("".join(text))


if __name__ == "__main__":
    main(sys.argv[1])
