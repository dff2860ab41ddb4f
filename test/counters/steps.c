/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts its steps in a software-defined event of PAPI's (libsde), and says how many each function made.
 */
#include <stdio.h>

#include <sde_lib.h>

static long long steps;

__attribute__((noinline)) static void step(int n)
{
	steps += n;
}

__attribute__((noinline)) static void twice(int n)
{
	step(n);
	steps += 1000;
	step(n);
}

int main(void)
{
	papi_handle_t handle = papi_sde_init("gputest");

	papi_sde_register_counter(handle, "STEPS", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &steps);
	for (int i = 1; i <= 10; i++)
		twice(i);
	printf("inclusive %lld\nexclusive %d\n", steps, 10 * 1000);
	return 0;
}
