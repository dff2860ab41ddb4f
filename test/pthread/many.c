// SPDX-License-Identifier: BSD-3-Clause
// Many threads: SHORT short ones, at most 32 alive, then as many at once as there may be (ALIVE at
// most). Prints on stderr how many those were, and "threads N" in all.
// Limits: the number that can be alive at once depends on the machine; stdout does not show it.
#define _GNU_SOURCE
#include "say.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static long sum, waiting;
static int go;

static void *add(void *n)
{
	pthread_mutex_lock(&m);
	sum += (long)n;
	pthread_mutex_unlock(&m);
	return n;
}

static void *stay(void *n)
{
	pthread_mutex_lock(&m);
	waiting++;
	while (!go)
		pthread_cond_wait(&c, &m);
	sum += (long)n;
	pthread_mutex_unlock(&m);
	return n;
}

int main(int argc, char **argv)
{
	long shorts = argc > 1 ? atol(argv[1]) : 10000, want = argc > 2 ? atol(argv[2]) : 2000;
	long wrong = 0, alive = 0;
	pthread_t ring[32] = { 0 }, *all = calloc((size_t)want + 1, sizeof(*all));
	pthread_attr_t small;
	void *result;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (long i = 0; i < shorts; i++) {
		if (i >= 32) {
			MUST(pthread_join(ring[i % 32], &result));
			wrong += (long)result != i - 32;
		}
		MUST(pthread_create(&ring[i % 32], NULL, add, (void *)i));
	}
	for (long i = shorts > 32 ? shorts - 32 : 0; i < shorts; i++) {
		MUST(pthread_join(ring[i % 32], &result));
		wrong += (long)result != i;
	}
	printf("short: sum %s, %ld wrong\n", sum == shorts * (shorts - 1) / 2 ? "right" : "wrong", wrong);

	sum = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (alive < want && pthread_create(&all[alive], &small, stay, (void *)alive) == 0)
		alive++;
	pthread_mutex_lock(&m);
	while (waiting < alive) { /* now they are all there */
		pthread_mutex_unlock(&m);
		sleep_ms(1);
		pthread_mutex_lock(&m);
	}
	go = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	for (long i = 0; i < alive; i++) {
		MUST(pthread_join(all[i], &result));
		wrong += (long)result != i;
	}
	printf("at once: sum %s, %ld wrong\n", sum == alive * (alive - 1) / 2 ? "right" : "wrong", wrong);
	fprintf(stderr, "alive %ld\nthreads %ld\n", alive, shorts + alive);
	free(all);
	return alive > 0 ? 0 : 1;
}
