/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processor time that is split in a known way: by the thread's own clock, which is asked after each turn.
 * Prints "NAME SECONDS" for each of its functions.
 *
 *	split turns MS      35 % alpha, 15 % beta, 50 % reading zeroes, in turns of MS milliseconds on
 *	                    average: samples that come once a millisecond keep step with equal turns
 *	split faults        half of it alpha, half touching new pages
 *	split threads       four threads, the n-th for n tenths of a second in a function of its own
 *	split forks         five children, each 100 ms in alpha; the last becomes another program
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Asks the clock, which is a system call, each 20 us or so. */
#define WORK(name)                                                                                 \
	__attribute__((noinline)) static double name(double seconds)                               \
	{                                                                                          \
		volatile double x = 0;                                                             \
		double begin = now(), end = begin + seconds, at;                                   \
												\
		do {                                                                               \
			for (int i = 0; i < 20000; i++)                                            \
				x += i * 1e-3;                                                     \
			at = now();                                                                \
		} while (at < end);                                                                \
		return at - begin;                                                                 \
	}
WORK(alpha)
WORK(beta)
WORK(gamma1)
WORK(delta)

static char data[1 << 20];
static double zeroes(double seconds, size_t bytes)
{
	static int fd = -1;
	double begin = now(), at;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY);
	do {
		if (read(fd, data, bytes) != (ssize_t)bytes)
			exit(1);
		at = now();
	} while (at < begin + seconds);
	return at - begin;
}

__attribute__((noinline)) static double touch(double seconds)
{
	double begin = now(), at;

	do {
		char *pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int i = 0; i < 1 << 20; i += 4096)
			pages[i] = 1;
		munmap(pages, 1 << 20);
		at = now();
	} while (at < begin + seconds);
	return at - begin;
}

static void turns(double seconds)
{
	size_t bytes = seconds > 0.01 ? sizeof(data) : sizeof(data) / 4;
	double a = 0, b = 0, z = 0, end = now() + 2, turn;
	unsigned random = 1;

	while (now() < end) {
		random = random * 1103515245 + 12345;
		turn = seconds * (0.5 + (random >> 8) / (double)(1 << 24));
		a += alpha(0.35 * turn);
		b += beta(0.15 * turn);
		z += zeroes(0.5 * turn, bytes);
	}
	printf("alpha %.6f\nbeta %.6f\nread %.6f\n", a, b, z);
}

static void faults(void)
{
	double a = 0, t = 0, end = now() + 2;

	while (now() < end) {
		a += alpha(0.01);
		t += touch(0.01);
	}
	printf("alpha %.6f\ntouch %.6f\n", a, t);
}

static double (*const functions[])(double) = { alpha, beta, gamma1, delta };
static double spent[4];
static void *thread(void *which)
{
	int n = (int)(size_t)which;

	spent[n] = functions[n](0.1 * (n + 1));
	return NULL;
}

static void threads(void)
{
	static const char *const names[] = { "alpha", "beta", "gamma1", "delta" };
	pthread_t t[4];

	for (size_t i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)i))
			exit(1);
	for (size_t i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		printf("%s %.6f\n", names[i], spent[i]);
	}
}

static void forks(char **argv)
{
	static char name[] = "next";

	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (!child) {
			alpha(0.1);
			if (i < 4)
				_exit(0);
			argv[1] = name;
			execv("/proc/self/exe", argv);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
	printf("alpha 0.5\nbeta 0.1\n");
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "turns"))
		turns(1e-3 * atof(argv[2]));
	else if (argc > 1 && !strcmp(argv[1], "faults"))
		faults();
	else if (argc > 1 && !strcmp(argv[1], "threads"))
		threads();
	else if (argc > 1 && !strcmp(argv[1], "forks"))
		forks(argv);
	else if (argc > 1 && !strcmp(argv[1], "next"))
		beta(0.1);
	else
		return 2;
	return 0;
}
