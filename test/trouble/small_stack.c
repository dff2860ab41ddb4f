/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instrumented code on the smallest stacks there are: an alternate signal stack of the minimal
 * size and threads of 16 KiB. A page of noise below each stack must stay as it was.
 *
 * Limits: leaves the handler 2 KiB for itself and for the hooks.
 */
#include "trouble.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

static volatile int handled;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void on_signal(int sig)
{
	work(sig);
	handled++;
}

CALLED void *thread_main(void *arg)
{
	int i;

	for (i = 0; i < 200; i++)
		work(i);
	return arg;
}

int main(void)
{
	long minimal = sysconf(_SC_MINSIGSTKSZ);
	size_t size = (size_t)(minimal > 0 ? minimal : 2048) + 2048, i;
	char *memory = mmap(NULL, 4 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	stack_t alt = { .ss_sp = memory + 65536, .ss_size = size };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	pthread_attr_t attr;
	pthread_t thread[8];

	memset(memory, 0xa5, 65536);
	work(0);
	MUST(!sigaltstack(&alt, NULL));
	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < 1000; i++)
		raise(SIGUSR1);
	for (i = 0; i < 65536; i++)
		MUST((unsigned char)memory[i] == 0xa5);

	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstacksize(&attr, 16384));
	for (i = 0; i < 8; i++)
		MUST(!pthread_create(&thread[i], &attr, thread_main, NULL));
	for (i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	say("handled %d\ncalls on_signal 1000\ncalls work %d\ncalls thread_main 8\n", handled,
	    1 + 1000 + 1600);
	return 0;
}
