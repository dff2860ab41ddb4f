/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that stands still at a known place: each of its two threads calls a function a number of times;
 * it gives a counter seven values, the last is -42, says on stdout who it is, and both wait in stand_still(),
 * one of them in a region below it that has a linker's name only, until stdin ends. Arguments: calls, then
 * what it does before: exec, fork, user (becomes another one), or nothing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gputrace/adapter.h>
#include <vt_user.h>

static long calls;
static volatile long count;
static int standing;
static gt_ref step;

__attribute__((noinline)) static void leaf(void)
{
	count++;
}

__attribute__((noinline)) static void stand_still(int first)
{
	char byte;

	if (!first)
		gt_enter(step);
	__atomic_add_fetch(&standing, 1, __ATOMIC_SEQ_CST);
	while (first && __atomic_load_n(&standing, __ATOMIC_SEQ_CST) < 2)
		usleep(1000);
	if (first) {
		printf("%d\n", getpid());
		fflush(stdout);
	}
	while (read(0, &byte, 1) > 0)
		;
	if (!first)
		gt_leave(step);
}

__attribute__((noinline)) static void *other(void *unused)
{
	for (long i = 0; i < calls; i++)
		leaf();
	stand_still(0);
	return unused;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	unsigned counter;
	pthread_t thread;

	calls = argc > 1 ? atol(argv[1]) : 0;
	if (!strcmp(what, "exec")) {
		leaf();
		execl(argv[3], argv[3], argv[1], (char *)NULL);
		return 1;
	}
	if (!strcmp(what, "user") && setuid(65534))
		return 1;
	if (!strcmp(what, "fork") && fork()) {
		wait(NULL);
		return 0;
	}
	step = gt_def_region(&(struct gt_region_info){ .bytes = sizeof(struct gt_region_info),
						       .canonical = "_ZN6domain4stepEi" });
	counter = VT_COUNT_DEF("level", "cm", VT_COUNT_TYPE_SIGNED, VT_COUNT_DEFGROUP);
	pthread_create(&thread, NULL, other, NULL);
	for (long i = 0; i < calls; i++)
		leaf();
	for (int i = 1; i <= 7; i++)
		VT_COUNT_SIGNED_VAL(counter, -6 * i);
	stand_still(1);
	pthread_join(thread, NULL);
	return 0;
}
