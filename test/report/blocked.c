/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads that sleep inside functions that are recorded, by a call that is not: 600 and 300 ms. With an
 * argument, and without hooks: one that sleeps for 600 ms outside of recorded functions, and spins as long in
 * a recorded wait, for two others, which work.
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

static pthread_spinlock_t spin;

static void *spins(void *arg)
{
	unseen(600);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	return arg;
}

static int done;

static void *works(void *arg)
{
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) /* pairs with let_spin() */
		;
	return arg;
}

/* Works, as another one does, until the first one has spun for long enough. */
static int let_spin(void)
{
	struct timespec used = { 0, 0 };
	clockid_t clock;
	pthread_t id, worker;

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&spin);
	if (pthread_create(&id, NULL, spins, NULL) || pthread_getcpuclockid(id, &clock) ||
	    pthread_create(&worker, NULL, works, NULL))
		return 1;
	while (!used.tv_sec && used.tv_nsec < 600000000)
		clock_gettime(clock, &used);
	pthread_spin_unlock(&spin);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE); /* pairs with works() */
	return pthread_join(id, NULL) || pthread_join(worker, NULL);
}

int main(int argc, char **argv)
{
	pthread_t id;

	(void)argv;
	if (argc > 1)
		return let_spin();
	if (pthread_create(&id, NULL, run, NULL))
		return 1;
	longer();
	return pthread_join(id, NULL);
}
