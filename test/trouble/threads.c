/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many threads: "short" makes 10,000 that live briefly, at most 32 at once; "alive" has up to 2,000
 * at the same time; "end" ends them in every way a thread can end.
 *
 * Limits: "alive" takes as many as the machine gives, at least 100.
 */
#include "trouble.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t all_there;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open;
static atomic_int started;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void *ten_calls(void *arg)
{
	int i;

	for (i = 0; i < 10; i++)
		work(i);
	return arg;
}

CALLED void *waits(void *arg)
{
	work(1);
	started++;
	pthread_mutex_lock(&gate);
	while (!is_open)
		pthread_cond_wait(&opened, &gate);
	pthread_mutex_unlock(&gate);
	work(2);
	HERE();
	return arg;
}

CALLED void leave_by_exit(void *value)
{
	work(1);
	pthread_exit(value);
}

CALLED void *ends_by_exit(void *arg)
{
	leave_by_exit(arg);
	return NULL;
}

CALLED void *ends_by_cancel(void *arg)
{
	work(1);
	pthread_barrier_wait(&all_there);
	for (;;)
		usleep(1000);
	return arg;
}

CALLED void *ends_by_async_cancel(void *arg)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_barrier_wait(&all_there);
	for (;;)
		HERE();
	return arg;
}

/* Cancelled at any instruction, also in the middle of a hook. */
CALLED void *cancelled_in_hook(void *arg)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_barrier_wait(&all_there);
	for (;;)
		work(3);
	return arg;
}

UNSEEN static void short_threads(long total)
{
	pthread_t thread[32];
	long done;
	int i;

	for (done = 0; done < total; done += 32) {
		int n = total - done < 32 ? (int)(total - done) : 32;

		for (i = 0; i < n; i++)
			MUST(!pthread_create(&thread[i], NULL, ten_calls, (void *)(long)i));
		for (i = 0; i < n; i++) {
			void *value;

			MUST(!pthread_join(thread[i], &value));
			MUST(value == (void *)(long)i);
		}
	}
	say("calls ten_calls %ld\ncalls work %ld\n", total, total * 10);
}

UNSEEN static void alive_threads(int wanted)
{
	static pthread_t thread[4096];
	pthread_attr_t attr;
	int n, i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (n = 0; n < wanted && n < 4096; n++)
		if (pthread_create(&thread[n], &attr, waits, NULL))
			break;
	MUST(n >= 100);
	while (started < n)
		usleep(1000);
	pthread_mutex_lock(&gate);
	is_open = 1;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&gate);
	for (i = 0; i < n; i++)
		MUST(!pthread_join(thread[i], NULL));
	dprintf(2, "threads %d\ncalls waits %d\ncalls work %d\n", n, n, 2 * n);
}

UNSEEN static void *cancel(void *(*body)(void *))
{
	pthread_t thread;
	void *value;

	MUST(!pthread_create(&thread, NULL, body, (void *)1));
	pthread_barrier_wait(&all_there);
	usleep(500);
	MUST(!pthread_cancel(thread));
	MUST(!pthread_join(thread, &value));
	return value;
}

UNSEEN static void all_ends(void)
{
	pthread_t thread;
	void *value;
	int i;

	pthread_barrier_init(&all_there, NULL, 2);
	for (i = 0; i < 20; i++) {
		MUST(!pthread_create(&thread, NULL, ends_by_exit, (void *)77));
		MUST(!pthread_join(thread, &value) && value == (void *)77);
		MUST(cancel(ends_by_cancel) == PTHREAD_CANCELED);
		MUST(cancel(ends_by_async_cancel) == PTHREAD_CANCELED);
		MUST(cancel(cancelled_in_hook) == PTHREAD_CANCELED);
		MUST(!pthread_create(&thread, NULL, ten_calls, NULL));
		pthread_detach(thread);
	}
	usleep(50000);
	say("calls ends_by_exit 20\ncalls leave_by_exit 20\ncalls ends_by_cancel 20\n");
	say("calls ends_by_async_cancel 20\ncalls ten_calls 20\ncalls cancelled_in_hook 20\n");
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "short";
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (!strcmp(way, "short"))
		short_threads(n ? n : 10000);
	else if (!strcmp(way, "alive"))
		alive_threads(n ? (int)n : 2000);
	else
		all_ends();
	return 0;
}
