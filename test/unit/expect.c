/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the assembly share.
 *
 * Limits: see expect.h.
 */
#include "test/unit/expect.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assemble_with(const char *dir, unsigned threads, bool keep)
{
	struct gt_assemble_options options = { .threads = threads, .keep_spool = keep,
					       .in_order = true };

	return gt_assemble(dir, &options);
}

int assemble(const char *dir)
{
	return assemble_with(dir, 2, false);
}

void expect_events(const char *dir, const char *expect)
{
	char *events;

	cr_assert(eq(int, assemble(dir), 0));
	events = rb_events(dir);
	cr_assert(events != NULL);
	cr_assert(eq(str, events, (char *)expect));
	free(events);
}

static void look(char *(*read)(const char *), const char *dir, const char *part, bool there)
{
	char *text = read(dir);

	cr_assert(text != NULL);
	cr_assert(there == (strstr(text, part) != NULL), "%s \"%s\" in:\n%s", there ? "no" : "unwanted",
		  part, text);
	free(text);
}

void expect_text(char *(*read)(const char *), const char *dir, const char *part)
{
	look(read, dir, part, true);
}

void expect_no_text(char *(*read)(const char *), const char *dir, const char *part)
{
	look(read, dir, part, false);
}

void expect_property(const char *dir, const char *line)
{
	char text[200];

	snprintf(text, sizeof(text), "property GPUTRACE::%s\n", line);
	expect_text(rb_definitions, dir, text);
}

struct mk_proc *usual(const char *dir)
{
	return mk_proc(dir, 1, 4711, "prog", BEGIN);
}
