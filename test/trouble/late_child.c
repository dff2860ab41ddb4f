/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child that has recorded nothing when it ends, and calls five functions after that: its handler of
 * quick_exit() was there before gputrace's, and runs after it.
 *
 * Limits: nothing else is instrumented.
 */
#include "trouble.h"

#include <sys/wait.h>

CALLED void late_call(void)
{
	HERE();
}

UNSEEN static void at_end(void)
{
	int i;

	for (i = 0; i < 5; i++)
		late_call();
}

UNSEEN static void before_all(void)
{
	at_quick_exit(at_end);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before_all;

UNSEEN int main(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		quick_exit(0);
	waitpid(pid, &status, 0);
	_exit(status != 0);
}
