/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that have no buffer, and destructors that come after the end of their thread: what they ask the
 * user API to record is lost, and counted. Prints how many events that are in all, in the archive or not.
 *
 * Limits: four events each time: enter, leave, counter, marker.
 */
#include <pthread.h>
#include <stdio.h>

#include "vt_user.h"

static pthread_barrier_t all;
static pthread_key_t key;
static unsigned marks, counter;
static int asked;

static void ask(int times)
{
	for (int i = 0; i < times; i++) {
		VT_USER_START("asked");
		VT_COUNT_SIGNED_VAL(counter, i);
		VT_MARKER(marks, "m");
		VT_USER_END("asked");
	}
	__atomic_fetch_add(&asked, 4 * times, __ATOMIC_RELAXED);
}

static void again(void *value)
{
	ask(1);
	pthread_setspecific(key, value);
}

static void *thread(void *arg)
{
	pthread_barrier_wait(&all);
	ask(1000);
	pthread_setspecific(key, &key);
	pthread_barrier_wait(&all);
	return arg;
}

int main(void)
{
	pthread_t threads[4];

	marks = VT_MARKER_DEF("marks", VT_MARKER_TYPE_HINT);
	counter = VT_COUNT_DEF("counter", "#", VT_COUNT_TYPE_SIGNED, VT_COUNT_DEFGROUP);
	pthread_barrier_init(&all, NULL, 4);
	pthread_key_create(&key, again);
	ask(1);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", asked);
	return 0;
}
