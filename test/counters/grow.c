/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds more and more memory for a while and says how much the kernel sees in the end. Argument: "fork": a
 * child does the same; "exec": tries to become what is not there; "signals": how many threads take a signal
 * that is sent to the process while all of its own block it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEPS 10
#define BYTES (4 << 20)

static volatile sig_atomic_t taken;

static void take(int unused)
{
	(void)unused;
	taken++;
}

__attribute__((noinline)) static void grow(void)
{
	const struct timespec pause = { 0, 20000000 };
	volatile char *block = malloc(BYTES);

	for (int i = 0; i < BYTES; i += 1024)
		block[i] = 1;
	nanosleep(&pause, NULL);
}

static long resident(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pid_t child = 0;
	sigset_t set;

	if (!strcmp(what, "exec"))
		execl("/nonexistent", "nothing", (char *)NULL);
	if (!strcmp(what, "fork"))
		child = fork();
	if (!strcmp(what, "signals")) {
		signal(SIGUSR1, take);
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		kill(getpid(), SIGUSR1);
	}
	for (int i = 0; i < STEPS; i++)
		grow();
	if (child > 0)
		waitpid(child, NULL, 0);
	printf("resident %ld\ntaken %d\n", resident(), (int)taken);
	fflush(stdout);
	return 0;
}
