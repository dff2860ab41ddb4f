/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses every macro of vt_user.h, in two threads and a forked child, and prints what the trace must
 * hold, for facts.py. Limits: prints before it does it; facts that gputrace adds are not listed.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt_user.h"

static unsigned int solve, ring;

static void leaf(const char *name)
{
	VT_USER_START(name);
	VT_USER_END(name);
}

static void regions(void)
{
	char name[32];

	puts("calls\tliteral\t10");
	puts("calls\tstep 0\t3\ncalls\tstep 1\t3\ncalls\tstep 2\t3");
	printf("region\tsolve\tSolver\tsolve.c\t12\nregion\tliteral\tApplication\t%s\t%d\n", __FILE__,
	       __LINE__ + 2);
	for (int i = 0; i < 10; i++) {
		VT_USER_START("literal");
		VT_USER_END("literal");
	}
	for (int i = 0; i < 9; i++) { /* one buffer, other texts */
		snprintf(name, sizeof(name), "step %d", i % 3);
		leaf(name);
	}
	puts("calls\tsolve\t5"); /* two of them in the child */
	for (int i = 0; i < 3; i++) {
		VT_USER_START2(solve);
		VT_USER_END2(solve);
	}
	puts("calls\touter\t1\ncalls\tinner\t1\ncalls\tafter\t1");
	VT_USER_START("outer");
	VT_USER_START("inner");
	VT_USER_END("outer"); /* closes both */
	leaf("after");
}

static void counters(void)
{
	unsigned int group = VT_COUNT_GROUP_DEF("Numbers");
	unsigned int s = VT_COUNT_DEF("signed", "bytes", VT_COUNT_TYPE_SIGNED, group);
	unsigned int u = VT_COUNT_DEF("unsigned", "1", VT_COUNT_TYPE_UNSIGNED, group);
	unsigned int f = VT_COUNT_DEF("float", "m", VT_COUNT_TYPE_FLOAT, VT_COUNT_DEFGROUP);
	unsigned int d = VT_COUNT_DEF("double", "s", VT_COUNT_TYPE_DOUBLE, VT_COUNT_DEFGROUP);

	puts("metric\tsigned\tbytes\tINT64\t5\t-9223372036854775807\t2\t2");
	puts("metric\tunsigned\t1\tUINT64\t5\t0\t18446744073709551615\t18446744073709551615");
	puts("metric\tfloat\tm\tDOUBLE\t5\t-1.0\t1.0\t1.0");
	puts("metric\tdouble\ts\tDOUBLE\t5\t-0.5\t0.5\t0.5");
	for (int i = -2; i <= 2; i++) {
		VT_COUNT_SIGNED_VAL(s, i == -2 ? -9223372036854775807LL : i);
		VT_COUNT_UNSIGNED_VAL(u, i == 2 ? 18446744073709551615ULL : (unsigned)(i + 2));
		VT_COUNT_FLOAT_VAL(f, (float)i / 2);
		VT_COUNT_DOUBLE_VAL(d, i / 4.0);
	}
}

static void markers(void)
{
	unsigned int e = VT_MARKER_DEF("trouble", VT_MARKER_TYPE_ERROR);
	unsigned int w = VT_MARKER_DEF("doubt", VT_MARKER_TYPE_WARNING);
	unsigned int h = VT_MARKER_DEF("idea", VT_MARKER_TYPE_HINT);

	puts("marker\ttrouble\tHIGH\tdisk is full\nmarker\tdoubt\tMEDIUM\tslow\nmarker\tidea\tLOW\t");
	VT_MARKER(e, "disk is full");
	VT_MARKER(w, "slow");
	VT_MARKER(h, "");
	puts("property\tevery.c, a comment about the run\ncomment\tin the middle");
	VT_COMMENT_DEF("every.c, a comment about the run");
	VT_COMMENT("in the middle");
}

static void *partner(void *arg)
{
	VT_USER_START("partner");
	VT_RECV(VT_COMM_WORLD, 100, 8);
	for (unsigned int tag = 0; tag < 4; tag++)
		VT_MSG_SEND(ring, tag, 1000 + tag);
	VT_USER_END("partner");
	return arg;
}

static void messages(void)
{
	pthread_t thread;

	ring = VT_MSG_COMM_DEF("ring");
	puts("calls\tpartner\t1\nmessage\tVT_COMM_WORLD\t100\t1");
	for (unsigned int tag = 0; tag < 4; tag++)
		printf("message\t%s\t%u\t1\n", "ring", tag);
	puts("bytes\t4014\t4014");
	VT_SEND(VT_COMM_WORLD, 100, 8);
	if (pthread_create(&thread, NULL, partner, NULL))
		exit(1);
	pthread_join(thread, NULL);
	for (unsigned int tag = 0; tag < 4; tag++)
		VT_MSG_RECV(ring, tag, 1000 + tag);
}

static void control(void)
{
	puts("calls\trewound\t0\ncalls\tkept\t2\ncalls\thidden\t0\ncalls\tseen\t1");
	VT_BUFFER_FLUSH();
	VT_TIMESYNC();
	VT_UPDATE_COUNTER();
	leaf("kept");
	VT_SET_REWIND_MARK();
	for (int i = 0; i < 100; i++)
		leaf("rewound");
	VT_REWIND();
	leaf("kept");
	if (!VT_IS_ON())
		puts("calls\tVT_IS_ON is 0 while on\t1");
	VT_OFF();
	if (VT_IS_ON())
		puts("calls\tVT_IS_ON is 1 while off\t1");
	for (int i = 0; i < 100; i++)
		leaf("hidden");
	VT_ON();
	if (!VT_IS_ON())
		puts("calls\tVT_IS_ON is 0 after VT_ON\t1");
	leaf("seen");
}

static void child(void)
{
	pid_t pid;

	puts("calls\tchild\t1");
	fflush(stdout);
	pid = fork();
	if (pid)
		waitpid(pid, NULL, 0);
	if (pid)
		return;
	VT_USER_START("child");
	for (int i = 0; i < 2; i++) {
		VT_USER_START2(solve);
		VT_USER_END2(solve);
	}
	VT_USER_END("child");
	VT_USER_END("whole");
	exit(0);
}

int main(void)
{
	puts("calls\twhole\t1");
	solve = VT_USER_DEF("solve", "Solver", "solve.c", 12);
	VT_USER_START("whole");
	regions();
	counters();
	markers();
	messages();
	control();
	child();
	VT_USER_END("whole");
	return 0;
}
