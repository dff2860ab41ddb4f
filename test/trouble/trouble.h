/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the awkward programs share: marks for functions that a trace must or must not show, and
 * output that is on its way at once, so that a program may die at any moment.
 *
 * Limits: no state, no constructors. A program tells what a trace of it must hold in lines
 * "calls FUNCTION N" on stdout (test/tools/field.py --expect); those of all processes are added.
 */
#ifndef TROUBLE_H
#define TROUBLE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A function that every compiler at every level really calls, under its own name. */
#ifdef __clang__
#define CALLED __attribute__((noinline, used))
#else
#define CALLED __attribute__((noinline, noclone, noipa, used))
#endif

/* A function that is not instrumented. */
#define UNSEEN __attribute__((no_instrument_function, unused))

/* Keeps the compiler from computing at compile time, joining calls, or making a tail call. */
#define HERE() __asm__ volatile("" ::: "memory")

UNSEEN static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

UNSEEN static void say(const char *format, ...)
{
	char line[512];
	va_list ap;
	int saved = errno;
	size_t done = 0, length;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	length = strlen(line);
	while (done < length) {
		ssize_t n = write(1, line + done, length - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	errno = saved;
}

/* The program found something wrong: its own test of itself. */
UNSEEN static void bad(const char *what)
{
	say("WRONG: %s (errno %d)\n", what, errno);
	_exit(99);
}

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			bad(#condition);                                                           \
	} while (0)

#endif
