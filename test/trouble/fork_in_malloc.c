/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler that interrupts malloc() and needs the core's lock, while another thread forks: fork() holds that
 * lock and waits for malloc()'s. Ends once it has forked FORKS times, or for SECONDS.
 *
 * Limits: whether a handler comes at such a moment is chance; in a few forks it does.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vt_user.h>

enum { FORKS = 2000, SECONDS = 4 };

static atomic_bool over;
static atomic_uint handled;

static void handler(int number)
{
	char name[] = "definition 0000";
	unsigned n = handled++ % 10000;

	(void)number;
	for (size_t i = sizeof(name) - 2; n; n /= 10)
		name[i--] = (char)('0' + n % 10);
	VT_COMMENT(name);
}

static void *allocates(void *unused)
{
	struct sigevent by = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 100000 }, { 0, 100000 } };
	timer_t timer;

	by._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &by, &timer) || timer_settime(timer, 0, &every, NULL))
		abort();
	while (!over) { /* what realloc() copies, it copies with malloc()'s lock */
		char *volatile block = malloc(50000), *volatile behind = malloc(100);

		block = realloc(block, 110000);
		free(block);
		free(behind);
	}
	timer_delete(timer);
	return unused;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	time_t end = time(NULL) + SECONDS;
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	if (pthread_create(&thread, NULL, allocates, NULL))
		return 1;
	for (int i = 0; i < FORKS && time(NULL) < end; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	over = true;
	pthread_join(thread, NULL);
	puts(handled ? "handled" : "never");
	return 0;
}
