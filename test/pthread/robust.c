// SPDX-License-Identifier: BSD-3-Clause
// Owners of robust mutexes die: as threads, as processes; states are repaired or not.
// Limits: one mutex at a time.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>

#include "say.h"

static pthread_mutex_t *m;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void make(int type, int protocol)
{
	pthread_mutexattr_t a;

	MUST(pthread_mutexattr_init(&a));
	MUST(pthread_mutexattr_settype(&a, type));
	MUST(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
	MUST(pthread_mutexattr_setprotocol(&a, protocol));
	MUST(pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
	MUST(pthread_mutex_init(m, &a));
}

static void *die_holding(void *ms)
{
	MUST(pthread_mutex_lock(m));
	sleep_ms((long)ms);
	return NULL;
}

static volatile int owner_waits;

static void *wait_and_die(void *unused)
{
	(void)unused;
	MUST(pthread_mutex_lock(m));
	owner_waits = 1;
	sleep_ms(30); /* main waits meanwhile */
	return NULL;
}

static void by_thread(int (*lock)(pthread_mutex_t *), const char *how)
{
	pthread_t t;
	int rc;

	printf("-- %s\n", how);
	MUST(pthread_create(&t, NULL, die_holding, (void *)0));
	MUST(pthread_join(t, NULL));
	SAY(lock(m));
	SAY(lock == pthread_mutex_trylock ? 0 : pthread_mutex_consistent(m));
	SAY(pthread_mutex_unlock(m));
	SAY(rc = lock(m)); /* recoverable or not */
	if (rc == 0)
		SAY(pthread_mutex_unlock(m));
}

static int timed(pthread_mutex_t *mutex)
{
	struct timespec soon = after_ms(CLOCK_REALTIME, 50);

	return pthread_mutex_timedlock(mutex, &soon);
}

int main(void)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK };
	pthread_t t;
	pid_t pid;
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 3; i++) {
		for (int protocol = 0; protocol <= 1; protocol++) {
			printf("== type %d protocol %d\n", i, protocol);
			make(types[i], protocol);
			by_thread(pthread_mutex_lock, "lock");
			by_thread(timed, "timedlock");
			by_thread(pthread_mutex_trylock, "trylock, not repaired");
			make(types[i], protocol);
			printf("-- the owner dies while we wait\n");
			owner_waits = 0;
			MUST(pthread_create(&t, NULL, wait_and_die, NULL));
			while (!owner_waits)
				sleep_ms(1);
			SAY(pthread_mutex_lock(m));
			SAY(pthread_mutex_consistent(m));
			SAY(pthread_mutex_unlock(m));
			MUST(pthread_join(t, NULL));
		}
	}
	printf("-- a process dies\n");
	make(PTHREAD_MUTEX_NORMAL, 0);
	pid = fork();
	if (pid == 0) {
		pthread_mutex_lock(m);
		_exit(5);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_consistent(m));
	SAY(pthread_cond_signal(&c));
	SAY(pthread_mutex_unlock(m));
	return 0;
}
