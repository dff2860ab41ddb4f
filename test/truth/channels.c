/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose processes and threads pass data on through pipes, pairs of sockets and eventfds, and wait
 * for each other there: channels NAME. What they do are sleeps that nobody records inside of functions that
 * are recorded: no processor is needed for them.
 *
 * Limits: a sleep ends when there is a processor: the functions have what comes on top.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 20, LARGE = 1 << 16, SMALL = 64 };
#define SLEEP(ms) syscall(SYS_nanosleep, &(struct timespec){ 0, (ms) * 1000000 }, NULL)
#define WORKS(NAME, ms)                                  \
	static __attribute__((noinline)) void NAME(void) \
	{                                                \
		SLEEP(ms);                               \
	}

WORKS(slow_part, 20)
WORKS(quick_part, 4)
WORKS(tiny_part, 1)
WORKS(other_part, 20)
WORKS(last_part, 150)

static void both_parts(void)
{
	quick_part();
	tiny_part();
}

static void (*const parts[])(void) = { slow_part, quick_part, tiny_part, both_parts };
enum part { SLOW, QUICK, TINY, BOTH };

/* Reads `size` bytes. False: there are no more. */
static int get(int from, char *to, size_t size)
{
	for (size_t all = 0; all < size;) {
		ssize_t some = read(from, to + all, size - all);

		if (some <= 0)
			return 0;
		all += (size_t)some;
	}
	return 1;
}

struct stage {
	int in, out; /* -1: none */
	enum part part;
	size_t size, items;
};

static void run_stage(const struct stage *stage)
{
	char *item = calloc(1, stage->size);

	for (size_t i = 0; i < stage->items; i++) {
		if (stage->in >= 0 && !get(stage->in, item, stage->size))
			break;
		parts[stage->part]();
		if (stage->out >= 0 && write(stage->out, item, stage->size) < 0)
			break;
	}
	free(item);
}

static void *run_in_thread(void *stage)
{
	run_stage(stage);
	return NULL;
}

/* `count` stages: the last one is this process, the others are children or threads. */
static void pipeline(struct stage *stages, int count, int threads)
{
	pthread_t thread[4];
	int ends[2];

	for (int i = 0; i < count - 1; i++) {
		if (pipe(ends))
			exit(1);
		stages[i].out = ends[1];
		stages[i + 1].in = ends[0];
		if (threads) {
			pthread_create(&thread[i], NULL, run_in_thread, &stages[i]);
		} else if (!fork()) {
			close(ends[0]);
			run_stage(&stages[i]);
			exit(0);
		} else {
			close(ends[1]);
		}
	}
	run_stage(&stages[count - 1]);
	for (int i = 0; i < count - 1; i++)
		threads ? pthread_join(thread[i], NULL) : (int)wait(NULL);
}

static void two_stages(enum part one, enum part other, size_t size, size_t items, int threads)
{
	pipeline((struct stage[]){ { -1, -1, one, size, items }, { -1, -1, other, size, items } }, 2,
		 threads);
}

static void three_stages(void)
{
	pipeline((struct stage[]){ { -1, -1, QUICK, LARGE, ITEMS }, { -1, -1, SLOW, LARGE, ITEMS },
				   { -1, -1, TINY, LARGE, ITEMS } }, 3, 0);
}

/* Requests and replies. */
static void pair_of_sockets(void)
{
	int ends[2];
	char byte = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	if (!fork()) {
		close(ends[0]);
		while (read(ends[1], &byte, 1) == 1) {
			slow_part();
			if (write(ends[1], &byte, 1) != 1)
				break;
		}
		exit(0);
	}
	close(ends[1]);
	for (int i = 0; i < ITEMS; i++) {
		quick_part();
		if (write(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			break;
	}
	close(ends[0]);
	wait(NULL);
}

static int work, done;

static void *serve_events(void *unused)
{
	uint64_t number = 1;

	for (int i = 0; i < ITEMS && read(work, &number, sizeof(number)) > 0; i++) {
		slow_part();
		if (write(done, &(uint64_t){ 1 }, sizeof(number)) < 0)
			break;
	}
	return unused;
}

static void events(void)
{
	uint64_t number;
	pthread_t thread;

	work = eventfd(0, EFD_CLOEXEC);
	done = eventfd(0, EFD_CLOEXEC);
	pthread_create(&thread, NULL, serve_events, NULL);
	for (int i = 0; i < ITEMS; i++) {
		quick_part();
		if (write(work, &(uint64_t){ 1 }, sizeof(number)) < 0 ||
		    read(done, &number, sizeof(number)) < 0)
			break;
	}
	pthread_join(thread, NULL);
}

/* One writes while the other works: the reader waits for both in turn, because they wait for each other. */
static void two_writers(void)
{
	int items[2], turn[2][2];
	char byte = 0;

	if (pipe(items) || pipe(turn[0]) || pipe(turn[1]))
		exit(1);
	for (int me = 0; me < 2; me++) {
		if (fork())
			continue;
		for (int i = 0; i < ITEMS / 2 && (me == 0 && i == 0 || read(turn[me][0], &byte, 1) == 1);
		     i++) {
			me ? other_part() : slow_part();
			if (write(items[1], &byte, 1) != 1 || write(turn[!me][1], &byte, 1) != 1)
				break;
		}
		exit(0);
	}
	for (int i = 0; i < ITEMS && read(items[0], &byte, 1) == 1; i++)
		tiny_part();
	wait(NULL);
	wait(NULL);
}

/* Nothing is written. */
static void no_data(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		exit(1);
	if (!fork()) {
		close(ends[0]);
		last_part();
		exit(0);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) == 0)
		quick_part();
	wait(NULL);
}

/* What the child prints is in its buffer until it ends. */
static void printed(void)
{
	int ends[2];
	char line[64];

	if (pipe(ends))
		exit(1);
	if (!fork()) {
		FILE *file = fdopen(ends[1], "w");

		close(ends[0]);
		slow_part();
		fprintf(file, "a line\n");
		last_part();
		exit(0);
	}
	close(ends[1]);
	if (fgets(line, sizeof(line), fdopen(ends[0], "r")))
		quick_part();
	wait(NULL);
}

/* Who writes is a program that is not recorded. */
static void unknown(void)
{
	FILE *file = popen("exec env -i sh -c 'sleep 0.1; echo a line; sleep 0.1; echo another'", "r");
	char line[64];

	while (fgets(line, sizeof(line), file))
		quick_part();
	pclose(file);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "slow_writer"))
		two_stages(SLOW, QUICK, SMALL, ITEMS, 0);
	else if (!strcmp(name, "slow_reader"))
		two_stages(QUICK, SLOW, LARGE, ITEMS, 0);
	else if (!strcmp(name, "far_ahead"))
		two_stages(TINY, BOTH, SMALL, 5 * ITEMS, 0);
	else if (!strcmp(name, "threads"))
		two_stages(SLOW, QUICK, SMALL, ITEMS, 1);
	else if (!strcmp(name, "three_stages"))
		three_stages();
	else if (!strcmp(name, "sockets"))
		pair_of_sockets();
	else if (!strcmp(name, "events"))
		events();
	else if (!strcmp(name, "two_writers"))
		two_writers();
	else if (!strcmp(name, "no_data"))
		no_data();
	else if (!strcmp(name, "printed"))
		printed();
	else if (!strcmp(name, "unknown"))
		unknown();
	else
		return 2;
	return 0;
}
