/* SPDX-License-Identifier: BSD-3-Clause */
/* A program to be counted: it calls a function 50 times in some 100 ms, and knows nothing of plug-ins. */
#include <time.h>

static void work(void)
{
	const struct timespec some = { 0, 2000000 };

	nanosleep(&some, 0);
}

int main(void)
{
	for (int i = 0; i < 50; i++)
		work();
	return 0;
}
