/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/record/callstack.c: sequences of enters and leaves, and which of them are recorded.
 *
 * Limits: functions are regions here, so that their names are free to choose.
 */
#include "test/unit/double_core.h"
#include "lib/record/callstack.h"
#include "lib/record/verdict.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gt_callstack *track;
static bool never[128]; /* regions whose verdict is DROP: they are not even defined */

/* Functions are single letters; the key of 'a' is region 'a'. */
static void set_up(const char *rules, int64_t max_depth)
{
	char path[] = "/tmp/gt-callstack-XXXXXX";

	gt_settings_load(NULL, NULL);
	gt_settings.max_stack_depth = max_depth;
	if (rules) {
		int fd = mkstemp(path);

		cr_assert_eq(write(fd, rules, strlen(rules)), (ssize_t)strlen(rules));
		close(fd);
		gt_settings.filter_spec = path;
	}
	gt_verdict_setup(NULL);
	if (rules)
		unlink(path);
	for (char c = 'a'; c <= 'z'; c++) {
		char name[2] = { c, 0 };
		uint32_t ticket;
		enum gt_verdict verdict =
			gt_verdict_region(name, NULL, c < 'm' ? "EARLY" : "LATE", &ticket);

		never[(int)c] = verdict == GT_VERDICT_DROP;
		if (verdict == GT_VERDICT_ASK)
			gt_verdict_region_made((uint32_t)c, ticket);
	}
	track = gt_callstack_new();
	cr_assert(track);
}

/*
 * "a(b()c())" calls a, which calls b and c. Returns the same text without what was not recorded.
 * "!" forgets the innermost call without a leave, as an exception may.
 */
static const char *play(const char *script)
{
	static char result[4096];
	char stack[1024], *out = result;
	int depth = 0;

	for (const char *c = script; *c; c++) {
		switch (*c) {
		case '(':
			break;
		case '!':
			depth--;
			break;
		case ')':
			depth--;
			if (!never[(int)stack[depth]] &&
			    gt_callstack_leave(track, GT_VERDICT_REGION((uint32_t)stack[depth]), 0))
				*out++ = ')';
			break;
		default:
			stack[depth++] = *c;
			if (!never[(int)*c] &&
			    gt_callstack_enter(track, GT_VERDICT_REGION((uint32_t)*c), NULL)) {
				*out++ = *c;
				*out++ = '(';
			}
		}
	}
	*out = '\0';
	return result;
}

static const struct {
	const char *rules;
	int64_t depth;
	const char *script, *expect;
} plays[] = {
	/* call limits, per function */
	{ "b -- 2", 0, "a(b()b()b()b())", "a(b()b())" },
	{ "b -- 2", 0, "a(b(b(b(c()))))", "a(b(b(c())))" },
	{ "b;c -- 1", 0, "b()c()b()c()", "b()c()" },
	{ "* -- 1", 0, "a(b()b()c())a()", "a(b()c())" },
	{ "b -- -1\n* -- 1 S:9", 0, "a(b()b()c()c())", "a(b()b()c())" },
	{ "LATE -- 1 G", 0, "a(m()m()n()n())a()", "a(m()n())a()" },
	/* levels; what is not recorded counts as a level */
	{ "* -- -1 S:2", 0, "a(b(c(d())e()))", "a(b())" },
	{ "* -- -1 S:2-3", 0, "a(b(c(d()))e())", "b(c())e()" },
	{ "b -- 0\n* -- -1 S:2", 0, "a(b(c())d())", "a(d())" },
	{ "c -- 3 S:3", 0, "a(b(c()c())c())", "a(b(c()c())c())" },
	{ "c -- 1 S:3-3", 0, "c()a(c()b(c()c()))", "a(b(c()))" },
	{ "b -- 0 S:5", 0, "a(b(c()))", "a(c())" }, /* S: means nothing to 0 */
	{ NULL, 2, "a(b(c(d())))", "a(b())" },
	{ NULL, 1, "a(b())c(d())", "a()c()" },
	{ "b -- -1 S:3", 2, "a(b()c(b()d()))", "a(b()c())" },
	/* callees */
	{ "b -- 0 R", 0, "a(b(c(d())))e()", "a()e()" },
	{ "b -- 1 R", 0, "a(b(c())b(c())c())", "a(b(c())c())" },
	{ "b -- 0 R\nc -- -1", 0, "b(c())c()", "c()" },
	{ "b -- 0 R\nc -- 0", 0, "a(c(d())b(d()))", "a(d())" },
	{ "b -- -1 S:1 R", 0, "a(b(c()))b(c())", "a()b(c())" },
	{ "EARLY -- 0 R G", 0, "m(a(n())n())", "m(n())" },
	/* call paths: the whole stack, exactly */
	{ "a;b -- 0 C", 0, "a(b()c(b()))b()", "a(c(b()))b()" },
	{ "a;b -- 1 C", 0, "a(b()b()b())", "a(b())" },
	{ "a;b -- 0 C R", 0, "a(b(c())c())", "a(c())" },
	{ "a;b;c -- -1 C\n* -- 0", 0, "a(b(c()d())c())", "c()" },
	{ "a;b -- -1 C\nb -- 1", 0, "a(b()b())b()", "a(b()b())" },
	{ "a;b;a -- 0 C", 0, "a(b(a(b(a()))))", "a(b(b(a())))" },
	/* ends without a leave: the outer leave finds its enter */
	{ "b -- 1", 0, "a(b(b!c()!d())e()", "a(b(c()d())e()" },
	{ "* -- -1 S:2", 0, "a(b(c!!d())e()", "a(b()e()" },
	{ "c -- 0 R", 0, "a(b(c(d!!)e())", "a(b()e())" },
};

/* Each in a child, since a filter can be set up only once. */
Test(track, all_plays, .timeout = 60)
{
	for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
		char got[4096] = "";
		int pipes[2], status;
		pid_t child;

		cr_assert_eq(pipe(pipes), 0);
		child = fork();
		if (!child) {
			const char *result;

			set_up(plays[i].rules, plays[i].depth);
			result = play(plays[i].script);
			if (write(pipes[1], result, strlen(result)) < 0)
				_exit(1);
					_exit(0);
		}
		close(pipes[1]);
		for (size_t used = 0;;) {
			ssize_t n = read(pipes[0], got + used, sizeof(got) - 1 - used);

			if (n <= 0)
				break;
			used += (size_t)n;
		}
		close(pipes[0]);
		waitpid(child, &status, 0);
		cr_expect_eq(status, 0);
		cr_expect_str_eq(got, plays[i].expect, "\"%s\" (%ld) makes of %s: %s",
				 plays[i].rules ? plays[i].rules : "", (long)plays[i].depth,
				 plays[i].script, got);
	}
}

#define KEY(letter) GT_VERDICT_REGION((uint32_t)(letter))

static bool enter(uint64_t key, uintptr_t frame, uintptr_t site)
{
	struct gt_callstack_frame at = { .frame = frame, .site = site };

	return gt_callstack_enter(track, key, frame ? &at : NULL);
}

/* Exceptions in a loop, without exit hooks: the frames tell that the calls are dead. */
Test(track, dead_frames)
{
	set_up("* -- -1 S:3", 0);
	cr_expect(enter(KEY('a'), 10000, 1));
	for (int i = 0; i < 1000; i++) {
		cr_expect(enter(KEY('b'), 9000, 1));
		cr_expect(enter(KEY('c'), 8000, 1));
		cr_expect_not(enter(KEY('d'), 7000, 1));
		/* thrown from d to a */
	}
	cr_expect(gt_callstack_leave(track, KEY('a'), 10000));
	cr_expect(enter(KEY('e'), 10000, 1));
	cr_expect(gt_callstack_leave(track, KEY('e'), 10000));
}

/* A frame far away is another stack: nothing on this one is dead. */
Test(track, other_stack)
{
	set_up("* -- -1 S:3", 0);
	cr_expect(enter(KEY('a'), 10000, 1));
	cr_expect(enter(KEY('b'), 9000, 1));
	cr_expect(enter(KEY('c'), 0x7f0000000000, 1));
	cr_expect_not(enter(KEY('d'), 0x7effffffff00, 1));
	cr_expect_not(gt_callstack_leave(track, KEY('d'), 0x7effffffff00));
	cr_expect(gt_callstack_leave(track, KEY('c'), 0x7f0000000000));
	cr_expect(gt_callstack_leave(track, KEY('b'), 9000));
	cr_expect(gt_callstack_leave(track, KEY('a'), 10000));
}

/* Inlined functions share the frame of their caller, but are entered elsewhere. */
Test(track, same_frame)
{
	set_up("b -- 1", 0);
	cr_expect(enter(KEY('b'), 5000, 1));
	cr_expect_not(enter(KEY('b'), 5000, 2));
	cr_expect_not(gt_callstack_leave(track, KEY('b'), 5000));
	cr_expect(gt_callstack_leave(track, KEY('b'), 5000));
}

Test(track, leave_without_enter)
{
	set_up("* -- -1 S:1", 0);
	cr_expect(gt_callstack_leave(track, KEY('x'), 0));
	cr_expect(enter(KEY('a'), 0, 1));
	cr_expect_not(enter(KEY('b'), 0, 1));
	cr_expect(gt_callstack_leave(track, KEY('x'), 0));
	cr_expect_not(gt_callstack_leave(track, KEY('b'), 0));
	cr_expect(gt_callstack_leave(track, KEY('a'), 0));
}

/* Deeper than the track remembers: dropped, and balanced on the way back. */
Test(track, too_deep, .timeout = 20)
{
	enum { DEPTH = 200000 };

	set_up("* -- -1 S:4000000000", 0);
	for (int with_frames = 0; with_frames < 2; with_frames++) {
		uintptr_t frame = with_frames ? (uintptr_t)1 << 40 : 0;
		uint32_t recorded = 0, left = 0;

		for (int i = 0; i < DEPTH; i++)
			recorded += enter(KEY('a'), with_frames ? frame - 32 * i : 0, 1);
		for (int i = DEPTH; i-- > 0;)
			left += gt_callstack_leave(track, KEY('a'), with_frames ? frame - 32 * i : 0);
		cr_expect_eq(recorded, GT_CALLSTACK_DEPTH);
		cr_expect_eq(left, GT_CALLSTACK_DEPTH);
	}
	/* And a jump out of the depth to the outermost call. */
	cr_expect(enter(KEY('b'), 1 << 20, 1));
	for (int i = 1; i < DEPTH; i++)
		enter(KEY('a'), (uintptr_t)(1 << 20) - i, 1);
	cr_expect(gt_callstack_leave(track, KEY('b'), 1 << 20));
	cr_expect(enter(KEY('c'), 1 << 20, 1));
	cr_expect(gt_callstack_leave(track, KEY('c'), 1 << 20));
}

Test(track, no_memory_records)
{
	cr_expect(gt_callstack_enter(NULL, 1, NULL));
	cr_expect(gt_callstack_leave(NULL, 1, 0));
	gt_callstack_reset(NULL);
}

/* A location that another thread continues: the stack is new, the limit is not. */
Test(track, reset)
{
	set_up("a -- 2", 0);
	cr_expect(enter(KEY('a'), 0, 1));
	cr_expect(enter(KEY('a'), 0, 1));
	gt_callstack_reset(track);
	cr_expect_not(enter(KEY('a'), 0, 1));
	cr_expect_not(gt_callstack_leave(track, KEY('a'), 0));
}
