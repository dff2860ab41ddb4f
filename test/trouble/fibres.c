/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two coroutines that run different functions and take turns in the middle of them: each call returns after
 * others were called on the other stack that return later. HIDDEN: by the C library's own function, of which
 * nobody can know.
 *
 * Limits: counts enters.
 */
#include "trouble.h"

#include <dlfcn.h>
#include <ucontext.h>

typedef int swap_fn(ucontext_t *, const ucontext_t *);
static swap_fn *swap;

#ifdef HIDDEN
#define FIND dlsym(dlopen("libc.so.6", RTLD_LAZY), "swapcontext")
#else
#define FIND swapcontext
#endif

#define ROUNDS 10
static ucontext_t main_context, one_context, two_context;
static char stacks[2][65536];

CALLED void inner_one(void)
{
	swap(&one_context, &two_context);
	HERE();
}

CALLED void inner_two(void)
{
	swap(&two_context, &one_context);
	HERE();
}

CALLED void one(void)
{
	for (int i = 0; i < ROUNDS; i++)
		inner_one();
}

CALLED void two(void)
{
	for (int i = 0; i < ROUNDS; i++)
		inner_two();
}

static void prepare(ucontext_t *context, char *stack, void (*function)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = sizeof(stacks[0]);
	context->uc_link = &main_context;
	makecontext(context, function, 0);
}

int main(void)
{
	swap = (swap_fn *)FIND;
	MUST(swap);
	prepare(&one_context, stacks[0], one);
	prepare(&two_context, stacks[1], two);
	swap(&main_context, &one_context);
	say("calls one 1\ncalls two 1\ncalls inner_one %d\ncalls inner_two %d\n", ROUNDS, ROUNDS);
	return 0;
}
