/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two functions that call each other in each order: 1,572,863 call paths, and some of the first ones again.
 */
#define NOINLINE __attribute__((noinline))

NOINLINE static unsigned second(unsigned depth);

NOINLINE static unsigned first(unsigned depth)
{
	return depth ? first(depth - 1) + 2 * second(depth - 1) : 1;
}

NOINLINE static unsigned second(unsigned depth)
{
	return depth ? first(depth - 1) + 3 * second(depth - 1) : 2;
}

int main(void)
{
	return first(19) + second(18) + first(3) == 0;
}
