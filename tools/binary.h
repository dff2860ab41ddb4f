/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a program file before it is run: can libraries be preloaded into it?
 *
 * Limits: reads ELF of any class and byte order, but only what this question needs; trusts no
 * number in the file.
 */
#ifndef GT_TOOLS_BINARY_H
#define GT_TOOLS_BINARY_H

#include <limits.h>
#include <stddef.h>

enum gt_binary_kind {
	GT_BINARY_FINE,     /* dynamically linked, same loader as ours */
	GT_BINARY_UNKNOWN,  /* may not be read: nobody can tell */
	GT_BINARY_STATIC,   /* no loader */
	GT_BINARY_FOREIGN,  /* another architecture or word size */
	GT_BINARY_LIBC,     /* another C library's loader */
	GT_BINARY_SETID,    /* runs with other privileges than ours */
	GT_BINARY_SCRIPT,   /* "#!": see interpreter */
	GT_BINARY_TEXT,     /* neither ELF nor "#!": execvp gives it to /bin/sh */
};

struct gt_binary {
	enum gt_binary_kind kind;
	char interpreter[PATH_MAX]; /* script: the program after "#!"; ELF: the loader */
	char argument[256];         /* script: the rest of the "#!" line */
	char runtime[64];           /* a library that must be the first loaded (sanitizers), or "" */
};

void gt_binary_look(const char *path, struct gt_binary *binary);

/*
 * Follows scripts to the program that really runs. On return `path` is that program (or where the
 * chain ended), and the kind is never GT_BINARY_SCRIPT or GT_BINARY_TEXT.
 */
void gt_binary_follow(char *path, size_t size, struct gt_binary *binary);

#endif
