// SPDX-License-Identifier: BSD-3-Clause
// Signal handlers that jump out of waiting calls, and threads that are cancelled or exit afterwards:
// whatever a wrapper left on the stack must not be found then.
// Limits: what POSIX leaves undefined (jumping out of a locked call of the C library) works in glibc
// for these calls.
#define _GNU_SOURCE
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>

#include "say.h"

static sem_t s;
static __thread sigjmp_buf back;
static pthread_barrier_t b;
static volatile int pushed;

static void jump(int unused)
{
	(void)unused;
	siglongjmp(back, 1);
}

static void handler(void *text)
{
	puts(text);
}

/* Fills the stack where the frame of the wrapper was. */
static __attribute__((noinline)) int scribble(int n)
{
	volatile char junk[4096];

	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)0xa5;
	return n ? scribble(n - 1) + junk[n] : 0;
}

static void *victim(void *how)
{
	if (sigsetjmp(back, 1) == 0) {
		pthread_barrier_wait(&b);
		sem_wait(&s);
		puts("not reached");
	}
	scribble(4);
	pthread_cleanup_push(handler, "handler");
	pushed = 1;
	if (how)
		pthread_exit((void *)5);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	struct sigaction a = { .sa_handler = jump };
	void *result;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGUSR1, &a, NULL);
	MUST(sem_init(&s, 0, 0));
	MUST(pthread_barrier_init(&b, NULL, 2));
	for (long how = 0; how < 2; how++) {
		pthread_t t;

		MUST(pthread_create(&t, NULL, victim, (void *)how));
		pthread_barrier_wait(&b);
		sleep_ms(20);
		MUST(pthread_kill(t, SIGUSR1));
		while (!pushed)
			sleep_ms(1);
		if (!how)
			MUST(pthread_cancel(t));
		MUST(pthread_join(t, &result));
		printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" :
					  result == (void *)5 ? "exit" : "?");
	}
	return 0;
}
