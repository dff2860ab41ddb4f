/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler wrappers: what a compiler command line asks for, and what the compiler behind the
 * wrapper understands.
 *
 * Limits: knows GNU-style command lines (gcc, clang, gfortran, flang, Intel's and NVIDIA's
 * LLVM-based compilers, MPI's own wrappers around them).
 */
#ifndef GT_CC_H
#define GT_CC_H

#include <stdbool.h>
#include <stddef.h>

#define GT_CC_GUARD "VT_WRAPPER" /* set for the real compiler: whoever calls us back gets it plain */

/* The parsed command line; filled by gt_cc_read(). */
struct gt_cc_job {
	bool information;   /* --version and the like: nothing is compiled */
	const char *probe;  /* a build system is trying the compiler out: by this name; or NULL */
	const char *output; /* -o, or NULL */
	bool stops_early;   /* -c, -S, -E, -M ...: nothing is linked */
	bool only_preprocess;
	bool relocatable;   /* -r: the linker makes another object */
	bool shared;
	bool fixed;         /* -static, -static-pie: a program without a loader */
	bool no_libraries;  /* -nostdlib, -nodefaultlibs */
	bool names_libc;    /* -lc */
	bool freestanding;  /* code for a world without libc: a kernel, firmware */
	bool other_target;  /* -m32, --target=: our libraries are not for it */
	bool instruments;   /* the user has chosen the instrumentation himself */
	unsigned inputs;
	unsigned sources;   /* inputs that are compiled from a language */
	unsigned raw;       /* sources that still have to be preprocessed */
	unsigned headers;   /* inputs that become precompiled headers */
	const char *files[64]; /* the first sources */
	/* state of the reader */
	int pending;
	int language;
	unsigned depth;
};

/* Reads a command line without the compiler's name. Strings in `job` live as long as `words`. */
void gt_cc_read(struct gt_cc_job *job, char *const *words);

/* Is one of these files, or the working directory, part of a build system's experiments? */
bool gt_cc_is_probe(const char *path);

/* How functions are instrumented by default. */
enum gt_cc_style {
	GT_CC_NONE,    /* the compiler knows no way */
	GT_CC_PLAIN,   /* -finstrument-functions, all or nothing */
	GT_CC_EXCLUDE, /* gcc: functions of certain files can be left out */
	GT_CC_INLINED, /* clang: only functions that are still functions after inlining */
};

/* Asks the compiler (its file, or else itself). `command` is the compiler's words, `path` the file. */
enum gt_cc_style gt_cc_ask(const char *path, char *const *command);

#endif
