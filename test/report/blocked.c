/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads that sleep inside functions that are recorded, by a call that is not: 600 and 300 ms.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((no_instrument_function)) static void unseen(long ms)
{
	struct timespec ts = { 0, ms * 1000000 };

	syscall(SYS_nanosleep, &ts, NULL);
}

__attribute__((noinline)) static void longer(void)
{
	unseen(600);
}

__attribute__((noinline)) static void shorter(void)
{
	unseen(300);
}

static void *run(void *arg)
{
	shorter();
	return arg;
}

int main(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, run, NULL))
		return 1;
	longer();
	return pthread_join(id, NULL);
}
