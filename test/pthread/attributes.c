// SPDX-License-Identifier: BSD-3-Clause
// What a new thread is given: stack, mask, names, detach state, affinity; creations that fail.
// Limits: real-time scheduling needs privileges and is left out.
#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "say.h"

static int looked; /* by how many threads */

static void *look(void *expected_size)
{
	pthread_attr_t a;
	size_t size, guard;
	void *base;
	sigset_t set;
	int state;
	char on_stack[4096];

	memset(on_stack, 1, sizeof(on_stack));
	MUST(pthread_getattr_np(pthread_self(), &a));
	MUST(pthread_attr_getstack(&a, &base, &size));
	MUST(pthread_attr_getguardsize(&a, &guard));
	MUST(pthread_attr_getdetachstate(&a, &state));
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	printf("size as asked %d, guard %zu, on it %d, detached %d, USR1 blocked %d, USR2 %d\n",
	       size == (size_t)expected_size, guard,
	       (char *)base <= on_stack && on_stack < (char *)base + size,
	       state == PTHREAD_CREATE_DETACHED, sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGUSR2));
	pthread_attr_destroy(&a);
	__atomic_add_fetch(&looked, 1, __ATOMIC_RELEASE);
	return on_stack[100] ? expected_size : NULL;
}

static void *named(void *name)
{
	char got[16];

	if (name)
		MUST(pthread_setname_np(pthread_self(), name));
	sleep_ms(20);
	MUST(pthread_getname_np(pthread_self(), got, sizeof(got)));
	printf("name %s\n", got);
	return NULL;
}

static void *unreachable(void *p)
{
	puts("must not run");
	return p;
}

int main(void)
{
	size_t sizes[] = { PTHREAD_STACK_MIN, 65536, 1 << 20 };
	pthread_attr_t a;
	pthread_t t;
	cpu_set_t cpus;
	sigset_t set;
	char name[16];
	void *own;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	MUST(pthread_attr_init(&a));
	for (int i = 0; i < 3; i++) {
		MUST(pthread_attr_setstacksize(&a, sizes[i]));
		MUST(pthread_create(&t, &a, look, (void *)sizes[i]));
		MUST(pthread_join(t, NULL));
	}
	own = aligned_alloc(4096, 131072);
	MUST(pthread_attr_setstack(&a, own, 131072));
	MUST(pthread_create(&t, &a, look, (void *)131072));
	MUST(pthread_join(t, NULL));
	free(own);
	pthread_attr_destroy(&a);
	MUST(pthread_attr_init(&a));
	MUST(pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED));
	MUST(pthread_attr_setstacksize(&a, 65536));
	MUST(pthread_create(&t, &a, look, (void *)65536));
	while (__atomic_load_n(&looked, __ATOMIC_ACQUIRE) < 5)
		sleep_ms(1);

	/* Failures: too much memory; no such processor. */
	pthread_attr_destroy(&a);
	MUST(pthread_attr_init(&a));
	MUST(pthread_attr_setstacksize(&a, (size_t)1 << 46));
	SAY(pthread_create(&t, &a, unreachable, NULL));
	pthread_attr_destroy(&a);
	MUST(pthread_attr_init(&a));
	CPU_ZERO(&cpus);
	MUST(pthread_attr_setaffinity_np(&a, sizeof(cpus), &cpus));
	SAY(pthread_create(&t, &a, unreachable, NULL));

	/* Names: by itself, by its creator, too long, of the main thread, by prctl. */
	MUST(pthread_create(&t, NULL, named, "itself"));
	MUST(pthread_join(t, NULL));
	MUST(pthread_create(&t, NULL, named, NULL));
	SAY(pthread_setname_np(t, "creator"));
	SAY(pthread_setname_np(t, "longer than fifteen"));
	MUST(pthread_join(t, NULL));
	SAY_ERRNO(prctl(PR_SET_NAME, "by prctl, and too long"));
	SAY_ERRNO(prctl(PR_GET_NAME, name));
	printf("main %s\n", name);
	SAY_ERRNO(prctl(-1, 1, 2, 3, 4));
	return 0;
}
