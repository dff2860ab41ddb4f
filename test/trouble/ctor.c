/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instrumented code before main and after it: constructors and destructors of every priority, of
 * the program and of a library, and atexit handlers. The order of all is printed.
 *
 * Limits: calls before gputrace is ready or after its end may be missing from the trace, if they
 * are counted; those of main are not.
 */
#include "trouble.h"

int lib_work(int x);
int answer(void);

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void step(const char *name)
{
	say("%s\n", name);
	work(0);
}

#define STEP(name, what)                                                                           \
	CALLED __attribute__((what)) void name(void)                                               \
	{                                                                                          \
		step(#name);                                                                       \
		HERE();                                                                            \
	}

STEP(begin_101, constructor(101))
STEP(begin_200, constructor(200))
STEP(begin_default, constructor)
STEP(end_101, destructor(101))
STEP(end_200, destructor(200))
STEP(end_default, destructor)
STEP(exit_1, used)
STEP(exit_2, used)

int main(void)
{
	int i;

	atexit(exit_1);
	atexit(exit_2);
	for (i = 0; i < 50; i++)
		work(i);
	for (i = 0; i < 50; i++)
		lib_work(i);
	say("atleast work 50\natleast lib_work 50\n");
	say("answer %d\n", answer());
	return 0;
}
