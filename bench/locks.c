/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock-heavy program: one thread makes pieces of text and puts them into a bounded queue; the
 * workers count their words in a table with a lock per stripe, under a read-write lock that a
 * resize would take. usage: locks [PIECES [WORKERS]]
 *
 * About two lock operations for each fifty nanoseconds of work; most of them need not wait.
 * Limits: the text is made up; the table is fixed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "bench.h"

#define QUEUE    64
#define STRIPES  64
#define SLOTS    1024 /* in each stripe */
#define WORDS    64   /* in each piece */
#define MAX_WORKERS 64

struct stripe {
	pthread_mutex_t lock;
	uint64_t key[SLOTS];
	uint64_t count[SLOTS];
} __attribute__((aligned(64)));

static struct stripe table[STRIPES];
static pthread_rwlock_t resize = PTHREAD_RWLOCK_INITIALIZER;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	uint64_t piece[QUEUE];
	unsigned head, tail;
	int ended;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
	    .more = PTHREAD_COND_INITIALIZER,
	    .less = PTHREAD_COND_INITIALIZER };

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	return x;
}

static void put(uint64_t piece)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.tail - queue.head == QUEUE)
		pthread_cond_wait(&queue.less, &queue.lock);
	queue.piece[queue.tail++ % QUEUE] = piece;
	pthread_cond_signal(&queue.more);
	pthread_mutex_unlock(&queue.lock);
}

static int get(uint64_t *piece)
{
	int got = 0;

	pthread_mutex_lock(&queue.lock);
	while (queue.tail == queue.head && !queue.ended)
		pthread_cond_wait(&queue.more, &queue.lock);
	if (queue.tail != queue.head) {
		*piece = queue.piece[queue.head++ % QUEUE];
		pthread_cond_signal(&queue.less);
		got = 1;
	}
	pthread_mutex_unlock(&queue.lock);
	return got;
}

static void count_word(uint64_t word)
{
	uint64_t hash = mix(word) | 1;
	struct stripe *s = &table[hash % STRIPES];
	unsigned slot = (unsigned)(hash >> 32) % SLOTS;

	pthread_mutex_lock(&s->lock);
	for (unsigned tries = 0; tries < SLOTS && s->key[slot] && s->key[slot] != hash; tries++)
		slot = (slot + 1) % SLOTS;
	s->key[slot] = hash;
	s->count[slot]++;
	pthread_mutex_unlock(&s->lock);
}

static void *worker(void *unused)
{
	uint64_t piece;

	(void)unused;
	while (get(&piece)) {
		pthread_rwlock_rdlock(&resize);
		for (unsigned i = 0; i < WORDS; i++)
			count_word(mix(piece + i) % 30000);
		pthread_rwlock_unlock(&resize);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long pieces = argc > 1 ? atol(argv[1]) : 60000;
	int workers = argc > 2 ? atoi(argv[2]) : 2;
	pthread_t thread[MAX_WORKERS];
	uint64_t words = 0;
	double t0;

	if (workers < 1 || workers > MAX_WORKERS)
		return 2;
	for (int i = 0; i < STRIPES; i++)
		pthread_mutex_init(&table[i].lock, NULL);
	t0 = bench_now();
	for (int i = 0; i < workers; i++)
		if (pthread_create(&thread[i], NULL, worker, NULL) != 0)
			return 1;
	for (long i = 0; i < pieces; i++)
		put((uint64_t)i * WORDS);
	pthread_mutex_lock(&queue.lock);
	queue.ended = 1;
	pthread_cond_broadcast(&queue.more);
	pthread_mutex_unlock(&queue.lock);
	for (int i = 0; i < workers; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < STRIPES; i++)
		for (int k = 0; k < SLOTS; k++)
			words += table[i].count[k];
	printf("pieces=%ld words=%lu work_s=%.4f", pieces, (unsigned long)words, bench_now() - t0);
	bench_end();
	return words == (uint64_t)pieces * WORDS ? 0 : 1;
}
