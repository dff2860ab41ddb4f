/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds blocks of odd sizes for a while, those of a thread first, then more of them, then fewer, and says how
 * many bytes more or less than before the last two are: "changed BYTES", as the allocator sizes them.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 300

static void *blocks[2][BLOCKS];
static long change;

static void rest(void)
{
	const struct timespec some = { 0, 40000000 };

	nanosleep(&some, NULL);
}

static void make(void **block, size_t bytes)
{
	*block = malloc(bytes);
	change += (long)malloc_usable_size(*block);
}

static void drop(void **block)
{
	change -= (long)malloc_usable_size(*block);
	free(*block);
	*block = NULL;
}

static void *work(void *mine)
{
	void **block = mine;

	for (int i = 0; i < BLOCKS; i++)
		make(&block[i], 1 + (size_t)i * 37);
	for (int i = 0; i < BLOCKS; i += 3)
		drop(&block[i]);
	make(&block[0], 3 << 20);
	return NULL;
}

static void note(long *steps, int step)
{
	steps[step] = change;
	change = 0;
	rest();
}

int main(void)
{
	pthread_t thread;
	long steps[3];

	rest();
	if (pthread_create(&thread, NULL, work, blocks[1]))
		return 1;
	pthread_join(thread, NULL);
	note(steps, 0);
	work(blocks[0]);
	note(steps, 1);
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[0][i])
			drop(&blocks[0][i]);
	note(steps, 2);
	for (int i = 1; i < 3; i++)
		printf("changed %ld\n", steps[i]);
	fflush(stdout);
	_Exit(0);
}
