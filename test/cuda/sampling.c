/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels on the fake device for a while, in one or more processes. Arguments: how, milliseconds.
 * Limits: the fake's second device has no kernels.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

static void work(int ms)
{
	for (int i = 0; i < ms; i += 10) {
		cudaLaunchKernel("_Z4workv", 2000, 32, (void *)13);
		cuCtxSynchronize();
		usleep(8000);
	}
}

/* Another context, on the second device. */
static void second_device(void)
{
	void (*made)(void *) = NULL;

	cuInit(0);
	*(void **)&made = dlsym(dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD), "fake_cupti_context");
	if (made)
		made((void *)0x2000);
}

/* Two processes of one device; the first one that samples it ends early, in this way. */
static void share(int ms, int killed)
{
	pid_t first = fork(), second;

	if (!first) {
		work(killed ? 100 * ms : ms);
		_exit(0);
	}
	usleep(300000);
	second = fork();
	if (!second) {
		work(3 * ms);
		_exit(0);
	}
	if (killed) {
		usleep((unsigned)ms * 1000);
		kill(first, SIGKILL);
	}
	waitpid(first, NULL, 0);
	waitpid(second, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int ms = argc > 2 ? atoi(argv[2]) : 300;

	if (!strcmp(how, "two devices"))
		second_device();
	if (!strncmp(how, "share", 5)) {
		share(ms, !strcmp(how, "share and kill"));
		return 7;
	}
	work(ms);
	if (!strcmp(how, "fork") && !fork()) {
		usleep(300000);
		_exit(0);
	}
	if (!strcmp(how, "fork"))
		wait(NULL);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/proc/self/exe", argv[0], "after", argv[2], (char *)NULL);
	return 7;
}
