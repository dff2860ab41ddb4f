/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that allows itself files of so many bytes only, and leaves SIGXFSZ and SIGPIPE to do what
 * they do by default: limited BYTES. With a second argument both are pending all the time.
 */
#include "trouble.h"

#include <signal.h>
#include <sys/resource.h>

static __attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

/* Fills its buffer, for which there is no room on the disk, while both signals wait to be taken. */
static void keep_pending(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGPIPE);
	MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGXFSZ) == 0 && raise(SIGPIPE) == 0);
	for (int i = 0; i < 20000; i++)
		work();
	MUST(sigpending(&set) == 0 && sigismember(&set, SIGXFSZ) && sigismember(&set, SIGPIPE));
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 0, 0 };

	limit.rlim_cur = limit.rlim_max = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	if (argc > 2)
		keep_pending();
	say("work is done\n");
	return 3;
}
