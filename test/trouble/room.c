/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Little room for memory: "room WAY THREADS STACK" has that many threads at the same time, with stacks
 * of so many KiB. lock: after it has locked all its memory, also what is to come; map: after it has limited
 * its own address space to 3 MiB more than it has; as: as it is.
 */
#include "trouble.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

static pthread_barrier_t all_there;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void *body(void *arg)
{
	int i;

	for (i = 0; i < 5000; i++)
		work(i);
	pthread_barrier_wait(&all_there);
	return arg;
}

/* Bytes of address space that are in use. */
UNSEEN static unsigned long mapped(void)
{
	unsigned long pages = 0;
	char text[64] = "";
	FILE *f = fopen("/proc/self/statm", "r");

	MUST(f && fgets(text, sizeof(text), f));
	fclose(f);
	pages = strtoul(text, NULL, 10);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1, stack = argc > 3 ? atoi(argv[3]) : 64, made = 0;
	struct rlimit limit;
	pthread_t thread[64];
	pthread_attr_t attr;
	void *own;

	if (argc > 1 && !strcmp(argv[1], "lock"))
		say("mlockall: %s\n", mlockall(MCL_CURRENT | MCL_FUTURE) ? strerror(errno) : "done");
	if (argc > 1 && !strcmp(argv[1], "map")) {
		limit.rlim_cur = limit.rlim_max = mapped() + ((rlim_t)(3 << 20));
		MUST(setrlimit(RLIMIT_AS, &limit) == 0);
	}
	MUST(threads <= 64);
	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstacksize(&attr, (size_t)stack << 10));
	pthread_barrier_init(&all_there, NULL, (unsigned)threads + 1);
	while (made < threads && !pthread_create(&thread[made], &attr, body, NULL))
		made++;
	say("%d threads\n", made);
	if (made < threads)
		_exit(1);
	own = mmap(NULL, 256 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("more for itself: %s\n", own == MAP_FAILED ? strerror(errno) : "there");
	pthread_barrier_wait(&all_there);
	while (made)
		pthread_join(thread[--made], NULL);
	say("calls body %d\ncalls work %d\n", threads, 5000 * threads);
	return 0;
}
