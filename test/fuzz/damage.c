// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls functions in some threads, and writes a file. test/fuzz/damage.test damages what was recorded of it.
 *
 * Limits: none.
 */
#include <pthread.h>
#include <stdio.h>

static volatile int sum;

static void leaf(int n)
{
	sum += n;
}

static void *work(void *argument)
{
	FILE *file = fopen("/dev/null", "w");

	for (int i = 0; i < 100; i++)
		leaf(i);
	fclose(file);
	return argument;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
