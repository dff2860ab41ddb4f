/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What dlerror() has said stays, and what it will say does ("before"), while the program calls other
 * functions for the first time: a look for the next function of that name forgets both.
 *
 * Limits: functions that gputrace has in front of the C library's, as far as anybody may call them.
 */
#include "trouble.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void by_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	MUST(waitpid(pid, NULL, 0) == pid);
}

static void by_system(void)
{
	MUST(!system("true"));
}

static void by_popen(void)
{
	FILE *file = popen("true", "r");

	MUST(file && !pclose(file));
}

static void by_prctl(void)
{
	prctl(PR_SET_NAME, "told");
}

static void by_exec(void)
{
	execl("/nonexistent", "x", (char *)NULL);
}

static void by_user(void)
{
	MUST(!seteuid(geteuid()));
}

static void by_root(void)
{
	MUST(chroot("/nonexistent"));
}

static void by_wait(void)
{
	MUST(wait(NULL) == -1);
}

static void *nothing(void *arg)
{
	return arg;
}

static void by_thread(void)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, nothing, NULL));
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*call)(void);
} ways[] = {
	{ "fork", by_fork }, { "system", by_system }, { "popen", by_popen }, { "prctl", by_prctl },
	{ "exec", by_exec }, { "user", by_user },     { "root", by_root },   { "wait", by_wait },
	{ "thread", by_thread },
};

int main(int argc, char **argv)
{
	bool before = argc > 1 && !strcmp(argv[1], "before");
	char copy[256];

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const char *text = dlopen("libnowhere.so", RTLD_NOW) || before ? NULL : dlerror();

		snprintf(copy, sizeof(copy), "%s", text ? text : "");
		ways[i].call();
		text = before ? dlerror() : text;
		say("%s: %s\n", ways[i].name, text && (before || !strcmp(text, copy)) ? "there" : "gone");
	}
	return 0;
}
