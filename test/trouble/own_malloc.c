/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with its own malloc, and that malloc is instrumented: gputrace must not allocate, and
 * must not mind being called from inside an allocation in the loader, or from inside the first of all,
 * which sets the allocator up under a lock (as Chromium's does).
 *
 * Limits: a bump allocator that never frees; 64 MiB.
 */
#include "trouble.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static char arena[64 << 20] __attribute__((aligned(64)));
static atomic_size_t used;
static atomic_int inside, nested;

/* What allocators do when they begin, each of them a call that gputrace or a wrapper stands before. */
UNSEEN static void set_up(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct sigaction action;
	pthread_key_t key;
	int fd;

	prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	syscall(SYS_gettid);
	sigaction(SIGUSR1, NULL, &action);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	if (!pthread_key_create(&key, NULL))
		pthread_key_delete(key);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

UNSEEN static void first(void)
{
	static atomic_int state; /* 0: not set up, 1: by this thread just now, 2: done */
	int none = 0;

	if (atomic_compare_exchange_strong(&state, &none, 1)) {
		set_up();
		atomic_store(&state, 2);
	} else if (none == 1) {
		say("an allocation inside of the first one\n");
		_exit(98);
	}
}

CALLED void *take(size_t size)
{
	size_t at = atomic_fetch_add(&used, (size + 79) & ~(size_t)15);

	if (at + size + 80 > sizeof(arena))
		return NULL;
	*(size_t *)(void *)(arena + at) = size;
	return arena + at + 64;
}

CALLED void *malloc(size_t size)
{
	void *p;

	first();
	if (atomic_fetch_add(&inside, 1))
		atomic_fetch_add(&nested, 1);
	p = take(size);
	atomic_fetch_sub(&inside, 1);
	return p;
}

CALLED void free(void *p)
{
	(void)p;
	HERE();
}

CALLED void *calloc(size_t n, size_t size)
{
	return malloc(n * size); /* the arena is zero and never reused */
}

CALLED void *realloc(void *old, size_t size)
{
	void *p = malloc(size);

	if (old && p) {
		size_t before = *(size_t *)(void *)((char *)old - 64);

		memcpy(p, old, before < size ? before : size);
	}
	return p;
}

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

int main(void)
{
	char *p = NULL;
	void *self;
	int i;

	for (i = 1; i < 2000; i++) {
		work(i);
		p = realloc(p, (size_t)i);
		MUST(p);
		p[i - 1] = (char)i;
	}
	for (i = 1; i < 2000; i++)
		MUST(p[i - 1] == (char)i);
	self = dlopen(NULL, RTLD_NOW);
	MUST(self && !dlclose(self));
	say("allocations inside of allocations: %d\n", nested);
	/* gcc counts malloc itself to the system header that declares it, and leaves it out. */
	say("calls work 1999\natleast take 1999\n");
	return 0;
}
