/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the awkward library and prints what comes back.
 *
 * Limits: argument "longjmp" leaves a wrapped call by longjmp, "exit" ends inside of one; "threads"
 * calls one function for the first time in eight threads at once.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "awkward.h"
#undef macro_parameter
#undef sp_macro

void calls(void);
static jmp_buf out;

static int twice(int a)
{
	return 2 * a;
}

static int thrice(int a)
{
	return 3 * a;
}

static int (*choose(int a))(int)
{
	return a > 5 ? thrice : twice;
}

static int add(int depth, void *data)
{
	*(int *)data += depth;
	return depth * depth;
}

static int jump(int depth, void *data)
{
	(void)data;
	if (depth == 1)
		longjmp(out, 1);
	return 0;
}

static void *thread(void *barrier)
{
	unsigned long n = 0;

	pthread_barrier_wait(barrier);
	for (int i = 0; i < 1000; i++)
		n += sp_thread(i);
	return (void *)n;
}

static void threads(void)
{
	pthread_barrier_t barrier;
	pthread_t ids[8];
	void *n;

	pthread_barrier_init(&barrier, NULL, 8);
	for (int i = 0; i < 8; i++)
		pthread_create(&ids[i], NULL, thread, &barrier);
	for (int i = 0; i < 8; i++) {
		pthread_join(ids[i], &n);
		number((long)n);
	}
}

int main(int argc, char **argv)
{
	char text[64];
	int grid[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9 } }, b[2][5] = { { 0 }, { 1, 2, 3, 4, 5 } };
	int sum = 0, value = 41;
	double c[2] = { 1, 6 };
	char *memory;

	(void)argc;
	calls();
	say("special");
	number(sp_printf(text, sizeof(text), "%d %s %.3f %Lf %c", 5, "five", 5.5, 5.25L, 'v'));
	bytes(text, strlen(text));
	number(sp_sum(3, 1, 2, 3));
	number(sp_old(7, 8));
	number(sp_array(1, (int[]){ 2, 3, 4 }, b, c));
	number(sp_pick(twice, choose)(100));
	number((*sp_rows(&grid))[3]);
	number(sp_typed((struct aw_opaque *)5, "a", 1, 2));
	number((long)sp_hypot(3, 4) + (long)sp_atan(8, 2));
	number(sp_const_result(5, &value));
	number(sp_deprecated(5));
	number(sp_nonnull(&value));
	number(sp_const(3, 4));
	memory = sp_malloc(10);
	bytes(memory, 10);
	free(memory);
	number(sp_walk(4, add, &sum));
	number(sum);
	number(sp_nested(9));
	number(sp_renamed(9));
	number(sp_inline(9));
	number(sp_vla(2, (double[2][2]){ { 1, 2 }, { 3, 4 } }));
	number(sp_keywords(1, 2, 3, 4, 5, 6, 7));
	number(sp_macro(5, 6));
	errno = 17;
	number(sp_errno(23));
	number(errno);
	number((long)sp_static_name(7.5f, 0.5f));
	threads();
	if (strstr(argv[1], "longjmp") && !setjmp(out))
		sp_walk(3, jump, NULL);
	number(sp_const(1, 1));
	if (strstr(argv[1], "exit"))
		sp_gone(5);
	putchar('\n');
	return 0;
}
