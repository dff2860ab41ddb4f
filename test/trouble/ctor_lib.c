/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library whose constructor, destructor and IFUNC resolver run instrumented code: before
 * gputrace's own constructor and after its destructor.
 *
 * Limits: goes with ctor.c.
 */
#include "trouble.h"

CALLED int lib_work(int x)
{
	HERE();
	return x + 1;
}

CALLED __attribute__((constructor(101))) void lib_begin(void)
{
	int i;

	for (i = 0; i < 10; i++)
		lib_work(i);
}

CALLED __attribute__((destructor(101))) void lib_end(void)
{
	int i;

	for (i = 0; i < 10; i++)
		lib_work(i);
}

static int real_answer(void)
{
	return 42;
}

/* Runs while the loader relocates: nothing but its own code is usable yet. */
UNSEEN static int (*choose(void))(void)
{
	return real_answer;
}

int answer(void) __attribute__((ifunc("choose")));
