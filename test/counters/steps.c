/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts its steps in a software-defined event of PAPI's (libsde), and says how many each function made. So
 * do a child that it forks then, and a thread of that.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sde_lib.h>

static long long steps;

__attribute__((noinline)) static void step(int n)
{
	steps += n;
}

__attribute__((noinline)) static void twice(int n)
{
	step(n);
	steps += 1000;
	step(n);
}

__attribute__((noinline)) static void in_child(int n)
{
	step(n);
}

__attribute__((noinline)) static void in_thread(int n)
{
	step(n);
}

static void *work(void *unused)
{
	for (int i = 1; i <= 7; i++)
		in_thread(300);
	return unused;
}

static void child(void)
{
	pthread_t thread;

	for (int i = 1; i <= 5; i++)
		in_child(20);
	if (!pthread_create(&thread, NULL, work, NULL))
		pthread_join(thread, NULL);
}

int main(void)
{
	pid_t pid;

	papi_handle_t handle = papi_sde_init("gputest");

	papi_sde_register_counter(handle, "STEPS", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &steps);
	for (int i = 1; i <= 10; i++)
		twice(i);
	pid = fork();
	if (!pid) {
		child();
		return 0;
	}
	waitpid(pid, NULL, 0);
	for (int i = 1; i <= 3; i++)
		twice(0);
	printf("inclusive %lld\nexclusive %d\n", steps, 13 * 1000);
	return 0;
}
