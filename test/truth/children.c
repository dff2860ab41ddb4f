/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that run others and wait for them: children NAME. The others are this program again ("child"),
 * and shells. If WITHOUT is set, `part` does nothing: that is the run without it. What they do are sleeps
 * that nobody records inside of functions that are recorded: no processor is needed for them.
 *
 * Limits: a sleep ends when there is a processor: the functions have what comes on top.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEP(ms) syscall(SYS_nanosleep, &(struct timespec){ 0, (ms) * 1000000 }, NULL)
#define RECORDED static __attribute__((noinline))

extern char **environ;
static char *self;
static char command[4096];

RECORDED void part(void)
{
	if (!getenv("WITHOUT"))
		SLEEP(300);
}

/* Who is to wait for this process does so then: one that uses no processor may else be taken to idle. */
RECORDED void begins(void)
{
	SLEEP(40);
}

RECORDED void before(void)
{
	SLEEP(60);
}

RECORDED void after(void)
{
	SLEEP(60);
}

RECORDED void short_work(void)
{
	SLEEP(150);
}

/* printf() to run this program in a shell */
static const char *shell(const char *format)
{
	snprintf(command, sizeof(command), format, self);
	return command;
}

static void fails(const char *what)
{
	perror(what);
	exit(1);
}

static void run(const char *format)
{
	if (system(shell(format)))
		fails("system");
}

static void system_program(void)
{
	run("exec %s child");
}

static void system_shell(void)
{
	run("%s child; true");
}

static void system_deep(void)
{
	run("sh -c '%s child; true'; true");
}

static void system_static(void)
{
	run("./runs %s child; true");
}

static void *runs_short(void *unused)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s short; true", self);
	if (system(text))
		fails("system");
	return unused;
}

/* Two at once, of which the other one is over sooner. */
static void system_both(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, runs_short, NULL);
	run("%s child; true");
	pthread_join(thread, NULL);
}

static void piped(void (*meanwhile)(void))
{
	FILE *pipe = popen(shell("%s child"), "w");

	if (meanwhile)
		meanwhile();
	if (!pipe || pclose(pipe))
		fails("popen");
}

static void popen_write(void)
{
	piped(NULL);
}

static void popen_beside(void)
{
	piped(short_work);
}

static void await(pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid || status)
		fails("waitpid");
}

static char *const *arguments(void)
{
	static char *words[] = { NULL, (char *)"child", NULL };

	words[0] = self;
	return words;
}

static void spawn(void)
{
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, arguments(), environ))
		fails("posix_spawn");
	short_work();
	await(pid);
}

static void vfork_exec(void)
{
	char *const *words = arguments();
	pid_t pid = vfork();

	if (!pid) {
		execv(self, words);
		_exit(1);
	}
	await(pid);
}

static void fork_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		execv(self, arguments());
		_exit(1);
	}
	await(pid);
}

static void fork_wait(void)
{
	pid_t pid = fork();

	if (!pid) {
		begins();
		part();
		_exit(0);
	}
	await(pid);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = { { "system_program", system_program },
		    { "system_shell", system_shell },
		    { "system_deep", system_deep },
		    { "system_static", system_static },
		    { "system_both", system_both },
		    { "popen_write", popen_write },
		    { "popen_beside", popen_beside },
		    { "spawn", spawn },
		    { "vfork_exec", vfork_exec },
		    { "fork_exec", fork_exec },
		    { "fork_wait", fork_wait } };

	self = argv[0];
	if (argc > 1 && !strcmp(argv[1], "child")) {
		begins();
		part();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "short")) {
		short_work();
		return 0;
	}
	before();
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name))
			all[i].run();
	after();
	return 0;
}
