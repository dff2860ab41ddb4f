/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler that jumps away (a timeout) while the library looks after VT_OFF or after libraries that
 * came in: VT_OFF holds afterwards.
 *
 * Limits: whether a signal strikes in the right moment is a matter of chance; looks at the memory map
 * hold signals back and let them out at their end, which makes it sure.
 */
#include "trouble.h"

#include <vt_user.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf where;
static volatile sig_atomic_t armed;

UNSEEN static void on_alarm(int sig)
{
	(void)sig;
	if (!armed)
		return;
	armed = 0;
	siglongjmp(where, 1);
}

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int while_off(int x)
{
	HERE();
	return x + 1;
}

UNSEEN static void timer(long us, long again)
{
	struct itimerval value = { { 0, again }, { 0, us } };

	setitimer(ITIMER_REAL, &value, NULL);
}

/* Each dlopen() makes the next event look at the memory map; the timer runs out meanwhile. */
UNSEEN static void jump_out_of_looks(void)
{
	volatile int i;

	for (i = 0; i < 20; i++) {
		if (sigsetjmp(where, 1))
			continue;
		MUST(dlopen("libm.so.6", RTLD_NOW));
		armed = 1;
		timer(30, 0);
		work(i);
		while (armed)
			HERE();
	}
}

UNSEEN static void jump_while_off(void)
{
	volatile int i;

	timer(200, 200);
	for (i = 0; i < 200; i++) {
		if (sigsetjmp(where, 1))
			continue;
		armed = 1;
		for (;;)
			while_off(i);
	}
	timer(0, 0);
	armed = 0;
}

UNSEEN int main(void)
{
	int i;

	signal(SIGALRM, on_alarm);
	jump_out_of_looks();
	VT_OFF();
	for (i = 0; i < 1000; i++)
		while_off(i);
	jump_while_off();
	for (i = 0; i < 1000; i++)
		while_off(i);
	VT_ON();
	for (i = 0; i < 10; i++)
		work(i);
	say("calls while_off 0\natleast work 10\n");
	return 0;
}
