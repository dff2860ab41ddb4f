/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the assembly share: a made-up spool is assembled and read back as text.
 *
 * Limits: for Criterion tests; a comparison that fails ends the test.
 */
#ifndef GT_TEST_EXPECT_H
#define GT_TEST_EXPECT_H

#include <stdbool.h>

#include "lib/assemble/assemble.h"
#include "test/unit/mkspool.h"
#include "test/unit/readback.h"

#define BEGIN UINT64_C(1000000) /* ticks when the usual process began; two ticks are 1 ns */
#define AT(ns) (BEGIN + 2 * (uint64_t)(ns))

int assemble_with(const char *dir, unsigned threads, bool keep);
/* With two threads. */
int assemble(const char *dir);

/* Assembles and compares all events with `expect`. */
void expect_events(const char *dir, const char *expect);
/* What `read` says of the archive has `part` in it, or has not. */
void expect_text(char *(*read)(const char *), const char *dir, const char *part);
void expect_no_text(char *(*read)(const char *), const char *dir, const char *part);
/* A property of the archive: "KEY=value" behind GPUTRACE::. */
void expect_property(const char *dir, const char *line);

/* The process that most tests have. */
struct mk_proc *usual(const char *dir);

#endif
