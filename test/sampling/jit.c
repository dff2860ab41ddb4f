/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A JIT compiler: makes three functions that count, says their names in /tmp/perf-PID.map, and runs them for
 * as long as asked for. Prints the map's name and the processor time of each.
 *
 * Usage: jit [exit|killed|child|own|old|late] MILLISECONDS
 *	child	a forked child runs them; own: which says another name of the second one in a map of its own
 *	old	the map is one of long ago; late: of the day after tomorrow, and it kills itself
 *
 * Limits: x86-64.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { APART = 0x400, BYTES = 11 };

/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char code[BYTES] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
static char path[64];

/* What is wrong, or not ours, stands before and behind; the last line of a place counts. */
static int write_map(uintptr_t at)
{
	FILE *map = fopen(path, "w");

	if (!map)
		return -1;
	fprintf(map, "%lx 1000 everything\n%lx b stale\n\nno line at all\n", at, at);
	fprintf(map, "%lx\n%lx 0 empty\n", at, at);
	fprintf(map, "fffffffffffffff0 20 around\n11112222333344445 10 long\n%lx -5 negative\n", at);
	fprintf(map, "%lx %x alpha\n", at, BYTES);
	fprintf(map, "0x%lx 0x%x py::beta:/src/beta.py\n", at + APART, BYTES);
	fprintf(map, "%lx %x JS:*gamma file:///src/gamma.js:12:7\n", at + 2 * APART, BYTES);
	fprintf(map, "%lx 10 unfinished", at); /* no newline: still being written */
	return fclose(map);
}

static int write_own_map(uintptr_t at)
{
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	printf("%s\n", path);
	map = fopen(path, "w");
	if (map)
		fprintf(map, "%lx %x delta\n", at + APART, BYTES);
	return map ? fclose(map) : -1;
}

static double clock_of_thread(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static __attribute__((noinline)) double run_one(void (*function)(uint64_t), double ms)
{
	double begin = clock_of_thread(), now = begin;

	for (; now < begin + ms; now = clock_of_thread())
		function(4000000); /* looking at the clock takes next to nothing */
	return now - begin;
}

static void run(uintptr_t at, double ms)
{
	static const char *const names[] = { "alpha", "beta", "gamma" };

	for (int i = 0; i < 3; i++) /* 1/2, 1/3, 1/6 */
		printf("%s %.3f\n", names[i], run_one((void (*)(uint64_t))(at + (uintptr_t)i * APART),
						      ms * (3 - i) / 6));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	bool late = !strcmp(how, "late"), own = !strcmp(how, "own");
	const time_t when = late ? time(NULL) + 2 * 86400 : 1;
	const struct timespec times[2] = { { when, 0 }, { when, 0 } };
	double ms = argc > 2 ? atof(argv[2]) : 600;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status = 0;

	if (page == MAP_FAILED)
		return 77;
	for (int i = 0; i < 3; i++)
		memcpy(page + i * APART, code, BYTES);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	printf("%s\n", path);
	fflush(stdout);
	if (write_map((uintptr_t)page) ||
	    ((late || !strcmp(how, "old")) && utimensat(AT_FDCWD, path, times, 0)))
		return 1;
	child = strcmp(how, "child") && !own ? 0 : fork();
	if (!child && own && write_own_map((uintptr_t)page))
		return 1;
	if (!child)
		run((uintptr_t)page, ms);
	else
		waitpid(child, &status, 0);
	if (late || !strcmp(how, "killed"))
		raise(SIGKILL);
	return status != 0;
}
