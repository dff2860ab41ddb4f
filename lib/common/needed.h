/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the libraries that the loader would load with a program or library (its DT_NEEDED, theirs, and
 * those preloaded), and tells whether any of them defines one of a set of names. That distinguishes,
 * before it is started, a program that brings the library of an interface from one that does not.
 *
 * Limits: glibc's search (RPATH, LD_LIBRARY_PATH, RUNPATH, ld.so.cache, default folders) without its
 * folders for processors' abilities, and of $ORIGIN, $LIB and $PLATFORM only the first. GT_NEEDED_FILES
 * libraries. What glibc and the compiler themselves bring is not opened unless that is asked for. No
 * malloc, async-signal-safe: memory is mapped for the time of the call, files are read into it and nothing
 * in them is trusted.
 */
#ifndef GT_NEEDED_H
#define GT_NEEDED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/common/elfnames.h"

enum { GT_NEEDED_FILES = 1024 };
#define GT_NEEDED_UNKNOWN UINT32_MAX /* the file or one that it needs cannot be found or read, or no memory */

/*
 * A library of ours whose names may be seen only where there is one that defines this name; NULL: any
 * library.
 */
struct gt_shown {
	const char *library, *symbol;
};

struct gt_needed {
	const struct gt_shown *rows; /* at most 31 */
	unsigned count;
	const char *library_path; /* LD_LIBRARY_PATH of the process, or NULL */
	const char *preload;      /* LD_PRELOAD, or NULL; libraries of ours in it are not looked at */
	/* Is a library of this name or path loaded already, with all that it needs? NULL: none is. */
	bool (*loaded)(const char *name);
	bool all; /* also what glibc and the compiler bring */
	/* Called for each library that defines the name of a row; NULL: one of them is enough. */
	void (*found)(unsigned row, struct gt_elf_names *elf, int fd);
};

/* Bit i is set if a library that comes with the program of this descriptor defines the name of rows[i]. */
uint32_t gt_needed_by_program(const struct gt_needed *ask, int fd);

/*
 * The same of a library that is about to be loaded, itself included; by its name, as dlopen() has it, called
 * by code of the file `caller`.
 */
uint32_t gt_needed_by_library(const struct gt_needed *ask, const char *name, const char *caller);

/*
 * Copies the list of a LD_PRELOAD without those libraries of `rows` whose bit is not in `shown`; `copy` may
 * be NULL. Bits of those that are left out.
 */
uint32_t gt_needed_hide(char *copy, const char *list, const struct gt_shown *rows, unsigned count,
			uint32_t shown);

/* Begins the name of each of our libraries. */
#define GT_NEEDED_OURS "libgputrace"
/*
 * A program that is not to see some of our libraries starts with LD_PRELOAD without them, and with the whole
 * list in this variable. The core puts that back (instrument/exec_look.c): the name without "VT_" is
 * LD_PRELOAD.
 */
#define GT_PRELOAD_VAR "VT_LD_PRELOAD"

#endif
