/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small program worth looking at in a trace: one thread makes work, four compute, one result.
 *
 *     gputrace-cc -g -O2 -pthread -DVTRACE demo.c -o demo && gputrace run ./demo
 *
 * Limits: an example. Without -DVTRACE the VT_ macros vanish, and any compiler will do.
 */
#include <pthread.h>
#include <stdio.h>

#include "vt_user.h"

#define WORKERS 4
#define ROWS    400
#define COLUMNS 640
#define QUEUE   8

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, freed;
	int rows[QUEUE];
	int first, count, closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .filled = PTHREAD_COND_INITIALIZER,
	   .freed = PTHREAD_COND_INITIALIZER};

static long inside[WORKERS];

static void put(int row)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.count == QUEUE)
		pthread_cond_wait(&queue.freed, &queue.lock);
	queue.rows[(queue.first + queue.count++) % QUEUE] = row;
	pthread_cond_signal(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
}

/* A row, or -1 when there will be none any more. */
static int get(void)
{
	int row = -1;

	pthread_mutex_lock(&queue.lock);
	while (!queue.count && !queue.closed)
		pthread_cond_wait(&queue.filled, &queue.lock);
	if (queue.count) {
		row = queue.rows[queue.first];
		queue.first = (queue.first + 1) % QUEUE;
		queue.count--;
		pthread_cond_signal(&queue.freed);
	}
	pthread_mutex_unlock(&queue.lock);
	return row;
}

static void close_queue(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.closed = 1;
	pthread_cond_broadcast(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
}

/* How many points of this row belong to the Mandelbrot set. */
static long compute_row(int row)
{
	double y = 2.4 * row / ROWS - 1.2;
	long found = 0;

	for (int column = 0; column < COLUMNS; column++) {
		double x = 3.2 * column / COLUMNS - 2.2, a = 0, b = 0;
		int n = 0;

		while (n < 2000 && a * a + b * b < 4) {
			double next = a * a - b * b + x;

			b = 2 * a * b + y;
			a = next;
			n++;
		}
		found += n == 2000;
	}
	return found;
}

static void *worker(void *argument)
{
	long *sum = argument;
	int row;

	VT_USER_START("all my rows");
	while ((row = get()) >= 0)
		*sum += compute_row(row);
	VT_USER_END("all my rows");
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	long total = 0;

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, &inside[i]);
	for (int row = 0; row < ROWS; row++)
		put(row);
	close_queue();
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(threads[i], NULL);
		total += inside[i];
	}
	printf("%ld of %d points are in the set\n", total, ROWS * COLUMNS);
	return 0;
}
