/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forbids itself the processor's counter, and emulates it in a handler of SIGSEGV, as simulators do: a
 * library that goes on reading it dies, or takes the numbers that the handler makes up for the time. A
 * thread and a child inherit that.
 *
 * Limits: x86-64; elsewhere, and where the kernel refuses, it ends with 77.
 */
#include "trouble.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>

static volatile int emulated;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

#ifdef __x86_64__
UNSEEN static void emulate(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *at = (const unsigned char *)r[REG_RIP];

	(void)signal;
	(void)info;
	if (at[0] != 0x0f || at[1] != 0x31)
		_exit(99);
	r[REG_RAX] = emulated += 10;
	r[REG_RDX] = 0;
	r[REG_RIP] += 2;
}

UNSEEN static int read_counter(void)
{
	unsigned low;

	__asm__ volatile("rdtsc" : "=a"(low) : : "rdx");
	return (int)low;
}
#else
UNSEEN static void emulate(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
}

UNSEEN static int read_counter(void)
{
	return 10;
}
#endif

UNSEEN static void *thread(void *arg)
{
	work(2);
	return arg;
}

UNSEEN int main(void)
{
	struct sigaction action = { .sa_sigaction = emulate, .sa_flags = SA_SIGINFO };
	const struct timespec second = { 1, 0 };
	pthread_t other;
	int status;

	sigaction(SIGSEGV, &action, NULL);
	work(1);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		return 77;
	MUST(read_counter() == 10);
	nanosleep(&second, NULL);
	work(1);
	MUST(!pthread_create(&other, NULL, thread, NULL) && !pthread_join(other, NULL));
	if (!fork()) {
		work(3);
		say("calls work 1\n");
		exit(0);
	}
	MUST(wait(&status) > 0 && !status);
	MUST(read_counter() == 20);
	say("calls work 3\n");
	return 7;
}
