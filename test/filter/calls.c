/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with known numbers: main calls top 5 times; top calls mid twice and leaf once; mid calls leaf
 * 10 times. So leaf is called 105 times, mid 10 times. With an argument a second thread does it, too.
 *
 * Limits: none of the functions may be inlined.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vt_user.h>

#define KEEP __attribute__((noinline, noclone))
#ifdef __clang__
#undef KEEP
#define KEEP __attribute__((noinline))
#endif

int leaf(int x);
int mid(int x);
int top(int x);
void jumper(int x);
void over(int x);
void *thread(void *arg);

static jmp_buf back;

KEEP int leaf(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

KEEP int mid(int x)
{
	int s = 0;

	for (int i = 0; i < 10; i++)
		s += leaf(x + i);
	return s;
}

KEEP int top(int x)
{
	int s = mid(x) + mid(x + 1);

	return s + leaf(x);
}

/* Ends without a return, and so does over(). */
KEEP void jumper(int x)
{
	if (x >= 0)
		longjmp(back, 1);
}

KEEP void over(int x)
{
	jumper(x);
	leaf(x);
}

KEEP void *thread(void *arg)
{
	for (int i = 0; i < 5; i++)
		top(i);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t id;
	volatile int i;

	for (i = 0; i < 5; i++)
		top(i);
	if (argc > 1 && !strcmp(argv[1], "thread")) {
		if (pthread_create(&id, NULL, thread, NULL))
			return 1;
		pthread_join(id, NULL);
	}
	if (argc > 1 && !strcmp(argv[1], "jump")) {
		for (i = 0; i < 1000; i++) {
			if (!setjmp(back))
				over(i);
		}
		for (i = 0; i < 5; i++)
			top(i);
	}
	if (argc > 1 && !strcmp(argv[1], "regions")) {
		for (i = 0; i < 5; i++) {
			VT_USER_START("phase");
			VT_USER_START("step");
			top(i);
			VT_USER_END("step");
			VT_USER_END("phase");
		}
	}
	puts("done");
	return 0;
}
