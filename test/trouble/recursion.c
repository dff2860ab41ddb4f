/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursion 200,000 deep on a stack of 512 MiB; with "overflow" it never ends, and the guard page
 * ends the process with SIGSEGV.
 *
 * Limits: the deep stack is a thread's, so that no ulimit is needed.
 */
#include "trouble.h"

#include <pthread.h>
#include <sys/resource.h>

static volatile long limit;

CALLED long down(long n)
{
	long r;

	if (n == limit)
		return n;
	r = down(n + 1);
	HERE();
	return r;
}

CALLED void *thread_main(void *arg)
{
	long r = down(1);

	HERE();
	return r == limit ? arg : NULL;
}

int main(int argc, char **argv)
{
	int overflow = argc > 1 && !strcmp(argv[1], "overflow");
	struct rlimit none = { 0, 0 };
	pthread_attr_t attr;
	pthread_t thread;
	void *value;

	setrlimit(RLIMIT_CORE, &none);
	limit = overflow ? -1 : 200000;
	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstacksize(&attr, overflow ? 1u << 20 : 512u << 20));
	if (overflow)
		say("atleast down 1000\n");
	MUST(!pthread_create(&thread, &attr, thread_main, &thread));
	pthread_join(thread, &value);
	MUST(value == &thread);
	say("calls down 200000\n");
	return 0;
}
