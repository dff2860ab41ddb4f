/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks while a library's handler ends a thread: the thread records and gives its location back while
 * the fork is on its way.
 *
 * Limits: goes with fork_lib.c.
 */
#include "trouble.h"

#include <sys/wait.h>

void server_start(void);
void server_end(void);
int server_calls(void);

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

UNSEEN int main(void)
{
	int i, status;

	server_start();
	for (i = 0; i < 5; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (pid == 0) {
			work(i);
			server_start();
			server_end();
			say("calls work 1\ncalls serve %d\n", server_calls());
			return 0;
		}
		MUST(waitpid(pid, &status, 0) == pid && status == 0);
		work(i);
	}
	server_end();
	say("calls work 5\ncalls serve %d\n", server_calls());
	return 0;
}
