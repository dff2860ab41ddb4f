/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls in tail position, which compilers turn into jumps, and calls between functions with and
 * without instrumentation.
 *
 * Limits: the number of calls is known, the nesting depends on the compiler.
 */
#include "trouble.h"

CALLED int odd(int n);
CALLED int odd_unseen(int n);

CALLED int even(int n)
{
	return n ? odd(n - 1) : 1;
}

CALLED int odd(int n)
{
	return n ? even(n - 1) : 0;
}

CALLED int even_seen(int n)
{
	return n ? odd_unseen(n - 1) : 1;
}

CALLED UNSEEN int odd_unseen(int n)
{
	return n ? even_seen(n - 1) : 0;
}

int main(void)
{
	volatile int depth = 1000; /* else clang sees ten times the same and calls once */
	int i, sum = 0;

	for (i = 0; i < 10; i++)
		sum += even(depth);
	for (i = 0; i < 10; i++)
		sum += even_seen(depth);
	say("sum %d\n", sum);
	say("calls even 5010\ncalls odd 5000\ncalls even_seen 5010\ncalls odd_unseen 0\n");
	return 0;
}
