/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints everything that a program can see of its process and that tracing must not change: signal
 * dispositions and mask, umask, current folder, descriptors, environment, limits, name.
 *
 * Limits: leaves out what differs from run to run (pids, addresses) and the variables that gputrace run
 * sets: LD_PRELOAD, VT_RUN_DIR, VT_RUN_FILTERS, and those of adapters.def.
 */
#include "trouble.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

extern char **environ;

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

UNSEEN static void signals(void)
{
	struct sigaction sa;
	sigset_t mask;
	int sig;

	for (sig = 1; sig < 65; sig++)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler != SIG_DFL)
			say("signal %d: %s\n", sig, sa.sa_handler == SIG_IGN ? "ignored" : "handled");
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (sig = 1; sig < 65; sig++)
		if (sigismember(&mask, sig) == 1)
			say("signal %d: blocked\n", sig);
}

/* Descriptors that a program would see, reuse or hand on: low ones, or not close-on-exec. */
UNSEEN static void descriptors(void)
{
	struct rlimit limit;
	int fd, flags, low;

	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit.rlim_cur < 1600 ? (int)limit.rlim_cur / 8 : 200;

	for (fd = 0; fd < 65536; fd++) {
		flags = fcntl(fd, F_GETFD);
		if (flags < 0)
			continue;
		if (fd < low || !(flags & FD_CLOEXEC))
			say("descriptor %d%s\n", fd, flags & FD_CLOEXEC ? " close-on-exec" : "");
	}
	fd = open("/dev/null", O_RDONLY);
	say("the next descriptor is %d\n", fd);
	close(fd);
}

/* Those that gputrace run sets, and the shell's own. */
UNSEEN static int expected(const char *entry)
{
	static const char *const names[] = {
		"LD_PRELOAD", "VT_RUN_DIR", "VT_RUN_FILTERS", "_",
#define GT_ADAPTER(library, always, asked, linked, inject, what) inject,
#define GT_LOADED_WITH(library, file, variable, asked, what) variable,
#include "../../registry/adapters.def"
	};
	size_t i, n = strcspn(entry, "=");

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *at = names[i];

		for (; *at; at += strcspn(at, " /"), at += *at != 0)
			if (strcspn(at, " /") == n && !strncmp(at, entry, n))
				return 1;
	}
	return 0;
}

UNSEEN static void environment(void)
{
	char *list[1000];
	size_t n = 0, i;

	for (i = 0; environ[i] && n < 1000; i++)
		if (!expected(environ[i]))
			list[n++] = environ[i];
	qsort(list, n, sizeof(list[0]), by_text);
	for (i = 0; i < n; i++)
		say("%s\n", list[i]);
}

UNSEEN static void rest(char **argv)
{
	static const char *const fields[] = { "SigQ", "SigBlk", "SigIgn", "SigCgt", "ShdPnd",
					      "NoNewPrivs", "Seccomp", "Threads", "Umask", "Name" };
	char text[4096], name[32] = "";
	struct rlimit limit;
	FILE *f = fopen("/proc/self/status", "r");
	size_t i;
	mode_t mask = umask(0);

	umask(mask);
	say("umask %o\n", mask);
	say("folder %s\n", getcwd(text, sizeof(text)));
	prctl(PR_GET_NAME, name);
	say("name %s, dumpable %d\n", name, prctl(PR_GET_DUMPABLE));
	for (i = 0; i < RLIM_NLIMITS; i++)
		if (!getrlimit((__rlimit_resource_t)i, &limit))
			say("limit %zu: %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			    (unsigned long long)limit.rlim_max);
	while (fgets(text, sizeof(text), f))
		for (i = 1; i < sizeof(fields) / sizeof(fields[0]); i++)
			if (!strncmp(text, fields[i], strlen(fields[i])))
				say("%s", text);
	fclose(f);
	say("scheduler %d, priority %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
	say("errno at start %d, stdin at %ld\n", errno, (long)lseek(0, 0, SEEK_CUR));
	while (*++argv)
		say("argument <%s>\n", *argv);
}

int main(int argc, char **argv)
{
	int first_errno = errno;

	(void)argc;
	work(1);
	say("errno %d\n", first_errno);
	errno = 0;
	signals();
	descriptors();
	environment();
	rest(argv);
	return 21;
}
