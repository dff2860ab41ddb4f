/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does one thing, and prints what the test compares: "NAME wall SECONDS cpu SECONDS" of its main thread from
 * main() on, or the same of each of its threads.
 *
 *	states busy SECONDS            computes for so much processor time
 *	states sleep SECONDS           sleeps
 *	states threads NUMBER SECONDS  threads that compute, one after another
 *	states fork SECONDS            a child computes, which ends by _exit()
 *	states wait SECONDS            a child of two threads that compute: "child cpu SECONDS pid PID"
 *	states full SECONDS            as busy, and has no descriptor left
 *	states killed SECONDS          as busy, and kills itself
 *	states moves NUMBER SECONDS    changes its processor so often: "moves number N", 0: it may not; sleeps
 *	states after NUMBER            as moves, then executes a shell that executes it, as busy 0.05
 *	states path NUMBER             tries so many folders beside 20 threads: "path reads N ms N"
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds;

static double now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void compute(void)
{
	volatile unsigned sum = 0;
	double from = now(CLOCK_THREAD_CPUTIME_ID);

	while (now(CLOCK_THREAD_CPUTIME_ID) - from < seconds)
		for (unsigned i = 0; i < 1000; i++)
			sum += i;
}

static void rest(void)
{
	struct timespec ts = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	nanosleep(&ts, NULL);
}

static void *thread(void *sum)
{
	double from = now(CLOCK_THREAD_CPUTIME_ID);

	compute();
	*(double *)sum += now(CLOCK_THREAD_CPUTIME_ID) - from;
	return NULL;
}

static void threads(int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		pthread_t id;

		if (!pthread_create(&id, NULL, thread, &sum))
			pthread_join(id, NULL);
	}
	printf("threads cpu %.6f\n", sum);
}

static void child(void)
{
	int pid = fork();

	if (!pid) {
		compute();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void wait_for_child(char *program, char *each)
{
	char *const argv[] = { program, "threads", "2", each, NULL };
	struct rusage use;
	int pid = fork();

	if (!pid) {
		execv(program, argv);
		_exit(127);
	}
	if (wait4(pid, NULL, 0, &use) == pid)
		printf("child cpu %.6f pid %d\n",
		       (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6,
		       pid);
}

static pthread_barrier_t all;

static void *wait_twice(void *arg)
{
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	return arg;
}

/* System calls of the process that read something. */
static int reads(void)
{
	FILE *io = fopen("/proc/self/io", "r");
	char line[64];
	int n = 0;

	while (io && fgets(line, sizeof(line), io))
		sscanf(line, "syscr: %d", &n);
	if (io)
		fclose(io);
	return n;
}

/* As a shell does it. */
static void look_in_path(int n)
{
	static char *const argv[] = { "sh", NULL };
	pthread_t threads[20];
	double wall;
	int i, before;

	pthread_barrier_init(&all, NULL, 21);
	for (i = 0; i < 20; i++)
		pthread_create(&threads[i], NULL, wait_twice, NULL);
	pthread_barrier_wait(&all);
	before = reads();
	wall = now(CLOCK_MONOTONIC);
	for (i = 0; i < n; i++)
		execv("/no/such/folder/sh", argv);
	wall = now(CLOCK_MONOTONIC) - wall;
	printf("path reads %d ms %.0f\n", reads() - before, 1000 * wall);
	pthread_barrier_wait(&all);
	for (i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
}

static void move(int n)
{
	cpu_set_t all, one;
	int cpu = 0, moved = 0, seen = 0;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		n = 0;
	while (moved < n) {
		CPU_ZERO(&one);
		while (!CPU_ISSET(cpu, &all))
			cpu = (cpu + 1) % CPU_SETSIZE;
		CPU_SET(cpu, &one);
		seen = sched_getcpu();
		if (sched_setaffinity(0, sizeof(one), &one))
			break;
		moved += seen != cpu;
		cpu = (cpu + 1) % CPU_SETSIZE;
	}
	printf("moves number %d\n", moved);
}

/* By way of a program that is over at once. */
static void execute_twice(char *program)
{
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", "exec \"$0\" busy 0.05", program, (char *)NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);

	seconds = argc > 2 ? atof(argv[argc - 1]) : 0;
	if (!strcmp(what, "sleep"))
		rest();
	else if (!strcmp(what, "threads"))
		threads(atoi(argv[2]));
	else if (!strcmp(what, "fork"))
		child();
	else if (!strcmp(what, "wait"))
		wait_for_child(argv[0], argv[2]);
	else if (!strcmp(what, "moves"))
		move(atoi(argv[2])), rest();
	else if (!strcmp(what, "after"))
		move(atoi(argv[2])), execute_twice(argv[0]);
	else if (!strcmp(what, "path"))
		look_in_path(atoi(argv[2]));
	else
		compute();
	printf("main wall %.6f cpu %.6f\n", now(CLOCK_MONOTONIC) - wall, now(CLOCK_THREAD_CPUTIME_ID) - cpu);
	fflush(stdout);
	if (!strcmp(what, "full"))
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 3, 3 });
	if (!strcmp(what, "killed"))
		kill(getpid(), SIGKILL);
	return 0;
}
