/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the programs in this folder tell test_symbols.c what to expect: a line for each function,
 * "F <tab> name <tab> source file <tab> line <tab> kind <tab> address".
 *
 * Limits: LINE_OF() stands on the line before the function's name.
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
#define LINE_OF(name) enum { name##_line = __LINE__ + 1 }
/* kind: g exported, s gone after strip, i the IFUNC "twice" after strip, x without source line */
#define SHOW_AS(name, text, kind, address)                                                        \
	printf("F\t%s\t%s\t%d\t%s\t%p\n", text, __FILE__, (int)name##_line, kind, (void *)(address))
#define SHOW(name, kind) SHOW_AS(name, #name, kind, name)
