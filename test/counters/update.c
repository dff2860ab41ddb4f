/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for its counters three times in each of ten calls. */
#include "vt_user.h"

__attribute__((noinline)) static int step(int n)
{
	for (int i = 0; i < 3; i++)
		VT_UPDATE_COUNTER();
	return n + 1;
}

int main(void)
{
	int n = 0;

	for (int i = 0; i < 10; i++)
		n = step(n);
	return n != 10;
}
