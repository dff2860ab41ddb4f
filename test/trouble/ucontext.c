/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three coroutines on stacks of their own that take turns in the middle of instrumented functions,
 * so that enters and leaves of different stacks mix in one thread.
 *
 * Limits: counts enters; the checker sees to nesting.
 */
#include "trouble.h"

#include <ucontext.h>

#define ROUNDS 300
static ucontext_t main_context, context[3];
static char stacks[3][65536];

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void yield_to(int from)
{
	swapcontext(&context[from], &main_context);
	HERE();
}

CALLED void inner(int id)
{
	work(id);
	yield_to(id);
	work(id);
	HERE();
}

CALLED void coroutine(int id)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		inner(id);
}

int main(void)
{
	int i, round;

	for (i = 0; i < 3; i++) {
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = stacks[i];
		context[i].uc_stack.ss_size = sizeof(stacks[i]);
		context[i].uc_link = &main_context;
		makecontext(&context[i], (void (*)(void))coroutine, 1, i);
	}
	for (round = 0; round <= ROUNDS; round++)
		for (i = 0; i < 3; i++)
			swapcontext(&main_context, &context[i]);
	say("calls coroutine 3\ncalls inner %d\ncalls work %d\ncalls yield_to %d\n", 3 * ROUNDS,
	    6 * ROUNDS, 3 * ROUNDS);
	return 0;
}
