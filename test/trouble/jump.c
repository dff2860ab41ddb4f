/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * longjmp out of instrumented functions, chosen by the first argument: the exit hooks of the frames
 * that are jumped over never run.
 *
 * Limits: counts enters; nesting is the checker's business.
 */
#include "trouble.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static jmp_buf one, two;
static sigjmp_buf from_signal;
static __thread jmp_buf mine;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void bottom(jmp_buf *where)
{
	work(1);
	longjmp(*where, 1);
}

CALLED void middle(jmp_buf *where)
{
	bottom(where);
	HERE();
}

CALLED void top(jmp_buf *where)
{
	middle(where);
	HERE();
}

CALLED void over_frames(void)
{
	if (!setjmp(one))
		top(&one);
	work(2);
	HERE();
}

/* Two buffers: the inner jump lands in the middle of the chain, then the outer one leaves it. */
CALLED void inner_then_outer(void)
{
	if (!setjmp(two)) {
		over_frames();
		bottom(&one == &two ? NULL : &two);
	}
	work(3);
	HERE();
}

CALLED void on_signal(int sig)
{
	work(sig);
	siglongjmp(from_signal, 1);
}

CALLED void *in_thread(void *arg)
{
	int i;

	for (i = 0; i < 500; i++)
		if (!setjmp(mine))
			top(&mine);
	return arg;
}

CALLED int deep(int n)
{
	if (!n)
		longjmp(one, 1);
	n = deep(n - 1) + 1;
	HERE();
	return n;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "frames";
	pthread_t thread[2];
	volatile int i;

	if (!strcmp(way, "frames")) {
		for (i = 0; i < 1000; i++)
			over_frames();
		say("calls over_frames 1000\ncalls top 1000\ncalls middle 1000\ncalls bottom 1000\n");
		say("calls work 2000\n");
	} else if (!strcmp(way, "nested")) {
		for (i = 0; i < 1000; i++)
			inner_then_outer();
		say("calls inner_then_outer 1000\ncalls bottom 2000\ncalls work 4000\n");
	} else if (!strcmp(way, "deep")) {
		for (i = 0; i < 20; i++)
			if (!setjmp(one))
				deep(1000);
		say("calls deep 20020\n");
	} else if (!strcmp(way, "handler")) {
		signal(SIGUSR1, on_signal);
		for (i = 0; i < 1000; i++)
			if (!sigsetjmp(from_signal, 1))
				raise(SIGUSR1);
		work(1);
		say("calls on_signal 1000\ncalls work 1001\n");
	} else if (!strcmp(way, "segv_handler")) {
		/* Programs that probe memory: a fault, a handler, a jump. */
		signal(SIGSEGV, on_signal);
		for (i = 0; i < 1000; i++)
			if (!sigsetjmp(from_signal, 1))
				*(volatile int *)16 = 1;
		say("calls on_signal 1000\ncalls work 1000\n");
	} else if (!strcmp(way, "thread")) {
		for (i = 0; i < 2; i++)
			MUST(!pthread_create(&thread[i], NULL, in_thread, NULL));
		for (i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
		say("calls in_thread 2\ncalls top 1000\ncalls bottom 1000\ncalls work 1000\n");
	}
	return 0;
}
