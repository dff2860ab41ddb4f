/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timer signal up to 20,000 times a second whose handler runs instrumented code, while the
 * program runs instrumented code; every errno must come through. With "threads", new threads are
 * started all the time, so that signals hit their first and last instructions.
 *
 * Limits: the kernel may deliver fewer signals than asked for; the handler counts them.
 */
#include "trouble.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static atomic_long handled, handler_work;
static atomic_int wrong_errno;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int signal_work(int x)
{
	HERE();
	return x + 1;
}

CALLED void on_alarm(int sig)
{
	int saved = errno;

	errno = 7777;
	signal_work(sig);
	if (errno != 7777)
		wrong_errno = 1;
	close(-1);
	handled++;
	handler_work++;
	errno = saved;
}

UNSEEN static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

CALLED void *thread_main(void *arg)
{
	int i;

	for (i = 0; i < 10; i++)
		work(i);
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 50 }, { 0, 50 } }, off = { { 0, 0 }, { 0, 0 } };
	int threads = argc > 1 && !strcmp(argv[1], "threads");
	long end = now_ms() + (argc > 2 ? atol(argv[2]) : 2000), calls = 0, started = 0;
	pthread_t thread[4];
	int i;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (now_ms() < end) {
		if (threads) {
			for (i = 0; i < 4; i++)
				MUST(!pthread_create(&thread[i], NULL, thread_main, NULL));
			for (i = 0; i < 4; i++)
				pthread_join(thread[i], NULL);
			started += 4;
			calls += 40;
			continue;
		}
		errno = 5555;
		for (i = 0; i < 1000; i++)
			work(i);
		calls += 1000;
		MUST(errno == 5555);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	MUST(!wrong_errno);
	MUST(handled > 100);
	if (!threads) {
		dprintf(2, "calls work %ld\ncalls signal_work %ld\ncalls on_alarm %ld\n", calls,
			handler_work, handled);
	} else {
		dprintf(2, "calls work %ld\ncalls thread_main %ld\n", calls, started);
		dprintf(2, "calls signal_work %ld\ncalls on_alarm %ld\n", handler_work, handled);
	}
	return 0;
}
